import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { People } from '../../../components/icon.tsx';
import { DataTable } from '../../../components/table/data-table.tsx';
import { ROW_DIALOG, useRowDialogs } from '../../../components/table/row-dialogs.ts';
import { keepWhileSent } from '../../../kept.ts';
import { me } from '../../../session.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { memberBulkActions } from './bulk.ts';
import { ChangeRole, CHOSEN_ROLE } from './change-role.tsx';
import { useMemberChanges, type RowChange } from './changes.ts';
import { memberColumns } from './columns.tsx';
import { Expiry } from './expiry.tsx';
import { RowActions } from './row-actions.tsx';
import { getMemberName, type Action, type Member } from './member.ts';
import { Offer } from './offer.tsx';
import { Removal } from './removal.tsx';

const rowId = ({ accountId }: Member): string => accountId;

/** The members and the dialogs of their rows. */
export function TeamMembers({ members }: { readonly members: readonly Member[] }) {
  const page = useTeam();
  const { data: person } = useQuery(me());
  const { change, saving, refusal, forget } = useMemberChanges();
  const refresh = useTeamRefresh();
  const { asked, ask, close } = useRowDialogs<Member, Action>(rowId);

  const act = (action: Action, member: Member) => {
    const name = getMemberName(member);
    if (action === 'deactivate') void change({ member, to: { isActive: false }, notice: words.deactivated(name) });
    else if (action === 'activate') void change({ member, to: { isActive: true }, notice: words.activated(name) });
    else if (action === 'endless') void change({ member, to: { expiresAt: null }, notice: words.expiryRemoved(name) });
    else ask(action, member);
  };
  const changeRole = (given: RowChange) => {
    // The dialog is closed by now, and has to open again if the proof leads through another page.
    const asking = {
      [ROW_DIALOG]: { kind: 'role', row: given.member },
      [CHOSEN_ROLE]: 'roleId' in given.to ? given.to.roleId : undefined,
    };
    return change(given).finally(keepWhileSent(asking));
  };
  const columns = useMemo(() => memberColumns(page.roles), [page.roles]);
  const bulk = person === undefined ? [] : memberBulkActions(page, person.id);
  const dialog = asked && { member: asked.row, onClose: close };
  return (
    <>
      {refusal !== undefined && (
        <div className="data-refusal">
          <FailureAlert failure={refusal.failure} onClose={forget}>
            <Text size="sm">{words.undone(getMemberName(refusal.member))}</Text>
          </FailureAlert>
        </div>
      )}
      <DataTable
        name={words.title}
        rows={members}
        columns={columns}
        rowId={rowId}
        rowName={getMemberName}
        texts={words.table}
        icon={<People />}
        isBusy={({ accountId }) => saving.has(accountId)}
        actions={(member) => (
          <RowActions member={member} readerId={person?.id} isSaving={saving.has(member.accountId)} onAction={act} />
        )}
        bulk={bulk}
        onBulkEnd={() => void refresh()}
      />
      {dialog && asked.kind === 'role' && <ChangeRole {...dialog} onChange={(given) => void changeRole(given)} />}
      {dialog && asked.kind === 'expiry' && <Expiry {...dialog} />}
      {dialog && asked.kind === 'offer' && <Offer {...dialog} />}
      {dialog && asked.kind === 'remove' && <Removal {...dialog} />}
    </>
  );
}
