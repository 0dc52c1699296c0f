import { z } from 'zod';
import { addressAttemptLimit, consumeAttempt } from '../../rate-limit/attempts.ts';
import { ProblemError } from '../../errors.ts';
import { publicProcedure, sessionProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
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

const linkLimit = ({ attempts, addressBucket }: BrowserClient) => addressAttemptLimit(attempts, 'link', addressBucket);

/** Procedures of the pages for an invitation and for a team's invitations that REST does not have. */
export const invitationsConsoleRouter = router({
  read: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(linkedInvitationOutput)
    .query(async ({ ctx, input }) => {
      await consumeAttempt(linkLimit(ctx.browserClient));
      const found = await readInvitation(ctx.services.db, input.token);
      if (found === null) throw new ProblemError('link_invalid');
      return found;
    }),

  accept: sessionProcedure
    .input(z.object({ token: linkToken }))
    .output(teamOutput)
    .mutation(async ({ ctx, input }) => {
      await consumeAttempt(linkLimit(ctx.browserClient));
      return presentTeamOfMembership(await acceptByToken(ctx.services, ctx.principal, input.token));
    }),

  decline: publicProcedure
    .input(z.object({ token: linkToken }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await consumeAttempt(linkLimit(ctx.browserClient));
      const found = await declineInvitation(ctx.services.db, input.token);
      if (!found) throw new ProblemError('link_invalid');
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
