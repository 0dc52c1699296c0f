import type { Change } from '../../transactions/steps.ts';
import { query } from '../../db/query.ts';
import type { Rights, Weight } from '../../auth/permissions.ts';
import { Role } from '../../entities/index.ts';
import { invalidInput } from '../../problems/error.ts';

/** Finds a role of the team or a system role. @throws validation_failed (400) at `pointer` if there is none */
export async function findTeamRole(tx: Change, teamId: string, roleId: string, pointer: string): Promise<Role> {
  const role = await tx.em.findOne(Role, { id: roleId, $or: [{ team: null }, { team: teamId }] });
  return requireTeamRole(role, pointer);
}

export type TeamRole = Rights & Weight & { id: string; name: string; is_system: boolean };

/** The columns of a role that decide who can give it. */
export const roleRights = (alias: string): string =>
  `${alias}.permissions, ${alias}.product_permissions as "productPermissions", ${alias}.is_sensitive as "isSensitive"`;

/** Reads a role of the team or a system role: takes the ids of the team and the role. */
export const roleOfTeam = query<TeamRole>(
  'role_find_of_team',
  `select id, name, ${roleRights('role')}, team_id is null as is_system from role
   where id = $2 and (team_id is null or team_id = $1)`,
);

/** @throws validation_failed (400) at `pointer` if the team has no such role */
export function requireTeamRole<Found>(role: Found | null | undefined, pointer: string): Found {
  if (role === null || role === undefined) throw invalidInput(pointer, 'The team has no role with this id.');
  return role;
}
