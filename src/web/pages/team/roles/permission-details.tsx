import { Code, Text } from '@mantine/core';
import type { ListedPermission } from '../../../components/permissions/groups.ts';
import { PermissionTitle } from '../../../components/permissions/permission-title.tsx';

/** The title, id and description of a permission. */
export const PermissionDetails = ({ permission }: { readonly permission: ListedPermission }) => (
  <>
    <span className="role-permission">
      <Text component="span" size="sm" fw={600}>
        <PermissionTitle {...permission} />
      </Text>{' '}
      <Code className="wrap">{permission.name}</Code>
    </span>
    {permission.description !== null && (
      <Text size="sm" className="wrap">
        <bdi>{permission.description}</bdi>
      </Text>
    )}
  </>
);
