import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { List, Pager } from './list.tsx';
import { AddMember, ChangeMember, type Member } from './member-dialogs.tsx';
import { Operators, VIEW } from './operators.tsx';
import { getRoleLabel } from '../../components/role-label.ts';

const words = areaTexts.members;
const route = getRouteApi('/console/operator/teams/$teamId/members');

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

/** The members of a team, fifty per page. */
function Members({ teamId }: { readonly teamId: string }) {
  const { cursor } = route.useSearch();
  const [adding, setAdding] = useState(false);
  const page = useQuery({
    ...query('operator.listMembers', { teamId, ...(cursor !== undefined && { cursor }) }),
    ...VIEW,
  });
  return (
    <Page
      title={words.title}
      explanation={words.explanation}
      action={page.data && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
    >
      <List
        label={words.title}
        page={page}
        items={({ members }) => members}
        row={(member) => <MemberRow key={member.accountId} teamId={teamId} member={member} reread={page.refetch} />}
        empty={{ title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }}
      />
      <Pager cursor={cursor} next={page.data?.nextCursor} />
      {adding && <AddMember teamId={teamId} reread={page.refetch} onClose={() => setAdding(false)} />}
    </Page>
  );
}

type MemberRowProps = { readonly teamId: string; readonly member: Member; readonly reread: () => Promise<unknown> };

function MemberRow({ teamId, member, reread }: MemberRowProps) {
  const { day } = useDates();
  const notify = useNotice();
  const [dialog, setDialog] = useState<'change' | 'remove'>();
  const close = () => setDialog(undefined);
  const { accountId, role, isActive, joinedAt, expiresAt } = member;
  const name = getAccountName(member);
  const facts = [
    member.email === name ? null : member.email,
    joinedAt && words.joined(day(joinedAt)),
    expiresAt && words.ends(day(expiresAt)),
  ];
  return (
    <li className="row">
      <div className="row-text">
        <TextLink to="/operator/accounts/$accountId" params={{ accountId }} preload={false} fw={600} className="wrap">
          {name}
        </TextLink>
        <Text size="sm" c="dimmed" className="wrap">
          {facts.filter(Boolean).join(' · ')}
        </Text>
      </div>
      <Group gap="xs">
        {!isActive && (
          <Badge variant="light" color="yellow" tt="none">
            {words.inactive}
          </Badge>
        )}
        <Badge variant="light" color={role.id === 'owner' ? 'blue' : 'gray'} tt="none">
          {getRoleLabel(role.name)}
        </Badge>
        {role.id !== 'owner' && (
          <>
            <RowButton onClick={() => setDialog('change')} aria-label={words.changeOf(name)}>
              {words.change}
            </RowButton>
            <RowButton color="red" onClick={() => setDialog('remove')} aria-label={words.removeOf(name)}>
              {words.remove}
            </RowButton>
          </>
        )}
      </Group>
      {dialog === 'change' && <ChangeMember teamId={teamId} member={member} reread={reread} onClose={close} />}
      {dialog === 'remove' && (
        <Confirmation
          title={words.removeTitle(name)}
          explanation={words.removeExplanation}
          submit={words.remove}
          call={() => trpc.operator.removeMember.mutate({ teamId, accountId })}
          onSuccess={() => {
            close();
            notify(words.removed(name));
            void reread();
          }}
          onError={() => void reread()}
          onClose={close}
        />
      )}
    </li>
  );
}
