import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { TextLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { useRowDialogs } from '../../components/table/row-dialogs.ts';
import { RowMenu } from '../../components/row-menu.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { ListTable } from './list.tsx';
import { memberBulkActions, memberColumns } from './member-columns.tsx';
import { AddMember, ChangeMember, type Member } from './member-dialogs.tsx';
import { Operators, VIEW } from './operators.tsx';
import { useKept } from '../../kept.ts';

const words = areaTexts.members;
const route = getRouteApi('/console/operator/teams/$teamId/members');

const rowId = ({ accountId }: Member): string => accountId;

export function OperatorMembersPage() {
  const { teamId } = route.useParams();
  return (
    <Operators>
      <div className="operator-back">
        <TextLink to="/operator/teams/$teamId" params={{ teamId }} preload={false}>
          {words.back}
        </TextLink>
      </div>
      <Members teamId={teamId} />
    </Operators>
  );
}

/** The members of a team, whatever their status. */
function Members({ teamId }: { readonly teamId: string }) {
  const { cursor } = route.useSearch();
  const notify = useNotice();
  const [adding, setAdding] = useKept('adding', false);
  const { asked, ask, close } = useRowDialogs<Member, 'change' | 'remove'>(rowId);
  const page = useQuery({
    ...query('operator.members', { teamId, ...(cursor !== undefined && { cursor }) }),
    ...VIEW,
  });
  const { data, refetch: reread } = page;
  const columns = useMemo(() => memberColumns(data?.members ?? []), [data]);
  const bulk = useMemo(() => memberBulkActions(teamId), [teamId]);
  const name = asked && getAccountName(asked.row);
  return (
    <Page
      isWide
      title={words.title}
      explanation={words.explanation}
      action={data && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
    >
      <ListTable
        label={words.title}
        page={page}
        items={({ members }) => members}
        columns={columns}
        rowId={rowId}
        rowName={getAccountName}
        bulk={bulk}
        actions={(member) => member.role.id !== 'owner' && <Actions member={member} onAction={ask} />}
        empty={{ title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }}
        cursor={cursor}
        next={data?.nextCursor}
      />
      {adding && <AddMember teamId={teamId} reread={reread} onClose={() => setAdding(false)} />}
      {asked?.kind === 'change' && <ChangeMember teamId={teamId} member={asked.row} reread={reread} onClose={close} />}
      {asked?.kind === 'remove' && name !== undefined && (
        <Confirmation
          title={words.removeTitle(name)}
          explanation={words.removeExplanation}
          submit={words.remove}
          call={() => trpc.operator.removeMember.mutate({ teamId, accountId: asked.row.accountId })}
          onSuccess={() => {
            close();
            notify(words.removed(name));
            void reread();
          }}
          onError={() => void reread()}
          onClose={close}
        />
      )}
    </Page>
  );
}

type ActionsProps = {
  readonly member: Member;
  readonly onAction: (kind: 'change' | 'remove', member: Member) => void;
};

const Actions = ({ member, onAction }: ActionsProps) => (
  <RowMenu name={getAccountName(member)} id={member.accountId}>
    <Menu.Item onClick={() => onAction('change', member)}>{words.change}</Menu.Item>
    <Menu.Item className="data-danger" onClick={() => onAction('remove', member)}>
      {words.remove}
    </Menu.Item>
  </RowMenu>
);
