import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { listTeamInvitations } from './invitations.queries.ts';
import { createTeamInvitationBody, invitationOutput } from './invitations.schema.ts';
import { createTeamInvitation, revokeTeamInvitation } from './invitations.service.ts';

export const invitationsRouter = router({
  listTeamInvitations: teamProcedure({ scope: 'members:read' })
    .meta(
      endpoint('listTeamInvitations', 'GET /api/v1/teams/{teamId}/invitations', {
        summary: 'List the pending invitations of a team',
        description: 'A caller without `invite_members` gets an empty list.',
        returns: 'The invitations that are neither accepted nor expired, oldest first.',
      }),
    )
    .output(z.array(invitationOutput))
    .query(({ ctx, input }) =>
      // Specification, section 4.13: an empty list without the permission, not a 403.
      ctx.membership.permissions.includes('invite_members')
        ? asItems(listTeamInvitations(ctx.services.db, input.teamId))
        : [],
    ),

  createTeamInvitation: teamProcedure({
    scope: 'invites:write',
    permission: 'invite_members',
    input: createTeamInvitationBody,
  })
    .meta(
      endpoint('createTeamInvitation', 'POST /api/v1/teams/{teamId}/invitations', {
        summary: 'Invite an address to a team',
        description:
          'Takes a seat and sends an email. Inviting an address again renews its pending invitation. The answer never reveals whether the address has an account or is a member.',
        returns: 'The invitation was created or renewed.',
        effect: 'widens if the role is privileged',
        errors: ['seat_limit_reached', 'role_not_assignable'],
        status: 201,
      }),
    )
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await createTeamInvitation(ctx.services, ctx.caller, input);
      return SUCCESS;
    }),

  revokeTeamInvitation: teamProcedure({
    scope: 'invites:write',
    permission: 'invite_members',
    input: { invitationId: resourceId },
  })
    .meta(
      endpoint('revokeTeamInvitation', 'DELETE /api/v1/teams/{teamId}/invitations/{invitationId}', {
        summary: 'Revoke a pending invitation',
        description: 'Its link stops working and its seat is free again.',
        returns: 'The invitation is revoked.',
        effect: 'none',
        errors: ['invitation_not_found'],
      }),
    )
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeTeamInvitation(ctx.services.db, ctx.caller, input.invitationId);
      return SUCCESS;
    }),
});
