import { PERMISSIONS, type Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';

type GrantableRole = { readonly id: string; readonly permissions: readonly Permission[] };

/** Whether a caller who holds `held` can grant a role: never `owner`, never more than they hold. */
export const canGrant = (held: readonly Permission[], role: GrantableRole): boolean =>
  role.id !== 'owner' && missingFrom(held, role.permissions).length === 0;

/** Answers 403 unless a caller who holds `held` can grant the role. */
export function requireCanGrant(held: readonly Permission[], role: GrantableRole): void {
  if (!canGrant(held, role)) throw new ProblemError('role_not_assignable');
}

/** The needed permissions that are not held, in the order of the catalogue. */
export const missingFrom = (held: readonly Permission[], needed: readonly Permission[]): Permission[] =>
  inCatalogueOrder(needed).filter((permission) => !held.includes(permission));

/** The permissions without duplicates, in the order of the catalogue. */
export const inCatalogueOrder = (permissions: readonly Permission[]): Permission[] =>
  PERMISSIONS.filter((permission) => permissions.includes(permission));

/** Answers 403 unless the caller's role holds the permission. */
export function requirePermission(held: readonly Permission[], permission: Permission | undefined): void {
  if (permission !== undefined && !held.includes(permission)) {
    throw new ProblemError('permission_missing', `This needs a role with the permission ${permission}.`);
  }
}
