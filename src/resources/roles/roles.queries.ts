import { canGrant, sortPermissions } from '../../auth/permissions.ts';
import type { ActiveMembership } from '../../auth/principal.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { Permission } from '../../entities/index.ts';

type RoleRow = { id: string; name: string; is_system_role: boolean; permissions: Permission[] };

const rolesOfTeam = query<RoleRow>(
  'roles_of_team',
  `select id, name, team_id is null as is_system_role, permissions
   from role
   where team_id is null or team_id = $1
   order by team_id is not null, cardinality(permissions) * (team_id is null)::int desc, name, id`,
);

/** Lists the system roles, most permissions first, then the custom ones by name. `isAssignable` depends on the caller. */
export async function listTeamRoles(db: QueryRunner, { team, permissions }: ActiveMembership) {
  const rows = await db.query(rolesOfTeam, [team.id]);
  return rows.map((row) => ({
    roleId: row.id,
    name: row.name,
    isSystemRole: row.is_system_role,
    isAssignable: canGrant(permissions, row),
    permissions: sortPermissions(row.permissions),
  }));
}
