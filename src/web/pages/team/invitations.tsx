import { Button, EmptyState } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useCommandedDialog } from '../../components/commanded-dialog.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Envelope } from '../../components/icons.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { useRowDialogs } from '../../components/table/row-dialogs.ts';
import { invitationsQuery } from '../../page-queries.ts';
import { invitationsTexts as words } from '../../messages/invitations.ts';
import { toFailure, type Failure } from '../../trpc.ts';
import { invitationBulkActions } from './invitations/bulk.ts';
import { invitationColumns } from './invitations/columns.tsx';
import { InvitationMenu } from './invitations/invitation-menu.tsx';
import type { Invitation } from './invitations/invitation.ts';
import { InviteDialog } from './invitations/invite-dialog.tsx';
import { Revocation } from './invitations/revocation.tsx';
import { useTeamRefresh } from './refresh.ts';
import { useTeam } from './team.ts';
import { useKept } from '../../kept.ts';

const rowId = ({ id }: Invitation): string => id;
const rowName = ({ email }: Invitation): string => email;

/** The pending invitations, with the dialog to invite people. */
export function InvitationsPage() {
  const { team, roles } = useTeam();
  const refresh = useTeamRefresh();
  const invitations = useQuery(invitationsQuery(team.id));
  const [isInviting, setInviting] = useKept('inviting', false);
  const [refusal, setRefusal] = useState<Failure>();
  const { asked, ask, close } = useRowDialogs<Invitation, 'again' | 'revoke'>(rowId);
  useCommandedDialog('invite', () => setInviting(true));
  const list = invitations.data;
  const columns = useMemo(() => invitationColumns(roles), [roles]);
  const invite = <Button onClick={() => setInviting(true)}>{words.invite}</Button>;
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
      {invitations.isPending && <Placeholder rows={3} height={60} />}
      {refusal !== undefined && (
        <div className="data-refusal">
          <FailureAlert failure={refusal} onClose={() => setRefusal(undefined)} />
        </div>
      )}
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
          actions={(invitation) => (
            <InvitationMenu
              invitation={invitation}
              onAgain={() => ask('again', invitation)}
              onRevoke={() => ask('revoke', invitation)}
              onResend={setRefusal}
            />
          )}
          bulk={invitationBulkActions(team.id)}
          onBulkEnd={() => void refresh()}
        />
      )}
      {isInviting && <InviteDialog email="" onClose={() => setInviting(false)} />}
      {asked?.kind === 'again' && <InviteDialog {...asked.row} onClose={close} />}
      {asked?.kind === 'revoke' && <Revocation invitation={asked.row} onClose={close} />}
    </Page>
  );
}
