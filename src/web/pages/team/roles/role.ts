import type { Outputs } from '../../../trpc.ts';
import { permissionTexts } from '../../../messages/permissions.ts';

/** A role with what it holds of the product. */
export type FullRole = Outputs['roles']['list'][number];

/** Returns the names of all permissions of a role, those of the service first. */
export const getPermissions = ({ permissions, productPermissions }: FullRole): readonly string[] => [
  ...permissions,
  ...productPermissions,
];

/** Whether a name is that of a permission of the service itself. */
export const isOwnPermission = (name: string): name is keyof typeof permissionTexts => name in permissionTexts;
