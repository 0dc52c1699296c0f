import type { TeamMember } from '#client/react';
import { Badge, Group, Menu, Text } from '@mantine/core';
import { RowMenu } from '../../../components/row-menu.tsx';
import type { DeclaredPermission } from '../../../components/permissions/groups.ts';
import { permissionTexts } from '../../../messages/permissions.ts';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { useTeam } from '../team.ts';
import { Holders } from './holders.tsx';
import { getRoleName } from './role-name.ts';
import { getPermissions, isOwnPermission, type FullRole } from './role.ts';
import { Name } from '../../../components/name.tsx';

export type RoleRowProps = {
  readonly role: FullRole;
  /** All members of the team, or undefined while loading. */
  readonly members: readonly TeamMember[] | undefined;
  /** The permissions of the product, or undefined while loading. */
  readonly declared: readonly DeclaredPermission[] | undefined;
  readonly onEdit: (role: FullRole) => void;
  readonly onDelete: (role: FullRole) => void;
};

/** The number of permissions shown; the matrix has all. */
const SHOWN = 12;

export function RoleRow({ role, members, declared, onEdit, onDelete }: RoleRowProps) {
  const { team, can } = useTeam();
  const name = getRoleName(role);
  const known = new Map(declared?.map((each) => [each.name, each]));
  // The owner’s role has the deprecated ones, too, which nobody chose for it.
  const permissions = getPermissions(role).filter(
    (one) => role.roleId !== 'owner' || known.get(one)?.isDeprecated !== true,
  );
  const isOffered = !role.isSystemRole && can('edit_team_settings');
  return (
    <li className="row row-high">
      <div className="row-head">
        <Group gap="xs" className="row-text">
          <Text fw={600} component="h3" className="wrap">
            <Name>{name}</Name>
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
      {permissions.length === 0 ? (
        <Text size="sm" mt={6}>
          {words.nothing}
        </Text>
      ) : (
        <ul className="facts role-facts">
          {permissions.slice(0, SHOWN).map((name) => (
            <li key={name} className="wrap">
              {isOwnPermission(name) ? permissionTexts[name] : <bdi>{known.get(name)?.title ?? name}</bdi>}
            </li>
          ))}
          {permissions.length > SHOWN && <li>{words.morePermissions(permissions.length - SHOWN)}</li>}
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
