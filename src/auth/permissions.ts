import { PERMISSIONS, type Permission } from '../entities/index.ts';

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
