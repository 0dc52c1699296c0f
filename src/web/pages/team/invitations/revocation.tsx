import { useQueryClient } from '@tanstack/react-query';
import { Confirmation } from '../../../components/confirmation.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { trpc } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { invitationsQuery, type Invitation } from './invitation.ts';

type RevocationProps = { readonly invitation: Invitation; readonly onClose: () => void };

/** Revokes after confirmation. The row is removed once the service has confirmed it. */
export function Revocation({ invitation: { id, email }, onClose }: RevocationProps) {
  const { team } = useTeam();
  const queries = useQueryClient();
  const notify = useNotice();
  const list = invitationsQuery(team.id);

  return (
    <Confirmation
      title={words.revokeTitle}
      explanation={words.revokeExplanation(email)}
      submit={words.revoke}
      call={() => trpc.revokeTeamInvitation.mutate({ teamId: team.id, invitationId: id })}
      onError={() => void queries.invalidateQueries(list)}
      onSuccess={() => {
        queries.setQueryData(list.queryKey, (rows) => rows?.filter((row) => row.id !== id));
        void queries.invalidateQueries(list);
        onClose();
        notify(words.revoked);
      }}
      onClose={onClose}
    />
  );
}
