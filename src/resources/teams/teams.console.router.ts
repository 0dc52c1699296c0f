import { z } from 'zod';
import { ProblemError } from '../../problems/error.ts';
import { listEffectivePermissions } from '../../auth/permissions.ts';
import type { Scope } from '../../entities/index.ts';
import { sessionOrAppProcedure, sessionProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { heldPermissionName, resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { accountIdOf, memberId } from '../members/member-id.ts';
import { router } from '../../procedures/trpc.ts';
import { readOverview, readSeats } from '../billing/seats.ts';
import { deleteTeam, leaveTeam } from './leave-and-delete.service.ts';
import { acceptOwnership, declineOwnership, offerOwnership, withdrawOwnershipOffer } from './ownership.service.ts';
import { listNotices } from './notices.queries.ts';
import { countMembers } from './sizes.queries.ts';
import { findMembershipBySlug, findOwnershipOffer, listOwnershipOffers } from './teams.queries.ts';
import { updateTeamDetails } from './teams.service.ts';
import {
  noticeOutput,
  offeredTeamOutput,
  overviewOutput,
  ownershipOfferOutput,
  presentTeam,
  presentTeamOfMembership,
  seatsOutput,
  sizeOutput,
  teamOutput,
  updateTeamDetailsInput,
} from './teams.schema.ts';

/** Requires an active member of `teamId`. @throws team_not_found for everyone else */
const memberOf = (session: typeof sessionProcedure) =>
  session.input(z.object({ teamId: resourceId })).use(async ({ ctx, input, next }) => {
    const membership = await ctx.findMembership(input.teamId);
    if (membership === null) throw new ProblemError('team_not_found');
    const caller = { teamId: input.teamId, accountId: membership.accountId, credential: ctx.principal };
    return next({ ctx: { membership, caller } });
  });

const memberProcedure = (scope: Scope) => memberOf(sessionOrAppProcedure(scope));

/** Procedures of the team pages that REST does not have. */
export const teamsConsoleRouter = router({
  updateDetails: teamProcedure({
    scope: 'teams:write',
    permission: 'edit_team_settings',
    input: updateTeamDetailsInput,
  })
    .meta({ effect: 'none' })
    .output(teamOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, membership, caller } = ctx;
      const details = await updateTeamDetails(services.db, caller, caller.teamId, input);
      return presentTeam({ ...membership, team: { ...membership.team, ...details } });
    }),

  /** Opens a page of the team whose slug is in its URL. */
  bySlug: sessionOrAppProcedure('teams:read')
    .input(z.object({ slug: resourceId }))
    .output(z.object({ team: teamOutput, permissions: z.array(heldPermissionName) }))
    .query(async ({ ctx: { services, principal }, input }) => {
      const membership = await findMembershipBySlug(services.db, principal.accountId, input.slug);
      if (membership === null) throw new ProblemError('team_not_found');
      return {
        team: presentTeam(membership),
        permissions: listEffectivePermissions(membership, principal),
      };
    }),

  permissions: memberProcedure('teams:read')
    .output(z.array(heldPermissionName))
    .query(({ ctx: { membership, principal } }) => listEffectivePermissions(membership, principal)),

  seats: memberProcedure('billing:read')
    .output(seatsOutput)
    .query(({ ctx: { services }, input }) => readSeats(services.db, services.config.plans, input.teamId)),

  overview: memberOf(sessionProcedure)
    .output(overviewOutput)
    .query(({ ctx: { services, membership } }) => readOverview(services.db, services.config.plans, membership)),

  leave: memberProcedure('teams:write')
    .meta({ effect: 'none' })
    .output(success)
    .mutation(async ({ ctx: { services, caller } }) => {
      await leaveTeam(services.db, caller);
      return SUCCESS;
    }),

  delete: memberProcedure('teams:write')
    .meta({ effect: 'weakens' })
    .output(success)
    .mutation(async ({ ctx: { services, caller } }) => {
      await deleteTeam(services.db, caller, caller.teamId);
      return SUCCESS;
    }),

  offerOwnership: memberProcedure('teams:write')
    .meta({ effect: 'weakens' })
    .input(z.object(memberId))
    .output(success)
    .mutation(async ({ ctx: { services, caller }, input }) => {
      await offerOwnership(services.db, caller, accountIdOf(input));
      return SUCCESS;
    }),

  withdrawOwnershipOffer: memberProcedure('teams:write')
    .meta({ effect: 'none' })
    .output(success)
    .mutation(async ({ ctx: { services, caller } }) => {
      await withdrawOwnershipOffer(services.db, caller);
      return SUCCESS;
    }),

  ownershipOffer: memberProcedure('teams:read')
    .output(ownershipOfferOutput.nullable())
    .query(({ ctx }) => findOwnershipOffer(ctx.services.db, ctx.membership)),

  notices: sessionProcedure
    .output(z.array(noticeOutput))
    .query(({ ctx: { services, principal } }) => listNotices(services.db, services.config.plans, principal.accountId)),

  /** The sizes of the user's first teams. */
  sizes: sessionOrAppProcedure('teams:read')
    .output(z.array(sizeOutput))
    .query(({ ctx: { services, principal } }) => countMembers(services.db, principal.accountId)),

  ownershipOffers: sessionOrAppProcedure('teams:read')
    .output(z.array(offeredTeamOutput))
    .query(({ ctx }) => listOwnershipOffers(ctx.services.db, ctx.principal.accountId)),

  acceptOwnership: memberProcedure('teams:write')
    .meta({ effect: 'weakens' })
    .output(teamOutput)
    .mutation(async ({ ctx: { services, caller } }) =>
      presentTeamOfMembership(await acceptOwnership(services.db, caller, services.config.teamLimit)),
    ),

  declineOwnership: memberProcedure('teams:write')
    .meta({ effect: 'none' })
    .output(success)
    .mutation(async ({ ctx: { services, caller } }) => {
      await declineOwnership(services.db, caller);
      return SUCCESS;
    }),
});
