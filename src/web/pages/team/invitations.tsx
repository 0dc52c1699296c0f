import { Alert, Button, EmptyState, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Envelope } from '../../components/icons.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { invitationsTexts as words } from '../../messages/invitations.ts';
import { toFailure, query } from '../../trpc.ts';
import { InvitationRow, type Invitation } from './invitations/invitation-row.tsx';
import { InviteDialog } from './invitations/invite-dialog.tsx';
import { Revocation } from './invitations/revocation.tsx';
import { useTeam } from './team.ts';
import './invitations.css';

export function InvitationsPage() {
  const team = useTeam();
  return team.can('invite_members') ? <Invitations /> : <Refused />;
}

function Refused() {
  const inviting = useTeam().roles.filter(({ permissions }) => permissions.includes('invite_members'));
  return (
    <Page title={words.title}>
      <Alert color="gray" title={words.notAllowedTitle}>
        {words.notAllowed(inviting.map(({ name, roleId }) => name ?? roleId).join(', '))}
      </Alert>
    </Page>
  );
}

type Open = { readonly inviting: { email: string; roleId?: string } } | { readonly revoking: Invitation };

/** The pending invitations, with the dialog to invite people. */
function Invitations() {
  const { team } = useTeam();
  const invitations = useQuery(query('invitations.list', { teamId: team.id }));
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const list = invitations.data;
  const invite = <Button onClick={() => setOpen({ inviting: { email: '' } })}>{words.invite}</Button>;
  return (
    <Page title={words.title} explanation={words.explanation} action={list !== undefined && list.length > 0 && invite}>
      {invitations.error !== null && (
        <FailureAlert failure={toFailure(invitations.error)} retry={() => void invitations.refetch()} />
      )}
      {invitations.isPending && <Placeholder rows={3} height={72} />}
      {list?.length === 0 && (
        <Paper withBorder radius="lg" className="empty">
          <EmptyState variant="light" icon={<Envelope />} title={words.emptyTitle} description={words.empty}>
            <EmptyState.Actions>{invite}</EmptyState.Actions>
          </EmptyState>
        </Paper>
      )}
      {list !== undefined && list.length > 0 && (
        <Paper component="ul" withBorder radius="lg" className="card-list">
          {list.map((invitation) => (
            <InvitationRow
              key={invitation.id}
              invitation={invitation}
              onAgain={({ email, roleId }) => setOpen({ inviting: { email, roleId } })}
              onRevoke={(revoking) => setOpen({ revoking })}
            />
          ))}
        </Paper>
      )}
      {open !== undefined && 'inviting' in open && <InviteDialog {...open.inviting} onClose={close} />}
      {open !== undefined && 'revoking' in open && <Revocation invitation={open.revoking} onClose={close} />}
    </Page>
  );
}
