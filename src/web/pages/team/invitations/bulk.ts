import type { BulkAction } from '../../../components/table/bulk/bulk-action.ts';
import { invitationsTexts } from '../../../messages/invitations.ts';
import { trpc } from '../../../trpc.ts';
import type { Invitation } from './invitation.ts';

const words = invitationsTexts.bulk;

/** Returns the actions on several invitations of a team. */
export function invitationBulkActions(teamId: string): readonly BulkAction<Invitation>[] {
  const of = ({ id }: Invitation) => ({ teamId, invitationId: id });
  return [
    {
      id: 'resend',
      ...words.resend,
      applies: ({ isExpired }) => !isExpired,
      call: (invitation) => trpc.invitations.resend.mutate(of(invitation)),
    },
    {
      id: 'revoke',
      ...words.revoke,
      color: 'red',
      // An expired invitation uses no seat, and its link does not work.
      applies: ({ isExpired }) => !isExpired,
      call: (invitation) => trpc.revokeTeamInvitation.mutate(of(invitation)),
    },
  ];
}
