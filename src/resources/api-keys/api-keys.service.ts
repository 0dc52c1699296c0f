import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventFields } from '../../events/event.ts';
import { record } from '../../events/record.ts';
import { lockMany, lockOne } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { lockCaller } from '../../transactions/with-account.ts';
import type { Principal } from '../../auth/principal.ts';
import { sortScopes, isAccountOnly } from '../../auth/scopes.ts';
import type { ApiKey, OAuthGrant, Scope } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';

/** Replaces the scopes of an API key that the account created. */
export async function updateApiKey(
  db: TransactionScope,
  caller: Principal,
  keyId: string,
  scopes: readonly Scope[],
): Promise<ApiKey> {
  return transaction(db, async (tx) => {
    await lockCaller(tx, caller, 'share');
    if (caller.kind !== 'api-key') await lockCallerScopes(tx, caller); // sessions and grants are locked before keys
    const grant = await lockGrantOfKey(tx, keyId, caller.accountId);
    // Also the calling key, so that two keys that change each other are locked in the same order.
    const ids = [caller.credentialId, keyId];
    const keys = await lockMany(tx, 'api_key', { id: { $in: ids }, account: caller.accountId });
    const key = keys.find(({ id, revokedAt }) => id === keyId && !revokedAt);
    if (key === undefined) throw new ProblemError('api_key_not_found');
    requireForKind(scopes, Boolean(key.team));
    requireHeld(await lockCallerScopes(tx, caller), scopes, 'The calling credential');
    if (grant !== null) requireHeld(grant.scopes, scopes, 'The grant that the key was created through');
    key.scopes = sortScopes(scopes);
    record(tx, 'api_key.updated', { ...toEventFields(key), scopes: key.scopes });
    return key;
  });
}

/** Returns what events say about a key. Only keys of teams are named: personal ones are data of their owner. */
export const toEventFields = ({ id, name, team }: ApiKey): EventFields => ({
  keyId: id,
  teamId: team?.id ?? null,
  ...(team && { name }),
});

/** Requires scopes that a key can have: a team key none that is account-only. The detail names the others. */
export function requireForKind(scopes: readonly Scope[], isTeamKey: boolean): void {
  const accountOnly = isTeamKey ? sortScopes(scopes).filter(isAccountOnly) : [];
  if (accountOnly.length > 0) {
    throw new ProblemError('scope_account_only', `A team key cannot hold ${accountOnly.join(', ')}.`);
  }
}

/** Requires scopes that are held. The detail names the others. */
export function requireHeld(held: readonly Scope[], scopes: readonly Scope[], holder: string): void {
  const beyond = sortScopes(scopes).filter((scope) => !held.includes(scope));
  if (beyond.length > 0) throw new ProblemError('scope_not_allowed', `${holder} does not hold ${beyond.join(', ')}.`);
}

/** Locks the grant that a key was created through: the key depends on it, also when another member changes the scopes of the key. */
async function lockGrantOfKey(tx: EntityManager, keyId: string, accountId: string): Promise<OAuthGrant | null> {
  const [key] = await tx.execute<{ grant_id: string | null }[]>(
    'select oauth_grant_id as grant_id from api_key where id = ? and account_id = ?',
    [keyId, accountId],
  );
  return key?.grant_id ? lockOne(tx, 'oauth_grant', key.grant_id, 'share') : null;
}

/**
 * Locks the caller's scopes until the commit, so that a credential that is being revoked or reduced cannot create a
 * key with its former scopes.
 */
export async function lockCallerScopes(
  tx: EntityManager,
  { kind, credentialId, scopes }: Principal,
): Promise<readonly Scope[]> {
  const caller = await lockOne(tx, TABLES[kind], credentialId, 'share');
  if (caller === null || caller.revokedAt) throw new ProblemError('credential_invalid');
  if (!('scopes' in caller)) return scopes;
  // A token can hold less than its grant.
  return caller.scopes.filter((scope) => kind === 'api-key' || scopes.includes(scope));
}

const TABLES = { 'api-key': 'api_key', 'oauth-grant': 'oauth_grant', session: 'session' } as const;
