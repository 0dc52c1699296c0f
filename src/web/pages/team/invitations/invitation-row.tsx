import { Badge, Group, Text } from '@mantine/core';
import { RowButton } from '../../../components/row-button.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { useDates } from '../../../components/dates.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { toFailure, query, trpc, type Outputs } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { useSubmission } from '../../../components/submission.ts';
import { getRoleLabel } from '../../../components/role-label.ts';

export type Invitation = Outputs['invitations']['list'][number];

type InvitationRowProps = {
  readonly invitation: Invitation;
  readonly onAgain: (invitation: Invitation) => void;
  readonly onRevoke: (invitation: Invitation) => void;
};

export function InvitationRow({ invitation, onAgain, onRevoke }: InvitationRowProps) {
  const { id, email, roleId, roleName, sentAt, expiresAt, isExpired, emailFailure } = invitation;
  const { team } = useTeam();
  const { day, minute } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const resend = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.invitations.resend.mutate({ teamId: team.id, invitationId: id }),
    onSuccess: () => notify(words.resent(email)),
    onSettled: () => queries.invalidateQueries(query('invitations.list', { teamId: team.id })),
  });
  return (
    <li className="row row-high">
      <div className="row-head">
        <div className="row-text">
          <Text fw={600} className="wrap">
            {email}
          </Text>
          <Text size="sm" c="dimmed" className="wrap">
            {roleName === null ? roleId : getRoleLabel(roleName)}
          </Text>
          <Text size="sm" c="dimmed">
            {words.sent(day(sentAt))}, {isExpired ? words.expiredOn(minute(expiresAt)) : words.until(minute(expiresAt))}
          </Text>
          {emailFailure !== null && (
            <Text size="sm" c="red">
              {words.emailFailures[emailFailure]}
            </Text>
          )}
        </div>
        <Group gap={4}>
          {isExpired ? (
            <>
              <Badge variant="light" color="gray" tt="none">
                {words.expired}
              </Badge>
              <RowButton onClick={() => onAgain(invitation)} aria-label={words.againOf(email)}>
                {words.again}
              </RowButton>
            </>
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
      </div>
      {resend.error !== null && <FailureAlert failure={toFailure(resend.error)} />}
    </li>
  );
}
