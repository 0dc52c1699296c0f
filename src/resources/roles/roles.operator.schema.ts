import { z } from 'zod';
import {
  permissionName,
  productPermissionName,
  productPermissionNames,
  readableName,
  text,
} from '../../procedures/fields.ts';
import { teamInput } from '../operator/operator-api.schema.ts';

const roleId = text(1, 255).meta({ description: 'The id of a role of the team.' });
const fields = {
  name: readableName(1, 100).describe('The name. No other role of the team may look like it.'),
  permissions: z.array(permissionName).max(100).describe('What members with the role can do.'),
  productPermissions: productPermissionNames.optional().describe('What they can do in your product.'),
};
const version = z.int().min(0).optional().meta({
  description: 'The version that you have read, the same as `If-Match`. With another one now, nothing changes.',
});

export const roleInput = teamInput.extend({ roleId });
export const createRoleInput = teamInput.extend(fields);
export const updateRoleInput = roleInput.extend({
  name: fields.name.optional(),
  permissions: fields.permissions.optional(),
  productPermissions: fields.productPermissions,
  version,
});
export const deleteRoleInput = roleInput.extend({
  replacementRoleId: text(1, 255).default('member').meta({
    description: 'The role that its members and invitations get: `member`, `guest` or another role of the team.',
    example: 'guest',
  }),
});

export const roleOutput = z
  .object({
    id: z.string().describe('The id.'),
    name: z.string().describe('The name of the role.'),
    isSystemRole: z.boolean().meta({ description: 'Whether every team has this role. It cannot be changed.' }),
    permissions: z.array(permissionName).describe('What members with the role can do.'),
    productPermissions: z.array(productPermissionName).describe('What they can do in your product.'),
    version: z.int().meta({ description: 'Counts the changes. 0 for a role that was not changed.' }),
  })
  .meta({ id: 'OperatorRole', description: 'A role of a team.' });

export const rolesOutput = z
  .object({ roles: z.array(roleOutput).describe('The system roles, then those of the team by name.') })
  .meta({ id: 'OperatorRoles', description: 'The roles of a team.' });

export const roleTemplateInput = z.object({
  templateId: text(1, 255).meta({ description: 'The id of a role template.' }),
});
export const createRoleTemplateInput = z.object(fields);
export const updateRoleTemplateInput = roleTemplateInput.extend({
  name: fields.name.optional(),
  permissions: fields.permissions.optional(),
  productPermissions: fields.productPermissions,
  version,
});

export const roleTemplateOutput = roleOutput
  .omit({ isSystemRole: true })
  .meta({ id: 'OperatorRoleTemplate', description: 'A role that each new team gets.' });

export const roleTemplatesOutput = z
  .object({ roleTemplates: z.array(roleTemplateOutput).describe('The templates by name.') })
  .meta({ id: 'OperatorRoleTemplates', description: 'The role templates.' });
