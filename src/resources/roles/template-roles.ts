import { command, query } from '../../db/query.ts';
import { newId, roleNameSkeleton, type Permission, type ProductPermission } from '../../entities/index.ts';
import type { Change } from '../../transactions/steps.ts';
import { lockCatalogueStep } from '../permissions/declared-permissions.ts';

/** A role that a new team gets. */
export type Template = {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly productPermissions: readonly ProductPermission[];
  readonly isSensitive: boolean;
};

/** Reads the templates of the roles that new teams get, without deprecated permissions, which nobody gets. */
const roleTemplates = query<Template>(
  'role_template_list',
  `select t.name, t.permissions, given.names as "productPermissions",
     given.names && array(select d.name from declared_permission d where d.is_sensitive) as "isSensitive"
   from role_template t
   cross join lateral (
     select array(select d.name from declared_permission d
       where d.name = any(t.product_permissions) and not d.is_deprecated order by d.name) as names) given
   order by t.name`,
);

const insertRoles = command<never>(
  'role_insert_of_templates',
  `insert into role (id, team_id, name, name_skeleton, permissions, product_permissions, is_sensitive, created_at)
   select id, $1, name, name_skeleton, permissions, product_permissions, is_sensitive, now()
   from json_populate_recordset(null::role, $2::json)`,
);

/** Locks the catalogue of permissions and reads the templates, so that no role gets a permission that ends meanwhile. */
export const roleTemplatesSteps = [lockCatalogueStep, [roleTemplates, []]] as const;

/** Gives a team that the transaction creates the roles of the templates. */
export function addTemplateRoles(change: Change, teamId: string, templates: readonly Template[]): void {
  if (templates.length === 0) return;
  const roles = templates.map((template) => ({ ...template, id: newId('role') }));
  const rows = roles.map(({ id, name, permissions, productPermissions, isSensitive }) => ({
    id,
    name,
    permissions,
    product_permissions: productPermissions,
    is_sensitive: isSensitive,
    name_skeleton: roleNameSkeleton(name),
  }));
  change.later([insertRoles, [teamId, JSON.stringify(rows)]]);
  for (const { id: roleId, name, permissions, productPermissions } of roles)
    change.record('role.created', {
      roleId,
      teamId,
      name,
      permissions,
      ...(productPermissions.length > 0 && { productPermissions }),
    });
}
