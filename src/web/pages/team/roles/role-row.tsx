import { Badge, Group, Menu, Text } from '@mantine/core';
import { RowMenu } from '../../../components/row-menu.tsx';
import { permissionTexts } from '../../../messages/permissions.ts';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { useTeam, type Role } from '../team.ts';
import { Holders } from './holders.tsx';
import { getRoleName, type Member } from './role-name.ts';

export type RoleRowProps = {
  readonly role: Role;
  /** All members of the team, or undefined while loading. */
  readonly members: readonly Member[] | undefined;
  readonly onEdit: (role: Role) => void;
  readonly onDelete: (role: Role) => void;
};

export function RoleRow({ role, members, onEdit, onDelete }: RoleRowProps) {
  const { team, can } = useTeam();
  const name = getRoleName(role);
  const isOffered = !role.isSystemRole && can('edit_team_settings');
  return (
    <li className="row row-high">
      <div className="row-head">
        <Group gap="xs" className="row-text">
          <Text fw={600} component="h3" className="wrap">
            <bdi>{name}</bdi>
          </Text>
          {role.roleId === team.role.id && (
            <Badge variant="light" tt="none">
              {words.yours}
            </Badge>
          )}
        </Group>
        {isOffered && role.isAssignable && (
          <RowMenu name={name} id={role.roleId}>
            <Menu.Item onClick={() => onEdit(role)} aria-label={words.editOf(name)}>
              {words.edit}
            </Menu.Item>
            <Menu.Item className="data-danger" onClick={() => onDelete(role)} aria-label={words.deleteOf(name)}>
              {words.delete}
            </Menu.Item>
          </RowMenu>
        )}
      </div>
      {role.permissions.length === 0 ? (
        <Text size="sm" mt={6}>
          {words.nothing}
        </Text>
      ) : (
        <ul className="facts role-facts">
          {role.permissions.map((permission) => (
            <li key={permission}>{permissionTexts[permission]}</li>
          ))}
        </ul>
      )}
      {isOffered && !role.isAssignable && (
        <Text size="sm" c="dimmed" mb={6}>
          {words.beyond}
        </Text>
      )}
      <Holders role={role} members={members} />
    </li>
  );
}
