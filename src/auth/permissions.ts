import { PERMISSIONS, type Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';

/** Whether somebody who holds `held` may grant a role: never `owner`, never more than they hold. */
export function canGrant(
  held: readonly Permission[],
  role: { id: string; permissions: readonly Permission[] },
): boolean {
  return role.id !== 'owner' && role.permissions.every((permission) => held.includes(permission));
}

/** The permissions without duplicates, in the order of the catalogue. */
export const inCatalogueOrder = (permissions: readonly Permission[]): Permission[] =>
  PERMISSIONS.filter((permission) => permissions.includes(permission));

/** Answers 403 unless the caller's role holds the permission. */
export function requirePermission(held: readonly Permission[], permission: Permission | undefined): void {
  if (permission !== undefined && !held.includes(permission)) {
    throw new ProblemError('permission_missing', `This needs a role with the permission ${permission}.`);
  }
}
