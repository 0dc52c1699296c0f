import { getRoleLabel } from '../../../components/role-label.ts';
import type { Column } from '../../../components/table/column.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import type { Role } from '../team.ts';
import { Joined, State, Who } from './cells.tsx';
import { getMemberName, getMemberState, type Member } from './member.ts';
import { Name } from '../../../components/name.tsx';

const STATES = Object.entries(words.states).map(([value, label]) => ({ value, label }));

/** The columns of the members, with a filter by the roles of the team. */
export const memberColumns = (roles: readonly Role[]): readonly Column<Member>[] => [
  {
    id: 'member',
    title: words.member,
    value: getMemberName,
    cell: (member) => <Who member={member} />,
    search: ({ firstName, lastName, email }) => `${firstName ?? ''} ${lastName ?? ''} ${email ?? ''}`,
  },
  {
    id: 'email',
    title: words.email,
    value: ({ email }) => email,
    cell: ({ email }) => email,
    isExportOnly: true,
  },
  {
    id: 'role',
    title: words.role,
    value: getMemberRole,
    cell: (member) => <Name className="wrap">{getMemberRole(member)}</Name>,
    filter: {
      options: roles.map(({ roleId, name }) => ({ value: roleId, label: name === null ? roleId : getRoleLabel(name) })),
      value: ({ roleId }) => roleId,
    },
    width: '18%',
  },
  {
    id: 'status',
    title: words.state,
    value: (member) => words.states[getMemberState(member)],
    cell: (member) => <State member={member} />,
    filter: { options: STATES, value: getMemberState },
    width: '19%',
  },
  {
    id: 'joined',
    title: words.joined,
    value: ({ joinedAt }) => joinedAt,
    cell: (member) => <Joined member={member} />,
    width: '16%',
    className: 'member-joined',
    isLabelled: true,
  },
];

const getMemberRole = ({ roleName, roleId }: Member): string => (roleName === null ? roleId : getRoleLabel(roleName));
