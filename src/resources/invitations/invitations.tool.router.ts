import { ProblemError } from '../../problems/error.ts';
import { resourceId } from '../../procedures/fields.ts';
import { plannedChange } from '../../procedures/planned-change.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { findPendingInvitation } from './invitations.queries.ts';

/** Describes changes of invitations before they are made, with the access and the input of the operation. */
export const invitationsToolRouter = router({
  revokeTeamInvitation: teamProcedure({
    scope: 'invites:write',
    permission: 'invite_members',
    input: { invitationId: resourceId },
  })
    .output(plannedChange)
    .query(async ({ ctx: { services, membership, principal }, input }) => {
      const invitation = await findPendingInvitation(services.db, input.teamId, input.invitationId);
      if (invitation === null) throw new ProblemError('invitation_not_found');
      const { id, email, roleId, roleName } = invitation;
      return {
        kind: 'invitation' as const,
        id,
        // As in listTeamInvitations.
        name: principal.scopes.includes('members:read') ? email : null,
        team: { id: membership.team.id, name: membership.team.name },
        before: { roleId, roleName },
        after: null,
        effects: ['The link that was sent stops working, and the seat is free.'],
      };
    }),
});
