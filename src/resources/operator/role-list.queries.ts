import { sortPermissions } from '../../auth/permissions.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { Permission, ProductPermission } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';

type RoleRow = {
  id: string;
  name: string;
  is_system: boolean;
  permissions: Permission[];
  product_permissions: ProductPermission[];
  version: number;
};

const rolesForOperator = query<RoleRow>(
  'role_list_versions',
  `select id, name, team_id is null as is_system, permissions, product_permissions, version from role
   where team_id is null or team_id = $1
   order by team_id is not null, name, id`,
  { rows: 'many' },
);

/** Lists the roles that members of a team can get: those of the system, then those of the team. */
export const listAssignableRoles = async (db: QueryRunner, teamId: string) =>
  (await listRoles(db, teamId)).filter(({ id }) => id !== 'owner').map(({ id, name }) => ({ id, name }));

/** Lists the roles of a team: those of the system, then those of the team by name. */
export const listRoles = async (db: QueryRunner, teamId: string) =>
  (await db.query(rolesForOperator, [teamId])).map(present);

const roleOfId = query<RoleRow>(
  'role_find_by_id',
  `select id, name, team_id is null as is_system, permissions, product_permissions, version from role
   where id = $2 and (team_id is null or team_id = $1)`,
);

/** @throws role_not_found */
export async function readRole(db: QueryRunner, teamId: string, roleId: string) {
  const [row] = await db.query(roleOfId, [teamId, roleId]);
  if (row === undefined) throw new ProblemError('role_not_found');
  return present(row);
}

const present = (row: RoleRow) => ({
  id: row.id,
  name: row.name,
  isSystemRole: row.is_system,
  permissions: sortPermissions(row.permissions),
  productPermissions: row.product_permissions,
  version: row.version,
});
