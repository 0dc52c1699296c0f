import { Text } from '@mantine/core';
import { useId } from 'react';
import { GroupTitle } from '../../../components/permissions/group-title.tsx';
import { SEPARATOR } from '../../../messages/language.ts';
import { permissionsTexts } from '../../../messages/permissions.ts';
import { rolesTexts } from '../../../messages/roles.ts';
import { PermissionDetails } from './permission-details.tsx';
import type { Matrix } from './matrix.ts';
import { getRoleName } from './role-name.ts';

/** The matrix where it has no room for columns: each permission with its roles. */
export const MatrixList = ({ groups, holders, onToggle }: Matrix) =>
  groups.map((group) => <ListGroup key={group.title} group={group} holders={holders} onToggle={onToggle} />);

type ListGroupProps = Omit<Matrix, 'groups'> & { readonly group: Matrix['groups'][number] };

function ListGroup({ group, holders, onToggle }: ListGroupProps) {
  const id = useId();
  return (
    <div role="group" aria-labelledby={id}>
      <GroupTitle id={id} group={group} onToggle={onToggle}>
        {group.canToggle && permissionsTexts.count(group.permissions.length)}
      </GroupTitle>
      {group.isOpen && (
        <ul className="matrix-list">
          {group.permissions.map((permission) => (
            <li key={permission.name}>
              <PermissionDetails permission={permission} />
              <Text size="sm" c="dimmed" className="wrap">
                {toHeldBy(
                  holders.filter(({ holds }) => holds.has(permission.name)).map(({ role }) => getRoleName(role)),
                )}
              </Text>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const toHeldBy = (names: readonly string[]): string =>
  names.length === 0 ? rolesTexts.catalogue.heldByNone : rolesTexts.catalogue.heldBy(names.join(SEPARATOR));
