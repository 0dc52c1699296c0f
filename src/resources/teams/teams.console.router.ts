import { z } from 'zod';
import { ProblemError } from '../../errors.ts';
import { sessionProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { permissionName, requireReadableNames, resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';
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

/** Requires a session of an active member of `teamId`. @throws team_not_found for everyone else */
const memberProcedure = sessionProcedure.input(z.object({ teamId: resourceId })).use(async ({ ctx, input, next }) => {
  const membership = await ctx.findMembership(input.teamId);
  if (membership === null) throw new ProblemError('team_not_found');
  const caller = { teamId: input.teamId, accountId: membership.accountId, credential: ctx.principal };
  return next({ ctx: { membership, caller } });
});

/** Procedures of the team pages that REST does not have. */
export const teamsConsoleRouter = router({
  updateDetails: teamProcedure({
    scope: 'teams:write',
    permission: 'edit_team_settings',
    input: updateTeamDetailsInput,
  })
    .output(teamOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, membership, caller } = ctx;
      if (input.name !== undefined) requireReadableNames(ctx, { name: input.name });
      const details = await updateTeamDetails(services.db, caller, input);
      return presentTeam({ ...membership, team: { ...membership.team, ...details } });
    }),

  /** Opens a page of the team whose slug is in its URL. */
  bySlug: sessionProcedure
    .input(z.object({ slug: resourceId }))
    .output(z.object({ team: teamOutput, permissions: z.array(permissionName) }))
    .query(async ({ ctx: { services, principal }, input }) => {
      const membership = await findMembershipBySlug(services.db, principal.accountId, input.slug);
      if (membership === null) throw new ProblemError('team_not_found');
      return { team: presentTeam(membership), permissions: [...membership.permissions] };
    }),

  permissions: memberProcedure
    .output(z.array(permissionName))
    .query(({ ctx: { membership } }) => [...membership.permissions]),

  seats: memberProcedure
    .output(seatsOutput)
    .query(({ ctx: { services }, input }) => readSeats(services.db, services.config.plans, input.teamId)),

  overview: memberProcedure
    .output(overviewOutput)
    .query(({ ctx: { services, membership } }) => readOverview(services.db, services.config.plans, membership)),

  leave: memberProcedure.output(success).mutation(async ({ ctx: { services, caller } }) => {
    await leaveTeam(services, caller);
    return SUCCESS;
  }),

  delete: memberProcedure.output(success).mutation(async ({ ctx: { services, principal, caller } }) => {
    await requireRecentProof(services.db, principal);
    await deleteTeam(services, caller);
    return SUCCESS;
  }),

  offerOwnership: memberProcedure
    .input(z.object({ userId: resourceId }))
    .output(success)
    .mutation(async ({ ctx: { services, principal, caller }, input }) => {
      await requireRecentProof(services.db, principal);
      await offerOwnership(services.db, caller, input.userId);
      return SUCCESS;
    }),

  withdrawOwnershipOffer: memberProcedure.output(success).mutation(async ({ ctx: { services, caller } }) => {
    await withdrawOwnershipOffer(services.db, caller);
    return SUCCESS;
  }),

  ownershipOffer: memberProcedure
    .output(ownershipOfferOutput.nullable())
    .query(({ ctx }) => findOwnershipOffer(ctx.services.db, ctx.membership)),

  notices: sessionProcedure
    .output(z.array(noticeOutput))
    .query(({ ctx: { services, principal } }) => listNotices(services.db, services.config.plans, principal.accountId)),

  /** The sizes of the user's first teams. */
  sizes: sessionProcedure
    .output(z.array(sizeOutput))
    .query(({ ctx: { services, principal } }) => countMembers(services.db, principal.accountId)),

  ownershipOffers: sessionProcedure
    .output(z.array(offeredTeamOutput))
    .query(({ ctx }) => listOwnershipOffers(ctx.services.db, ctx.principal.accountId)),

  acceptOwnership: memberProcedure
    .output(teamOutput)
    .mutation(async ({ ctx: { services, caller } }) =>
      presentTeamOfMembership(await acceptOwnership(services.db, caller, services.config.teamLimit)),
    ),

  declineOwnership: memberProcedure.output(success).mutation(async ({ ctx: { services, caller } }) => {
    await declineOwnership(services.db, caller);
    return SUCCESS;
  }),
});
