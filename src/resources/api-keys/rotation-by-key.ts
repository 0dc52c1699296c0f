import type { Principal } from '../../auth/principal.ts';
import { liveApiKey } from '../../db/predicates.ts';
import { query } from '../../db/query.ts';
import type { Scope } from '../../entities/index.ts';
import { MINUTE_MS } from '../../time.ts';
import type { LockedKey } from '../../transactions/lock-credentials.ts';

type NewRights = { readonly scopes: readonly Scope[]; readonly teamId?: string | undefined };

/** Returns whether a key creates another one with the same rights as its own. */
export const hasEqualRights = (
  { kind, scopes: held, teamId }: Principal,
  { scopes, teamId: ofTeam }: NewRights,
): boolean => kind === 'api-key' && teamId === (ofTeam ?? null) && held.every((scope) => scopes.includes(scope));

const rotations = query<{ others: number }>(
  'api_key_count_rotations',
  `select count(*)::int as others from api_key maker
   join api_key k on k.account_id = maker.account_id and k.id <> maker.id and ${liveApiKey('k')}
     and coalesce(k.rotation_id, k.id) = coalesce(maker.rotation_id, maker.id)
   where maker.id = $1`,
);

/** Counts the valid keys with which a key has rotated itself, or that rotated themselves to it. */
export const rotationsStep = ({ kind, credentialId }: Principal) =>
  [rotations, [kind === 'api-key' ? credentialId : null]] as const;

/** Clients compute the end of a key by their own clock. */
const CLOCKS_MS = 5 * MINUTE_MS;

/**
 * Returns whether a key with equal rights only takes the place of the one that creates it, of which nobody has to be told:
 * it does not last longer than that one did from its beginning, and no other is left of those that rotated themselves.
 */
export function isRotation(
  { created_at: createdAt, expires_at: end }: Pick<LockedKey, 'created_at' | 'expires_at'>,
  { createdAt: now, expiresAt }: { readonly createdAt: Date; readonly expiresAt: Date | null },
  counted: { readonly others: number } | undefined,
): boolean {
  if ((counted?.others ?? 0) > 0) return false;
  if (end === null) return true;
  const lifetimeMs = Date.parse(end) - Date.parse(createdAt) + CLOCKS_MS;
  return expiresAt !== null && expiresAt.getTime() <= now.getTime() + lifetimeMs;
}
