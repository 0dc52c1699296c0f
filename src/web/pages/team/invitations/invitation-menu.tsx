import { Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSubmission } from '../../../components/submission.ts';
import { useNotice } from '../../../components/notices.tsx';
import { RowMenu } from '../../../components/row-menu.tsx';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { invitationsQuery } from '../../../page-queries.ts';
import { toFailure, trpc, type Failure } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import type { Invitation } from './invitation.ts';

type InvitationMenuProps = {
  readonly invitation: Invitation;
  readonly onAgain: () => void;
  readonly onRevoke: () => void;
  /** Called when a resend begins, without a failure, and when it fails. */
  readonly onResend: (failure?: Failure) => void;
};

/** What the user can do with an invitation: an expired one is made again. */
export function InvitationMenu({ invitation, onAgain, onRevoke, onResend }: InvitationMenuProps) {
  const { id, email, isExpired } = invitation;
  const { team } = useTeam();
  const queries = useQueryClient();
  const notify = useNotice();
  const resend = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.invitations.resend.mutate({ teamId: team.id, invitationId: id }),
    onMutate: () => onResend(),
    onSuccess: () => notify(words.resent(email)),
    onError: (error) => onResend(toFailure(error)),
    onSettled: () => queries.invalidateQueries(invitationsQuery(team.id)),
  });
  return (
    <RowMenu name={email} id={id} isBusy={resend.isPending}>
      {isExpired ? (
        <Menu.Item onClick={onAgain} aria-label={words.againOf(email)}>
          {words.again}
        </Menu.Item>
      ) : (
        <>
          <Menu.Item disabled={resend.isPending} onClick={() => resend.submit()} aria-label={words.resendOf(email)}>
            {words.resend}
          </Menu.Item>
          <Menu.Item className="data-danger" onClick={onRevoke} aria-label={words.revokeOf(email)}>
            {words.revoke}
          </Menu.Item>
        </>
      )}
    </RowMenu>
  );
}
