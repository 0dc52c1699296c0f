import { z } from 'zod';
import { ProblemError } from '../../problems/error.ts';
import { asItems } from '../../procedures/lists.ts';
import {
  publicOrAppProcedure,
  READ_BY_TOKEN,
  sessionOrAppProcedure,
  teamProcedure,
} from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { findContinuation } from '../oauth-consent/continuation.ts';
import { presentTeamOfMembership } from '../teams/teams.schema.ts';
import { acceptByToken } from './acceptance.service.ts';
import { declineInvitation } from './decline.service.ts';
import { listOpenInvitations, readInvitation } from './invitations.queries.ts';
import {
  acceptedInvitationOutput,
  createdInvitationOutput,
  invitationInput,
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
  read: publicOrAppProcedure
    .meta(READ_BY_TOKEN)
    .input(z.object({ token: linkToken }))
    .output(linkedInvitationOutput)
    .mutation(async ({ ctx: { services, browserClient, authentication }, input }) => {
      const accountId = authentication.principal?.accountId ?? null;
      const found = readInvitation(services.db, input.token, accountId).then(requireLink);
      const { invitation, clientId } = await findLink(browserClient, found);
      const next = await findContinuation(services, clientId, browserClient);
      return { ...invitation, ...(next && { application: next.name }) };
    }),

  accept: sessionOrAppProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(z.object({ token: linkToken }))
    .output(acceptedInvitationOutput)
    .mutation(async ({ ctx: { services, browserClient, principal }, input }) => {
      const accepted = acceptByToken(services, principal, input.token);
      const { membership, clientId } = await findLink(browserClient, accepted);
      const continueTo = await findContinuation(services, clientId, browserClient, principal.accountId);
      return { ...presentTeamOfMembership(membership), ...(continueTo && { continueTo }) };
    }),

  decline: publicOrAppProcedure
    .meta({ effect: 'none' })
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await findLink(ctx.browserClient, declineInvitation(ctx.services.db, input.token).then(requireLink));
      return SUCCESS;
    }),

  list: teamProcedure({ scope: 'members:read', permission: 'invite_members' })
    .output(z.array(openInvitationOutput))
    .query(({ ctx, input }) => asItems(listOpenInvitations(ctx.services.db, input.teamId))),

  create: teamProcedure({ scope: 'invites:write', permission: 'invite_members', input: invitationInput })
    .meta({ effect: 'widens if the role is privileged' })
    .output(createdInvitationOutput)
    .mutation(async ({ ctx, input }) => {
      const { invitation, link } = await inviteWithLink(ctx.services, ctx.caller, input);
      return { invitation: presentInvitation(invitation), link };
    }),

  resend: teamProcedure({ scope: 'invites:write', permission: 'invite_members', input: { invitationId: resourceId } })
    .meta({ effect: 'widens if the role is privileged' })
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await resendInvitation(ctx.services, ctx.caller, input.invitationId);
      return SUCCESS;
    }),
});
