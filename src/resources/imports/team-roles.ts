import { sortPermissions, sortProductPermissions } from '../../auth/permissions.ts';
import { query } from '../../db/query.ts';
import { newId, roleNameSkeleton, SYSTEM_ROLES, type ProductPermission } from '../../entities/index.ts';
import { isAnySensitive, readDeclared } from '../permissions/declared-permissions.ts';
import type { Template } from '../roles/template-roles.ts';
import { insertInto, insertRows, recordRows, type Batch } from './batch.ts';

/** A role as rows and templates have it. */
export type ImportedRole = Omit<Template, 'isSensitive'>;
type NewRole = ImportedRole & { readonly teamId: string };

export const productPermissionsOf = (roles: readonly ImportedRole[]): ProductPermission[] => [
  ...new Set(roles.flatMap(({ productPermissions }) => productPermissions)),
];

const insertRoleRows = insertInto(
  'role',
  'id, team_id, name, name_skeleton, permissions, product_permissions, is_sensitive, version, created_at',
);

/** Creates the roles of teams that the batch creates. */
export async function insertRoles(batch: Batch, given: readonly NewRole[]): Promise<void> {
  const declared = await readDeclared(batch.tx, productPermissionsOf(given));
  const now = new Date().toISOString();
  const roles = given.map(({ teamId, name, permissions, productPermissions }) => ({
    id: newId('role'),
    teamId,
    name,
    permissions: sortPermissions(permissions),
    productPermissions: sortProductPermissions(productPermissions),
  }));
  await insertRows(
    batch.tx,
    insertRoleRows,
    roles.map(({ id, teamId, name, permissions, productPermissions }) => ({
      id,
      team_id: teamId,
      name,
      name_skeleton: roleNameSkeleton(name),
      permissions,
      product_permissions: productPermissions,
      is_sensitive: isAnySensitive(declared, productPermissions),
      version: 0,
      created_at: now,
    })),
  );
  await recordRows(
    batch,
    'role.created',
    roles.map(({ id: roleId, productPermissions, ...role }) => ({
      roleId,
      ...role,
      ...(productPermissions.length > 0 && { productPermissions }),
    })),
  );
}

const SYSTEM = new Map<string, string>(SYSTEM_ROLES.map(({ id, name }) => [roleNameSkeleton(name), id]));

/** What a role of a team is found by: its name as a reader sees it. */
export const roleKey = (team: string, name: string): string => `${team} ${roleNameSkeleton(name)}`;

/** Returns the id of a system role. */
export const systemRoleOf = (name: string): string | undefined => SYSTEM.get(roleNameSkeleton(name));

const rolesOfTeams = query<{ id: string; team_id: string; name: string }>(
  'role_list_of_teams',
  `select id, team_id, name from role where team_id = any(string_to_array($1, ' '))`,
);

/** Finds the ids of the roles of teams, by `roleKey`. */
export async function findRoles({ tx }: Batch, teamIds: readonly string[]): Promise<Map<string, string>> {
  if (teamIds.length === 0) return new Map();
  const [rows] = await tx.run([[rolesOfTeams, [teamIds.join(' ')]]]);
  return new Map(rows.map(({ id, team_id: teamId, name }) => [roleKey(teamId, name), id]));
}
