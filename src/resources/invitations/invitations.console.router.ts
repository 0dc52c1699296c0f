import { z } from 'zod';
import { ProblemError } from '../../errors.ts';
import { publicProcedure, sessionProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { presentTeamOfMembership, teamOutput } from '../teams/teams.schema.ts';
import { acceptByToken } from './acceptance.service.ts';
import { declineInvitation, listOpenInvitations, readInvitation } from './invitations.queries.ts';
import {
  createdInvitationOutput,
  createTeamInvitationBody,
  linkedInvitationOutput,
  linkToken,
  openInvitationOutput,
  presentInvitation,
} from './invitations.schema.ts';
import { inviteWithLink, resendInvitation } from './invitations.service.ts';

function requireLink<Found>(found: Found | null | false): Found {
  if (found === null || found === false) throw new ProblemError('link_invalid');
  return found;
}

/** Procedures of the pages for an invitation and for a team's invitations that REST does not have. */
export const invitationsConsoleRouter = router({
  read: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(linkedInvitationOutput)
    .query(({ ctx, input }) =>
      findLink(ctx.browserClient, readInvitation(ctx.services.db, input.token).then(requireLink)),
    ),

  accept: sessionProcedure
    .input(z.object({ token: linkToken }))
    .output(teamOutput)
    .mutation(async ({ ctx, input }) =>
      presentTeamOfMembership(
        await findLink(ctx.browserClient, acceptByToken(ctx.services, ctx.principal, input.token)),
      ),
    ),

  decline: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await findLink(ctx.browserClient, declineInvitation(ctx.services.db, input.token).then(requireLink));
      return SUCCESS;
    }),

  list: teamProcedure({ scope: 'members:read', permission: 'invite_members' })
    .output(z.array(openInvitationOutput))
    .query(({ ctx, input }) => listOpenInvitations(ctx.services.db, input.teamId)),

  create: teamProcedure({ scope: 'invites:write', permission: 'invite_members', input: createTeamInvitationBody })
    .output(createdInvitationOutput)
    .mutation(async ({ ctx, input }) => {
      const { invitation, link } = await inviteWithLink(ctx.services, ctx.caller, input);
      return { invitation: presentInvitation(invitation), link };
    }),

  resend: teamProcedure({ scope: 'invites:write', permission: 'invite_members', input: { invitationId: resourceId } })
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await resendInvitation(ctx.services, ctx.caller, input.invitationId);
      return SUCCESS;
    }),
});
