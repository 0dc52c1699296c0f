import { Badge, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { getRoleLabel } from '../../components/role-label.ts';
import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import type { Column } from '../../components/table/column.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { membersTexts } from '../../messages/members.ts';
import { trpc } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import type { Member } from './member-dialogs.tsx';
import { Name } from '../../components/name.tsx';

const words = areaTexts.members;

const getState = ({ isActive }: Member) => (isActive ? 'active' : 'inactive');

/** Returns the columns of the members of a team, with a filter by the roles that they have. */
export function memberColumns(members: readonly Member[]): readonly Column<Member>[] {
  const roles = new Map(members.map(({ role }) => [role.id, getRoleLabel(role.name)]));
  return [
    {
      id: 'member',
      title: membersTexts.member,
      value: getAccountName,
      cell: (member) => <Who member={member} />,
      search: (member) =>
        `${getAccountName(member)} ${member.email ?? ''} ${member.accountId} ${member.externalId ?? ''}`,
    },
    { id: 'id', title: 'ID', value: ({ accountId }) => accountId, cell: () => null, isExportOnly: true },
    { id: 'email', title: membersTexts.email, value: ({ email }) => email, cell: () => null, isExportOnly: true },
    {
      id: 'role',
      title: words.role,
      value: ({ role }) => getRoleLabel(role.name),
      cell: ({ role }) => <Name className="wrap">{getRoleLabel(role.name)}</Name>,
      filter: { options: [...roles].map(([value, label]) => ({ value, label })), value: ({ role }) => role.id },
      width: '18%',
    },
    {
      id: 'status',
      title: words.state,
      value: (member) => words.states[getState(member)],
      cell: (member) => (
        <Badge variant="light" color={member.isActive ? 'teal' : 'gray'} tt="none">
          {words.states[getState(member)]}
        </Badge>
      ),
      filter: { options: Object.entries(words.states).map(([value, label]) => ({ value, label })), value: getState },
      width: '15%',
    },
    {
      id: 'joined',
      title: membersTexts.joined,
      value: ({ joinedAt }) => joinedAt,
      cell: ({ joinedAt }) => <Day of={joinedAt} />,
      width: '14%',
      isLabelled: true,
    },
    {
      id: 'end',
      title: words.end,
      value: ({ expiresAt }) => expiresAt,
      cell: ({ expiresAt }) => <Day of={expiresAt} />,
      width: '14%',
      isLabelled: true,
    },
  ];
}

/** The actions on several members. The owner is left alone. */
export const memberBulkActions = (teamId: string): readonly BulkAction<Member>[] => [
  ...([true, false] as const).map((isActive): BulkAction<Member> => ({
    id: isActive ? 'activate' : 'deactivate',
    ...membersTexts.bulk[isActive ? 'activate' : 'deactivate'],
    applies: (member) => member.role.id !== 'owner' && member.isActive !== isActive,
    call: ({ accountId }) => trpc.operator.updateMember.mutate({ teamId, accountId, isActive }),
  })),
  {
    id: 'remove',
    ...membersTexts.bulk.remove,
    color: 'red',
    applies: ({ role }) => role.id !== 'owner',
    call: ({ accountId }) => trpc.operator.removeMember.mutate({ teamId, accountId }),
  },
];

function Day({ of }: { readonly of: string | null }) {
  const { day } = useDates();
  return of === null ? null : <time dateTime={of}>{day(of)}</time>;
}

function Who({ member }: { readonly member: Member }) {
  const { accountId, email } = member;
  const name = getAccountName(member);
  return (
    <>
      <TextLink to="/operator/accounts/$accountId" params={{ accountId }} preload={false} className="wrap">
        <Name>{name}</Name>
      </TextLink>
      {email !== null && email !== name && (
        <Text size="sm" c="dimmed" className="wrap">
          <Name>{email}</Name>
        </Text>
      )}
    </>
  );
}
