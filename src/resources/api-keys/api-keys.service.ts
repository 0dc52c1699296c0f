import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventFields } from '../../events/event.ts';
import { record } from '../../events/record.ts';
import { lockMany, lockOne } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { lockAccount, lockCaller, requireVerifiedEmail } from '../../transactions/with-account.ts';
import { lockMember, lockTeam, lockTeamFor } from '../../transactions/with-team.ts';
import { isPast } from '../../auth/active-membership.ts';
import type { Principal } from '../../auth/principal.ts';
import { sortScopes, isAccountOnly } from '../../auth/scopes.ts';
import type { Tokens } from '../../crypto/tokens.ts';
import { ApiKey, ApiKeySecret, Team, type OAuthGrant, type Scope } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { notify } from '../../jobs/notify.ts';

export type NewApiKey = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly teamId?: string | undefined;
  readonly expiresAt: Date | null;
};

/** The caller and the limit of active keys; undefined for the operator: no limit applies. */
type Bounds = { readonly caller: Principal; readonly keyLimit: number } | undefined;

/** Creates an API key. @param bounds checks the caller's scopes and permission and the limit; undefined for the operator */
export async function createApiKey(
  db: TransactionScope,
  tokens: Tokens,
  accountId: string,
  input: NewApiKey,
  bounds: Bounds,
) {
  return transaction(db, async (tx) => {
    await lockOwner(tx, accountId, input.teamId, bounds?.caller);
    const origin = bounds === undefined ? null : await lockOrigin(tx, bounds.caller);
    await requireScopes(tx, input.scopes, input.teamId !== undefined, bounds?.caller);
    if (bounds !== undefined) await requireRoom(tx, accountId, input.teamId, bounds.keyLimit);

    const { secret, hash, keyPrefix, last4 } = tokens.generate(input.teamId === undefined ? 'personalKey' : 'teamKey');
    const key = tx.create(ApiKey, {
      account: accountId,
      oauthGrant: origin?.grantId ?? null,
      oauthFamily: origin?.familyId ?? null,
      team: input.teamId === undefined ? null : tx.getReference(Team, input.teamId),
      name: input.name,
      scopes: sortScopes(input.scopes),
      keyPrefix,
      last4,
      expiresAt: earlier(input.expiresAt, origin?.expiresAt ?? null),
    });
    tx.create(ApiKeySecret, { secretHash: hash, apiKey: key });
    record(tx, 'api_key.created', { ...toEventFields(key), accountId, scopes: key.scopes });
    await tx.flush();
    if (bounds?.caller.kind === 'session') await notify(tx, accountId, { kind: 'api_key_created' });
    return { key, secret };
  });
}

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
    await requireScopes(tx, scopes, Boolean(key.team), caller);
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

/** Locks the row that the keys are counted under. For a team key, checks the membership that it depends on. */
async function lockOwner(
  tx: EntityManager,
  accountId: string,
  teamId: string | undefined,
  caller: Principal | undefined,
): Promise<void> {
  if (teamId === undefined) {
    const account = caller === undefined ? await lockAccount(tx, accountId) : await lockCaller(tx, caller);
    if (caller !== undefined && account.createdBy !== 'operator') requireVerifiedEmail(account);
  } else if (caller === undefined) {
    await lockTeam(tx, teamId);
    // Whatever its status: the key works while the membership is active.
    if ((await lockMember(tx, teamId, accountId)) === null) throw new ProblemError('team_not_found');
  } else {
    await lockTeamFor(tx, { teamId, accountId, credential: caller }, 'manage_api_keys');
  }
}

/** The grant and token family that a key is created through. It cannot outlive them. */
type KeyOrigin = { readonly grantId: string; readonly familyId: string | null; readonly expiresAt: Date };

/**
 * Locks the grant and the token family behind the caller: of an access token, or of an API key that was itself
 * created through a grant. Neither can be revoked or narrowed until the new key is committed.
 */
async function lockOrigin(tx: EntityManager, caller: Principal): Promise<KeyOrigin | null> {
  const { grantId, familyId } = await findOrigin(tx, caller);
  if (grantId === null) return null;
  const grant = await lockOne(tx, 'oauth_grant', grantId, 'share');
  if (grant === null || grant.revokedAt || isPast(grant.expiresAt)) throw new ProblemError('credential_invalid');
  if (familyId !== null && (await lockOne(tx, 'oauth_token_family', familyId, 'share')) === null)
    throw new ProblemError('credential_invalid');
  return { grantId, familyId, expiresAt: grant.expiresAt };
}

async function findOrigin(tx: EntityManager, { kind, credentialId, tokenFamilyId = null }: Principal) {
  if (kind === 'session') return { grantId: null, familyId: null };
  if (kind === 'oauth-grant') return { grantId: credentialId, familyId: tokenFamilyId };
  const [key] = await tx.execute<{ grant_id: string | null; family_id: string | null }[]>(
    'select oauth_grant_id as grant_id, oauth_family_id as family_id from api_key where id = ?',
    [credentialId],
  );
  return { grantId: key?.grant_id ?? null, familyId: key?.family_id ?? null };
}

const earlier = (a: Date | null, b: Date | null): Date | null => (a !== null && b !== null && b < a ? b : (a ?? b));

/** Requires scopes that the caller holds and, for a team key, none that is account-only. The detail names the others. */
async function requireScopes(
  tx: EntityManager,
  scopes: readonly Scope[],
  isTeamKey: boolean,
  caller: Principal | undefined,
) {
  const accountOnly = isTeamKey ? sortScopes(scopes).filter(isAccountOnly) : [];
  if (accountOnly.length > 0) {
    throw new ProblemError('scope_account_only', `A team key cannot hold ${accountOnly.join(', ')}.`);
  }
  if (caller === undefined) return;
  requireHeld(await lockCallerScopes(tx, caller), scopes, 'The calling credential');
}

function requireHeld(held: readonly Scope[], scopes: readonly Scope[], holder: string): void {
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

async function requireRoom(
  tx: EntityManager,
  accountId: string,
  teamId: string | undefined,
  keyLimit: number,
): Promise<void> {
  const owner = teamId === undefined ? { account: accountId, team: null } : { team: teamId };
  const active = await tx.count(ApiKey, { ...owner, revokedAt: null });
  if (active >= keyLimit)
    throw new ProblemError('key_limit_reached', `There are ${active} active keys; the limit is ${keyLimit}.`);
}
