import { endAbandonedInvitations } from '../invitations/end-invitations.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import { lockMany } from '../../transactions/locks.ts';
import { requireProofIf, requireProofToGive } from '../../transactions/require-proof.ts';
import { change } from '../../transactions/change.ts';
import {
  isAnySensitive,
  lockCatalogueStep,
  readDeclared,
  requireDeclared,
} from '../permissions/declared-permissions.ts';
import { describePermissionChange } from '../../events/permission-change.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import type { HeldRole, OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import {
  findMissingPermissions,
  isPrivileged,
  requireCanGrant,
  sortPermissions,
  sortProductPermissions,
  type Rights,
} from '../../auth/permissions.ts';
import {
  looksLike,
  Role,
  roleNameSkeleton,
  Team,
  type Permission,
  type ProductPermission,
} from '../../entities/index.ts';
import { command, query } from '../../db/query.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { findTeamRole } from './find-team-role.ts';
import { notify, notifyOwner } from '../../jobs/notify.ts';

type RoleFields = {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly productPermissions?: readonly ProductPermission[] | undefined;
};
type RoleChange = { readonly [Field in keyof RoleFields]?: RoleFields[Field] | undefined };

/** A member gives only the permissions that they hold; the operator gives all. */
type Changer = TeamCaller | OperatorCaller | 'system';

/** Creates a custom role. Its name must differ visibly from those of the team's other roles. */
export const createRole = (
  db: TransactionScope,
  caller: Changer,
  teamId: string,
  { name, ...given }: RoleFields,
): Promise<Role> =>
  change(db, caller, { on: { team: teamId }, requires: 'edit_team_settings' }, async (tx) => {
    const by = memberOf(caller, tx.role);
    const rights = {
      permissions: sortPermissions(given.permissions),
      productPermissions: sortProductPermissions(given.productPermissions ?? []),
    };
    const declared = await readDeclared(tx, rights.productPermissions);
    requireDeclared(declared, given.productPermissions ?? [], { held: [], pointer: POINTER });
    if (by !== null) requireOwnRights(by.held, rights);
    await requireFreeName(tx, teamId, name);
    const weight = { ...rights, isSensitive: isAnySensitive(declared, rights.productPermissions) };
    if (by !== null) await requireProofToGive(weight, tx, by.caller.credential);
    const fields = { team: tx.em.getReference(Team, teamId), name, ...weight };
    const role = tx.em.create(Role, fields, { partial: true }); // isSystemRole is computed
    tx.record('role.created', { roleId: role.id, teamId, name, ...toEventFields(rights) });
    if (isPrivileged(weight)) await notifyOfRole(tx, teamId, by, 'role_widened', name);
    return role;
  });

/** A member with their present permissions, who gives no others; null for the operator. */
type By = { readonly caller: TeamCaller; readonly held: Rights } | null;

const memberOf = (caller: Changer, held: HeldRole | null): By =>
  caller === 'system' || 'operator' in caller || held === null ? null : { caller, held };

const POINTER = '/productPermissions';

/** Returns what events say of the permissions of a role: of the product only what it has. */
const toEventFields = ({ permissions, productPermissions }: Rights) => ({
  permissions,
  ...(productPermissions.length > 0 && { productPermissions }),
});

/**
 * Changes a custom role. The new permissions apply from the members' next request on.
 * @param expectedVersion the version that the caller has read, if another one must not be changed
 * @throws version_mismatch (412)
 */
export const updateRole = (
  db: TransactionScope,
  caller: Changer,
  teamId: string,
  roleId: string,
  given: RoleChange,
  expectedVersion?: number,
): Promise<Role> =>
  change(db, caller, { on: { team: teamId }, requires: 'edit_team_settings' }, (tx) =>
    applyUpdate(tx, teamId, roleId, given, memberOf(caller, tx.role), expectedVersion),
  );

async function applyUpdate(
  tx: Change,
  teamId: string,
  roleId: string,
  { name, permissions, productPermissions }: RoleChange,
  by: By,
  expectedVersion?: number,
): Promise<Role> {
  await tx.run([lockCatalogueStep]);
  const role = await requireCustomRole(tx, teamId, roleId);
  if (expectedVersion !== undefined && expectedVersion !== role.version)
    throw new ProblemError('version_mismatch', `The role has version ${role.version}.`);
  const after = {
    permissions: permissions === undefined ? role.permissions : sortPermissions(permissions),
    productPermissions:
      productPermissions === undefined ? role.productPermissions : sortProductPermissions(productPermissions),
  };
  const declared = await readDeclared(tx, after.productPermissions);
  requireDeclared(declared, productPermissions ?? [], { held: role.productPermissions, pointer: POINTER });
  if (by !== null) {
    requireOwnRights(by.held, role);
    requireOwnRights(by.held, after);
  }
  if (name !== undefined) {
    await requireFreeName(tx, teamId, name, roleId);
  }
  const addedOfProduct = after.productPermissions.filter((each) => !role.productPermissions.includes(each));
  const added = {
    permissions: after.permissions.filter((each) => !role.permissions.includes(each)),
    isSensitive: isAnySensitive(declared, addedOfProduct),
  };
  if (by !== null) await requireProofIf(isPrivileged(added), tx, by.caller.credential);
  if (isPrivileged(added)) await notifyOfRole(tx, teamId, by, 'role_widened', role.name);
  const isSensitive = isAnySensitive(declared, after.productPermissions);
  const ofProduct = describePermissionChange(role.productPermissions, after.productPermissions);
  const changed = assignChanged(role, { name, ...after, isSensitive });
  if (changed.length === 0) return role;
  role.version += 1;
  tx.record('role.updated', {
    roleId,
    teamId,
    name: role.name,
    ...(permissions && { permissions: role.permissions }),
    ...ofProduct,
  });
  await endAbandonedInvitations(tx, teamId);
  return role;
}

