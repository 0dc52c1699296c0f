import { Alert, Button, EmptyState } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useCommandedDialog } from '../../components/commanded-dialog.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Envelope } from '../../components/icons.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { invitationsTexts as words } from '../../messages/invitations.ts';
import { toFailure } from '../../trpc.ts';
import { invitationBulkActions } from './invitations/bulk.ts';
import { invitationColumns } from './invitations/columns.tsx';
import { invitationsQuery, type Invitation } from './invitations/invitation.ts';
import { InviteDialog } from './invitations/invite-dialog.tsx';
import { Revocation } from './invitations/revocation.tsx';
import { useTeamRefresh } from './refresh.ts';
import { useTeam } from './team.ts';
import './invitations.css';
import { SEPARATOR } from '../../messages/language.ts';

export function InvitationsPage() {
  const team = useTeam();
  return team.can('invite_members') ? <Invitations /> : <Refused />;
}

function Refused() {
  const inviting = useTeam().roles.filter(({ permissions }) => permissions.includes('invite_members'));
  return (
    <Page title={words.title}>
      <Alert color="gray" title={words.notAllowedTitle}>
        {words.notAllowed(inviting.map(({ name, roleId }) => name ?? roleId).join(SEPARATOR))}
      </Alert>
    </Page>
  );
}

type Open = { readonly inviting: { email: string; roleId?: string } } | { readonly revoking: Invitation };

const rowId = ({ id }: Invitation): string => id;
const rowName = ({ email }: Invitation): string => email;

/** The pending invitations, with the dialog to invite people. */
function Invitations() {
  const { team, roles } = useTeam();
  const refresh = useTeamRefresh();
  const invitations = useQuery(invitationsQuery(team.id));
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  useCommandedDialog('invite', () => setOpen({ inviting: { email: '' } }));
  const list = invitations.data;
  const columns = useMemo(
    () =>
      invitationColumns(roles, {
        onAgain: ({ email, roleId }) => setOpen({ inviting: { email, roleId } }),
        onRevoke: (revoking) => setOpen({ revoking }),
      }),
    [roles],
  );
  const invite = <Button onClick={() => setOpen({ inviting: { email: '' } })}>{words.invite}</Button>;
  return (
    <Page
      isWide
      title={words.title}
      explanation={words.explanation}
      action={list !== undefined && list.length > 0 && invite}
    >
      {invitations.error !== null && (
        <FailureAlert failure={toFailure(invitations.error)} retry={() => void invitations.refetch()} />
      )}
      {invitations.isPending && <Placeholder rows={3} height={72} />}
      {list !== undefined && (
        <DataTable
          name={words.title}
          rows={list}
          columns={columns}
          rowId={rowId}
          rowName={rowName}
          texts={words.table}
          icon={<Envelope />}
          empty={
            <EmptyState variant="light" icon={<Envelope />} title={words.emptyTitle} description={words.empty}>
              <EmptyState.Actions>{invite}</EmptyState.Actions>
            </EmptyState>
          }
          bulk={invitationBulkActions(team.id)}
          onBulkEnd={() => void refresh()}
        />
      )}
      {open !== undefined && 'inviting' in open && <InviteDialog {...open.inviting} onClose={close} />}
      {open !== undefined && 'revoking' in open && <Revocation invitation={open.revoking} onClose={close} />}
    </Page>
  );
}
