import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { lockMany } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { lockTeam, lockTeamFor, withTeam, type TeamCaller } from '../../transactions/with-team.ts';
import { sortPermissions, findMissingPermissions, requireCanGrant } from '../../auth/permissions.ts';
import { Invitation, looksLike, Membership, Role, roleNameSkeleton, type Permission } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { findTeamRole } from './find-team-role.ts';
import { isReadableName } from '../../procedures/fields.ts';

type RoleFields = { readonly name: string; readonly permissions: readonly Permission[] };
type RoleChange = { readonly name?: string | undefined; readonly permissions?: readonly Permission[] | undefined };

/**
 * Creates a custom role. Its name must differ visibly from those of the team's other roles.
 * @param caller limits the permissions to the caller's own; undefined for the operator, who has no such limit
 */
export async function createRole(
  db: TransactionScope,
  teamId: string,
  { name, permissions }: RoleFields,
  caller?: TeamCaller,
): Promise<Role> {
  return transaction(
    db,
    async (tx) => {
      const team = caller === undefined ? await lockTeam(tx, teamId) : await lockTeamToGrant(tx, caller, permissions);
      await requireFreeName(tx, teamId, name);
      const role = tx.create(Role, { team, name, permissions: sortPermissions(permissions) }, { partial: true }); // isSystemRole is computed
      record(tx, 'role.created', { roleId: role.id, teamId, name, permissions: role.permissions });
      await tx.flush();
      return role;
    },
    { teamId },
  );
}

/** Changes a custom role. The new permissions apply from the members' next request on. */
export async function updateRole(
  db: TransactionScope,
  caller: TeamCaller,
  roleId: string,
  { name, permissions }: RoleChange,
): Promise<Role> {
  return withTeam(db, caller, 'edit_team_settings', async ({ tx, caller: { permissions: held } }) => {
    const role = await requireCustomRole(tx, caller.teamId, roleId);
    requireHeld(held, [...role.permissions, ...(permissions ?? [])]);
    if (name !== undefined) {
      await requireFreeName(tx, caller.teamId, name, roleId);
      role.name = name;
    }
    if (permissions !== undefined) role.permissions = sortPermissions(permissions);
    record(tx, 'role.updated', {
      roleId,
      teamId: caller.teamId,
      name: role.name,
      ...(permissions && { permissions: role.permissions }),
    });
    await tx.flush();
    return role;
  });
}

/** Deletes a custom role. Its members and invitations get the replacement. */
export async function deleteRole(
  db: TransactionScope,
  caller: TeamCaller,
  roleId: string,
  replacementRoleId: string,
): Promise<void> {
  await withTeam(db, caller, 'edit_team_settings', async ({ tx, caller: { permissions: held } }) => {
    const role = await requireCustomRole(tx, caller.teamId, roleId);
    requireHeld(held, role.permissions);
    const replacement = await findTeamRole(tx, caller.teamId, replacementRoleId, '/replacementRoleId');
    if (replacement === role) throw invalidInput('/replacementRoleId', 'A role cannot replace itself.');
    requireCanGrant(held, replacement);

    // Also invitations that were accepted or have expired: their rows refer to the role too.
    await lockMany(tx, 'invitation', { role: roleId });
    await lockMany(tx, 'membership', { role: roleId });
    await tx.nativeUpdate(Membership, { role: roleId }, { role: replacement.id });
    await tx.nativeUpdate(Invitation, { role: roleId }, { role: replacement.id });
    await tx.nativeDelete(Role, { id: roleId });
    record(tx, 'role.deleted', { roleId, teamId: caller.teamId, name: role.name, replacementId: replacement.id });
  });
}

async function lockTeamToGrant(tx: EntityManager, caller: TeamCaller, permissions: readonly Permission[]) {
  const { team, caller: locked } = await lockTeamFor(tx, caller, 'edit_team_settings');
  requireHeld(locked.permissions, permissions);
  return team;
}

/** @throws role_not_found also for system roles, which cannot be changed */
async function requireCustomRole(tx: EntityManager, teamId: string, roleId: string): Promise<Role> {
  const role = await tx.findOne(Role, { id: roleId, team: teamId });
  if (role === null) throw new ProblemError('role_not_found');
  return role;
}

/** Requires that the caller holds all permissions. @throws role_not_assignable */
function requireHeld(held: readonly Permission[], permissions: readonly Permission[]): void {
  const beyond = findMissingPermissions(held, permissions);
  if (beyond.length > 0) throw new ProblemError('role_not_assignable', `Your role does not hold ${beyond.join(', ')}.`);
}

type NamedRole = { readonly id: string; readonly name: string; readonly name_skeleton: string | null };

/** Requires a name that no other role of the team and no system role looks like. Call it with the team locked. */
async function requireFreeName(tx: EntityManager, teamId: string, name: string, exceptRoleId?: string): Promise<void> {
  // The input schema checks this for clients, but not for operator commands.
  if (!isReadableName(name)) throw invalidInput('/name', 'The name is blank or contains control characters.');
  const roles = await tx.execute<NamedRole[]>(
    'select id, name, name_skeleton from role where team_id = ? or team_id is null',
    [teamId],
  );
  if (roles.some((role) => role.id !== exceptRoleId && looksLike(role.name, name))) {
    throw invalidInput('/name', 'The team already has a role whose name looks like this one.');
  }
  // Replicas of the previous version do not update the skeleton, so the index could compare a former name.
  const outdated = roles.filter(
    (role) => role.name_skeleton !== null && role.name_skeleton !== roleNameSkeleton(role.name),
  );
  for (const { id } of outdated) await tx.execute('update role set name_skeleton = null where id = ?', [id]);
}
