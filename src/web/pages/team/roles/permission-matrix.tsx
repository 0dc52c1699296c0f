import { Paper, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useId } from 'react';
import { groupDeclared, teamGroup, type DeclaredPermission } from '../../../components/permissions/groups.ts';
import { PermissionSearch } from '../../../components/permissions/permission-search.tsx';
import { useGroups } from '../../../components/permissions/use-groups.ts';
import { rolesTexts } from '../../../messages/roles.ts';
import type { Holder } from './matrix.ts';
import { MatrixList } from './matrix-list.tsx';
import { MatrixTable } from './matrix-table.tsx';
import { getPermissions, type FullRole } from './role.ts';
import '../../../components/permissions/permissions.css';

const words = rolesTexts.catalogue;

/** More columns than these are not readable. */
const COLUMNS_MAX = 7;

type PermissionMatrixProps = {
  readonly roles: readonly FullRole[];
  readonly declared: readonly DeclaredPermission[];
};

/** All permissions by groups, what each allows, and which roles have it. */
export function PermissionMatrix({ roles, declared }: PermissionMatrixProps) {
  const id = useId();
  const holders = roles.map((role) => ({ role, holds: new Set(getPermissions(role)) }));
  const shown = useGroups([teamGroup(), ...groupDeclared(declared.filter((each) => isShown(each, holders)))]);
  const isNarrow = useMediaQuery('(max-width: 62em)', false, { getInitialValueInEffect: false });
  const Content = isNarrow || roles.length > COLUMNS_MAX ? MatrixList : MatrixTable;
  return (
    <section aria-labelledby={id}>
      <Title order={2} size="h4" id={id}>
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mt={4} mb="sm">
        {words.explanation}
      </Text>
      <Paper withBorder radius="lg" className="matrix">
        {shown.isLong && <PermissionSearch {...shown} />}
        <Content groups={shown.groups} holders={holders} onToggle={shown.toggle} />
      </Paper>
    </section>
  );
}

/** Deprecated permissions are shown while a role has them. The owner’s has all that are declared. */
const isShown = ({ name, isDeprecated }: DeclaredPermission, holders: readonly Holder[]): boolean =>
  !isDeprecated || holders.some(({ role, holds }) => role.roleId !== 'owner' && holds.has(name));
