import { z } from 'zod';
import { canGrant, sortPermissions } from '../../auth/permissions.ts';
import { PERMISSIONS, type Permission, type Role } from '../../entities/index.ts';
import { readableName, resourceId } from '../../procedures/fields.ts';

const roleName = readableName(1, 100);
const rolePermissions = z.array(z.enum(PERMISSIONS));

export const createRoleInput = { name: roleName, permissions: rolePermissions };
export const updateRoleInput = {
  roleId: resourceId,
  name: roleName.optional(),
  permissions: rolePermissions.optional(),
};
export const deleteRoleInput = { roleId: resourceId, replacementRoleId: resourceId };

export const roleOutput = z
  .object({
    roleId: z.string(),
    name: z.string().nullable(),
    isSystemRole: z.boolean(),
    isAssignable: z.boolean().meta({ description: 'Whether the caller can invite to this role.' }),
    permissions: z.array(z.enum(PERMISSIONS)),
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
