import { PERMISSIONS, type Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';

type GrantableRole = { readonly id: string; readonly permissions: readonly Permission[] };

/** Returns whether a caller with the permissions `held` can assign a role: never `owner`, and never one with other permissions. */
export const canGrant = (held: readonly Permission[], role: GrantableRole): boolean =>
  role.id !== 'owner' && findMissingPermissions(held, role.permissions).length === 0;

/** Requires that a caller with the permissions `held` can assign the role. @throws role_not_assignable (403) */
export function requireCanGrant(held: readonly Permission[], role: GrantableRole): void {
  if (!canGrant(held, role)) throw new ProblemError('role_not_assignable');
}

/** Returns the needed permissions that are not held, in the order of PERMISSIONS. */
export const findMissingPermissions = (held: readonly Permission[], needed: readonly Permission[]): Permission[] =>
  sortPermissions(needed).filter((permission) => !held.includes(permission));

/** Returns the permissions without duplicates, in the order of PERMISSIONS. */
export const sortPermissions = (permissions: readonly Permission[]): Permission[] =>
  PERMISSIONS.filter((permission) => permissions.includes(permission));

/** Requires a permission. Call it only for active members; everyone else gets 404. @throws permission_missing (403) */
export function requirePermission(held: readonly Permission[], permission: Permission | undefined): void {
  if (permission !== undefined && !held.includes(permission)) {
    throw new ProblemError('permission_missing', `Your role needs the permission \`${permission}\`.`);
  }
}
