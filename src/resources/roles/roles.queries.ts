import { canGrant, isPrivileged, sortPermissions } from '../../auth/permissions.ts';
import type { ActiveMembership } from '../../auth/principal.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { roleRights, type TeamRole } from './find-team-role.ts';

const rolesOfTeam = query<TeamRole>(
  'role_list_of_team',
  `select id, name, team_id is null as is_system, ${roleRights('role')}
   from role
   where team_id is null or team_id = $1
   order by team_id is not null, cardinality(permissions) * (team_id is null)::int desc, name, id`,
);

/** Lists the system roles, most permissions first, then the custom ones by name. `isAssignable` depends on the caller. */
export async function listTeamRoles(db: QueryRunner, membership: ActiveMembership) {
  const rows = await db.query(rolesOfTeam, [membership.team.id]);
  return rows.map((row) => ({
    roleId: row.id,
    name: row.name,
    isSystemRole: row.is_system,
    isAssignable: canGrant(membership, row),
    permissions: sortPermissions(row.permissions),
    productPermissions: [...row.productPermissions],
    isPrivileged: isPrivileged(row),
  }));
}
