import { z } from 'zod';
import { canGrant, isPrivileged, sortPermissions, type Rights } from '../../auth/permissions.ts';
import type { Role } from '../../entities/index.ts';
import {
  permissionName,
  productPermissionName,
  productPermissionNames,
  readableName,
  resourceId,
} from '../../procedures/fields.ts';

const roleName = readableName(1, 100);
const rolePermissions = z.array(permissionName);

export const createRoleInput = {
  name: roleName,
  permissions: rolePermissions,
  productPermissions: productPermissionNames.optional(),
};
export const updateRoleInput = {
  roleId: resourceId,
  name: roleName.optional(),
  permissions: rolePermissions.optional(),
  productPermissions: productPermissionNames.optional(),
};
export const deleteRoleInput = { roleId: resourceId, replacementRoleId: resourceId };

export const roleOutput = z
  .object({
    roleId: z.string().meta({ description: 'The id of the role.' }),
    name: z.string().nullable().meta({ description: 'The name of the role.' }),
    isSystemRole: z.boolean().meta({ description: 'Whether every team has this role.' }),
    isAssignable: z.boolean().meta({ description: 'Whether the caller can invite to this role.' }),
    permissions: z.array(permissionName).meta({ description: 'The permissions of members with this role.' }),
  })
  .meta({ id: 'Role', description: 'A role of a team.' });

/** A role as frontends see it: with what it holds of the operator’s product, which REST does not show. */
export const fullRoleOutput = roleOutput.extend({
  productPermissions: z.array(productPermissionName),
  /** Whether giving it to somebody needs a recent proof. */
  isPrivileged: z.boolean(),
});

/** Converts a role for a caller who holds `held`. */
export const presentRole = (role: Role, held: Rights) => ({
  roleId: role.id,
  name: role.name,
  isSystemRole: role.isSystemRole,
  isAssignable: canGrant(held, role),
  permissions: sortPermissions(role.permissions),
  productPermissions: role.productPermissions,
  isPrivileged: isPrivileged(role),
});