/** Deletes a custom role. Its members and invitations get the replacement. */
export const deleteRole = (
  db: TransactionScope,
  caller: Changer,
  teamId: string,
  roleId: string,
  replacementRoleId: string,
): Promise<void> =>
  change(db, caller, { on: { team: teamId }, requires: 'edit_team_settings' }, (tx) =>
    applyDeletion(tx, teamId, roleId, replacementRoleId, memberOf(caller, tx.role)),
  );

const replaceRoleOfMembers = command<never>(
  'membership_update_replaced_role',
  'update membership set role_id = $3 where team_id = $1 and role_id = $2',
);
const replaceRoleOfInvitations = command<never>(
  'invitation_update_replaced_role',
  'update invitation set role_id = $3 where team_id = $1 and role_id = $2',
);
const deleteRoleRow = command<never>('role_delete', 'delete from role where id = $1');

async function applyDeletion(
  tx: Change,
  teamId: string,
  roleId: string,
  replacementRoleId: string,
  by: By,
): Promise<void> {
  const role = await requireCustomRole(tx, teamId, roleId);
  if (by !== null) requireOwnRights(by.held, role);
  const replacement = await findTeamRole(tx, teamId, replacementRoleId, '/replacementRoleId');
  if (replacement === role) throw invalidInput('/replacementRoleId', 'A role cannot replace itself.');
  if (by === null) requireNotOwnerRole(replacement);
  else requireCanGrant(by.held, replacement);
  if (by !== null) await requireProofToGive(replacement, tx, by.caller.credential);

  // Also invitations that were accepted or have expired: their rows refer to the role too.
  const invitations = await lockMany(tx, 'invitation', { role: roleId });
  const members = await lockMany(tx, 'membership', { role: roleId });
  const isGiven = members.length > 0 || invitations.some((one) => one.acceptedAt === null && !one.isExpired);
  if (isGiven && isPrivileged(replacement)) await notifyOfRole(tx, teamId, by, 'role_given', replacement.name);
  tx.later([replaceRoleOfMembers, [teamId, roleId, replacement.id]]);
  tx.later([replaceRoleOfInvitations, [teamId, roleId, replacement.id]]);
  tx.later([deleteRoleRow, [roleId]]);
  tx.record('role.deleted', { roleId, teamId, name: role.name, replacementId: replacement.id });
  await endAbandonedInvitations(tx, teamId);
}

function requireNotOwnerRole({ id }: Role): void {
  if (id === 'owner')
    throw new ProblemError('role_not_assignable', 'A team has exactly one owner. Transfer the team instead.');
}

/** Notifies who changed a role; the owner of the team if it was the operator. */
const notifyOfRole = (
  tx: Change,
  teamId: string,
  by: By,
  kind: 'role_widened' | 'role_given',
  thing: string,
): Promise<void> =>
  by === null ? notifyOwner(tx, teamId, { kind, thing }) : notify(tx, by.caller.accountId, { kind, thing, teamId });

/** @throws role_not_found also for system roles, which cannot be changed */
async function requireCustomRole(tx: Change, teamId: string, roleId: string): Promise<Role> {
  const role = await tx.em.findOne(Role, { id: roleId, team: teamId });
  if (role === null) throw new ProblemError('role_not_found');
  return role;
}

/** Requires that the caller holds all permissions. @throws role_not_assignable */
function requireOwnRights(held: Rights, rights: Rights): void {
  const beyond = findMissingPermissions(held, rights);
  if (beyond.length > 0) throw new ProblemError('role_not_assignable', `Your role does not hold ${beyond.join(', ')}.`);
}

const rolesOfTeam = query<{ id: string; name: string; name_skeleton: string | null }>(
  'role_list_names',
  'select id, name, name_skeleton from role where team_id = $1 or team_id is null',
);

const forgetSkeleton = command<never>(
  'role_update_without_skeleton',
  'update role set name_skeleton = null where id = $1',
);

/** Requires a name that no other role of the team and no system role looks like. Call it with the team locked. */
async function requireFreeName(tx: Change, teamId: string, name: string, exceptRoleId?: string): Promise<void> {
  const [roles] = await tx.run([[rolesOfTeam, [teamId]]]);
  if (roles.some((role) => role.id !== exceptRoleId && looksLike(role.name, name))) {
    throw invalidInput('/name', 'The team already has a role whose name looks like this one.');
  }
  // Replicas of the previous version do not update the skeleton, so the index could compare a former name.
  const outdated = roles.filter(
    (role) => role.name_skeleton !== null && role.name_skeleton !== roleNameSkeleton(role.name),
  );
  for (const { id } of outdated) tx.later([forgetSkeleton, [id]]);
}
