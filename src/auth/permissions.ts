import { PERMISSIONS, PRIVILEGED_PERMISSIONS, type Permission, type ProductPermission } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import type { Principal } from './principal.ts';

/** What a role or a member holds: permissions of Roster, and of the operator’s product. */
export type Rights = {
  readonly permissions: readonly Permission[];
  readonly productPermissions: readonly ProductPermission[];
};

type GrantableRole = Rights & { readonly id: string };

/** Returns whether a caller who holds `held` can assign a role: never `owner`, and never one with other permissions. */
export const canGrant = (held: Rights, role: GrantableRole): boolean =>
  role.id !== 'owner' && findMissingPermissions(held, role).length === 0;

/**
 * Requires that a caller who holds `held` can assign the role. Giving back is granting: also call it before a membership
 * with the role becomes active again or ends later. @throws role_not_assignable (403)
 */
export function requireCanGrant(held: Rights, role: GrantableRole): void {
  if (!canGrant(held, role)) throw new ProblemError('role_not_assignable');
}

/** Returns what is needed and not held: of Roster in the order of PERMISSIONS, then of the product. */
export const findMissingPermissions = (held: Rights, needed: Rights): string[] => [
  ...sortPermissions(needed.permissions).filter((permission) => !held.permissions.includes(permission)),
  ...needed.productPermissions.filter((permission) => !held.productPermissions.includes(permission)),
];

/** Returns the permissions without duplicates, in the order of PERMISSIONS. */
export const sortPermissions = (permissions: readonly Permission[]): Permission[] =>
  PERMISSIONS.filter((permission) => permissions.includes(permission));

/** Returns product permissions without duplicates, by name. */
export const sortProductPermissions = (permissions: readonly ProductPermission[]): ProductPermission[] =>
  [...new Set(permissions)].sort();

/** Requires a permission. Call it only for active members; everyone else gets 404. @throws permission_missing (403) */
export function requirePermission(held: readonly Permission[], permission: Permission | undefined): void {
  if (permission !== undefined && !held.includes(permission)) {
    throw new ProblemError('permission_missing', `Your role needs the permission \`${permission}\`.`);
  }
}

/** What decides whether a role is privileged. */
export type Weight = {
  readonly permissions: readonly Permission[];
  /** Whether it holds a permission that the catalogue marks `sensitive`. */
  readonly isSensitive: boolean;
};

/** Returns whether a role is privileged: giving it to somebody needs a recent proof. */
export const isPrivileged = ({ permissions, isSensitive }: Weight): boolean =>
  isSensitive || PRIVILEGED_PERMISSIONS.some((permission) => permissions.includes(permission));

type Limits = Pick<Principal, 'kind' | 'scopes' | 'productLimit'>;

/**
 * Returns what a credential can do in a team: what the role holds, of the product only what the credential is limited to.
 * The permissions of Roster are limited by scopes instead: a credential with none has none of them, one with any has all.
 * Sessions and first-party tokens have all that the role holds.
 */
export function listEffectivePermissions(
  { permissions, productPermissions }: Rights,
  { scopes, productLimit }: Limits,
): string[] {
  const own = productLimit !== null && scopes.length === 0 ? [] : permissions;
  if (productPermissions.length === 0 || productLimit?.length === 0) return [...own];
  // Equal lists of credentials share one array.
  if (productLimit === null || productLimit === productPermissions) return [...own, ...productPermissions];
  const allowed = new Set(productLimit);
  return [...own, ...productPermissions.filter((permission) => allowed.has(permission))];
}

/** Returns whether a token only says who its user is (`openid`): it is for userinfo, and no credential of an API. */
export const isForSignInOnly = ({ kind, scopes, productLimit }: Limits): boolean =>
  kind === 'oauth-grant' && scopes.length === 0 && productLimit?.length === 0;
