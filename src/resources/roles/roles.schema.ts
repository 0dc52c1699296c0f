import { z } from 'zod';
import { canGrant, sortPermissions } from '../../auth/permissions.ts';
import type { Permission, Role } from '../../entities/index.ts';
import { permissionName, readableName, resourceId } from '../../procedures/fields.ts';

const roleName = readableName(1, 100);
const rolePermissions = z.array(permissionName);

export const createRoleInput = { name: roleName, permissions: rolePermissions };
export const updateRoleInput = {
  roleId: resourceId,
  name: roleName.optional(),
  permissions: rolePermissions.optional(),
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

/** Converts a role for a caller with the permissions `held`. */
export const presentRole = (role: Role, held: readonly Permission[]) => ({
  roleId: role.id,
  name: role.name,
  isSystemRole: role.isSystemRole,
  isAssignable: canGrant(held, role),
  permissions: sortPermissions(role.permissions),
});
