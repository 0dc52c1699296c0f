import { Badge } from '@mantine/core';
import { permissionsTexts as words } from '../../messages/permissions.ts';
import type { ListedPermission } from './groups.ts';

/** The title of a permission, and what is special about it. */
export const PermissionTitle = ({
  title,
  isSensitive,
  isDeprecated,
}: Omit<ListedPermission, 'name' | 'description'>) => (
  <>
    <bdi>{title}</bdi>
    {isSensitive && (
      <>
        {' '}
        <Badge component="span" variant="light" color="yellow" size="sm" tt="none">
          {words.sensitive}
        </Badge>
      </>
    )}
    {isDeprecated && (
      <>
        {' '}
        <Badge component="span" variant="light" color="gray" size="sm" tt="none">
          {words.deprecated}
        </Badge>
      </>
    )}
  </>
);
