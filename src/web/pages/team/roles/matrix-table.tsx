import { Table, VisuallyHidden } from '@mantine/core';
import { useId } from 'react';
import { Check } from '../../../components/icons.tsx';
import { Name } from '../../../components/name.tsx';
import { GroupTitle } from '../../../components/permissions/group-title.tsx';
import { permissionsTexts } from '../../../messages/permissions.ts';
import { rolesTexts } from '../../../messages/roles.ts';
import { PermissionDetails } from './permission-details.tsx';
import type { Matrix } from './matrix.ts';
import { getRoleName } from './role-name.ts';

const words = rolesTexts.catalogue;

/** The matrix with a row for each permission and a column for each role. */
export const MatrixTable = ({ groups, holders, onToggle }: Matrix) => (
  <Table className="matrix-table" aria-label={words.title}>
    <Table.Thead>
      <Table.Tr>
        <Table.Th scope="col">{permissionsTexts.permission}</Table.Th>
        {holders.map(({ role }) => (
          <Table.Th key={role.roleId} scope="col" className="matrix-cell">
            <Name>{getRoleName(role)}</Name>
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
    {groups.map((group) => (
      <TableGroup key={group.title} group={group} holders={holders} onToggle={onToggle} />
    ))}
  </Table>
);

type TableGroupProps = Omit<Matrix, 'groups'> & { readonly group: Matrix['groups'][number] };

function TableGroup({ group, holders, onToggle }: TableGroupProps) {
  const id = useId();
  return (
    <Table.Tbody>
      <Table.Tr className="matrix-group">
        <Table.Th scope="rowgroup" colSpan={holders.length + 1}>
          <GroupTitle id={id} group={group} onToggle={onToggle}>
            {group.canToggle && permissionsTexts.count(group.permissions.length)}
          </GroupTitle>
        </Table.Th>
      </Table.Tr>
      {group.isOpen &&
        group.permissions.map((permission) => (
          <Table.Tr key={permission.name}>
            <Table.Th scope="row">
              <PermissionDetails permission={permission} />
            </Table.Th>
            {holders.map(({ role, holds }) => (
              <Table.Td key={role.roleId} className="matrix-cell">
                {holds.has(permission.name) ? (
                  <>
                    <Check />
                    <VisuallyHidden>{permissionsTexts.yes}</VisuallyHidden>
                  </>
                ) : (
                  <VisuallyHidden>{permissionsTexts.no}</VisuallyHidden>
                )}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
    </Table.Tbody>
  );
}
