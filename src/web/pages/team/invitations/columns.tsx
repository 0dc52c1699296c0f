import { Badge, Text } from '@mantine/core';
import { useDates } from '../../../components/dates.ts';
import { getRoleLabel } from '../../../components/role-label.ts';
import type { Column } from '../../../components/table/column.ts';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { getRoleName } from '../roles/role-name.ts';
import type { Role } from '../team.ts';
import { getInvitationState, type Invitation } from './invitation.ts';
import { Name } from '../../../components/name.tsx';

const STATES = Object.entries(words.states).map(([value, label]) => ({ value, label }));
const COLORS = { pending: 'teal', failed: 'red', expired: 'gray' } as const;

/** The columns of the invitations, with a filter by the roles of the team. */
export const invitationColumns = (roles: readonly Role[]): readonly Column<Invitation>[] => [
  {
    id: 'email',
    title: words.email,
    value: ({ email }) => email,
    cell: ({ email }) => (
      <Text fw={600} size="sm" className="wrap">
        <Name>{email}</Name>
      </Text>
    ),
    search: ({ email }) => email,
  },
  {
    id: 'role',
    title: words.dialog.role,
    value: getInvitationRole,
    cell: (invitation) => <Name className="wrap">{getInvitationRole(invitation)}</Name>,
    filter: {
      options: roles
        .filter(({ roleId }) => roleId !== 'owner')
        .map((role) => ({ value: role.roleId, label: getRoleName(role) })),
      value: ({ roleId }) => roleId,
    },
    width: '15%',
  },
  {
    id: 'status',
    title: words.status,
    value: (invitation) => words.states[getInvitationState(invitation)],
    cell: (invitation) => <State invitation={invitation} />,
    filter: { options: STATES, value: getInvitationState },
    width: '25%',
  },
  {
    id: 'sent',
    title: words.sentColumn,
    value: ({ sentAt }) => sentAt,
    cell: (invitation) => <Sent invitation={invitation} />,
    width: '17%',
    isLabelled: true,
  },
  {
    id: 'expires',
    title: words.expiresColumn,
    value: ({ expiresAt }) => expiresAt,
    cell: () => null,
    isExportOnly: true,
  },
];

const getInvitationRole = ({ roleName, roleId }: Invitation): string =>
  roleName === null ? roleId : getRoleLabel(roleName);

type CellProps = { readonly invitation: Invitation };

/** Whether the link works, until when, and why the email was not sent. */
function State({ invitation }: CellProps) {
  const { minute } = useDates();
  const state = getInvitationState(invitation);
  const end = minute(invitation.expiresAt);
  return (
    <>
      <Badge variant="light" color={COLORS[state]} tt="none">
        {words.states[state]}
      </Badge>
      {invitation.emailFailure !== null && (
        <Text size="sm" c="red" className="wrap">
          {words.emailFailures[invitation.emailFailure]}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {invitation.isExpired ? words.expiredOn(end) : words.until(end)}
      </Text>
    </>
  );
}

function Sent({ invitation: { sentAt } }: CellProps) {
  const { day } = useDates();
  return (
    <Text size="sm" component="time" dateTime={sentAt}>
      {day(sentAt)}
    </Text>
  );
}
