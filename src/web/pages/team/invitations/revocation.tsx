import { useRevokeInvitation } from '#client/react';
import { Confirmation } from '../../../components/confirmation.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { useTeam } from '../team.ts';
import type { Invitation } from './invitation.ts';

type RevocationProps = { readonly invitation: Invitation; readonly onClose: () => void };

/** Revokes after confirmation. The row is removed once the service has confirmed it. */
export function Revocation({ invitation: { id, email }, onClose }: RevocationProps) {
  const { team } = useTeam();
  const notify = useNotice();
  const revoke = useRevokeInvitation(team.id);

  return (
    <Confirmation
      title={words.revokeTitle}
      explanation={words.revokeExplanation(email)}
      submit={words.revoke}
      call={() => revoke.mutateAsync({ invitationId: id })}
      onSuccess={() => {
        onClose();
        notify(words.revoked);
      }}
      onClose={onClose}
    />
  );
}
