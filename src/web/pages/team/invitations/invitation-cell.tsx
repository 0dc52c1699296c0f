import { Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { RowButton } from '../../../components/row-button.tsx';
import { useSubmission } from '../../../components/submission.ts';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { toFailure, trpc } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { invitationsQuery, type Invitation } from './invitation.ts';

export type InvitationActions = {
  readonly onAgain: (invitation: Invitation) => void;
  readonly onRevoke: (invitation: Invitation) => void;
};

/** The invited address, and the actions on the invitation. */
export function InvitationCell({
  invitation,
  onAgain,
  onRevoke,
}: InvitationActions & { readonly invitation: Invitation }) {
  const { id, email, isExpired } = invitation;
  const { team } = useTeam();
  const queries = useQueryClient();
  const notify = useNotice();
  const resend = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.invitations.resend.mutate({ teamId: team.id, invitationId: id }),
    onSuccess: () => notify(words.resent(email)),
    onSettled: () => queries.invalidateQueries(invitationsQuery(team.id)),
  });
  return (
    <>
      <Text fw={600} size="sm" className="wrap">
        <bdi>{email}</bdi>
      </Text>
      <Group gap={0} className="invitation-buttons">
        {isExpired ? (
          <RowButton onClick={() => onAgain(invitation)} aria-label={words.againOf(email)}>
            {words.again}
          </RowButton>
        ) : (
          <>
            <RowButton loading={resend.isPending} onClick={() => resend.submit()} aria-label={words.resendOf(email)}>
              {words.resend}
            </RowButton>
            <RowButton color="red" onClick={() => onRevoke(invitation)} aria-label={words.revokeOf(email)}>
              {words.revoke}
            </RowButton>
          </>
        )}
      </Group>
      {resend.error !== null && <FailureAlert failure={toFailure(resend.error)} />}
    </>
  );
}
