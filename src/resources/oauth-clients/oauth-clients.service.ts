import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockMany } from '../../transactions/locks.ts';
import { lockClientGrants, removeClients } from '../../transactions/remove-clients.ts';
import { enqueueRemoval } from '../../jobs/remove-client.ts';
import { transaction } from '../../transactions/transaction.ts';
import { lockAccount, lockCaller, requireVerifiedEmail } from '../../transactions/with-account.ts';
import { findRedirectUriFault, type RedirectRules } from './redirect-uri.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Tokens } from '../../crypto/tokens.ts';
import { OAuthClient, OAuthClientSecret } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { ClientChange, NewClient } from './oauth-clients.schema.ts';
import { HOUR_MS } from '../../time.ts';

/** The caller, who owns the clients; undefined for the operator: ownership and the limit do not apply. */
type Caller = Principal | undefined;

/** Creates a client, with a secret if it is confidential. */
export async function createClient(
  { config, db, tokens }: Services,
  caller: Caller,
  { name, redirectUris, isNative, isConfidential }: NewClient,
): Promise<{ clientId: string; clientSecret: string | null }> {
  if (isNative && isConfidential) {
    // A secret that is installed on many devices is not confidential (RFC 8252, section 8.5).
    throw invalidInput('/isConfidential', 'Native clients cannot have a secret.');
  }
  requireRedirectUris(redirectUris, { isNative, redirectSchemes: config.oauth.redirectSchemes });
  return transaction(db, async (tx) => {
    const account = caller === undefined ? null : await lockCaller(tx, caller);
    if (account !== null) {
      // The owner of the email address must not find clients whose secrets someone else knows.
      requireVerifiedEmail(account);
      await requireRoom(tx, account.id, config.oauth.clientsPerAccount);
    }
    const source = account === null ? 'operator' : 'account';
    const client = tx.create(OAuthClient, {
      source,
      account,
      name,
      redirectUris,
      isNative,
      isConfidential,
      metadata: {},
    });
    const clientSecret = isConfidential ? createSecret(tx, tokens, client) : null;
    record(tx, 'oauth_client.created', { accountId: account?.id ?? null, clientId: client.id });
    await tx.flush();
    return { clientId: client.id, clientSecret };
  });
}

/** Changes the given fields. Existing grants stay valid. */
export async function updateClient(
  { config, db }: Services,
  caller: Principal,
  clientId: string,
  { name, redirectUris }: ClientChange,
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockCaller(tx, caller, 'share');
    const client = await lockClient(tx, caller, clientId);
    if (redirectUris !== undefined) {
      requireRedirectUris(redirectUris, {
        isNative: client.isNative,
        redirectSchemes: config.oauth.redirectSchemes,
      });
      client.redirectUris = redirectUris;
    }
    if (name !== undefined) client.name = name;
    record(tx, 'oauth_client.updated', { accountId: caller.accountId, clientId });
  });
}

/** Creates a new secret. The one before stays valid for the overlap; older ones are deleted. */
export async function rotateSecret(
  { db, tokens }: Services,
  caller: Caller,
  clientId: string,
  overlapHours: number,
): Promise<string> {
  return transaction(db, async (tx) => {
    if (caller !== undefined) await lockCaller(tx, caller, 'share');
    // Under the lock of the client, so that concurrent rotations see each other's secrets.
    const client = await lockClient(tx, caller, clientId);
    if (!client.isConfidential) {
      throw invalidInput('/clientId', 'Public clients have no secret.');
    }
    await tx.nativeDelete(OAuthClientSecret, {
      client: client.id,
      ...(overlapHours > 0 && { expiresAt: { $ne: null } }),
    });
    const expiresAt = new Date(Date.now() + overlapHours * HOUR_MS);
    await tx.nativeUpdate(OAuthClientSecret, { client: client.id }, { expiresAt });
    record(tx, 'oauth_client.secret_rotated', { accountId: client.account?.id ?? null, clientId });
    return createSecret(tx, tokens, client);
  });
}

/** Deletes a client with its grants. A client with very many loses all access at once, and its rows later by a job. */
export async function deleteClient({ db }: Services, caller: Caller, clientId: string): Promise<void> {
  await transaction(db, async (tx) => {
    // The account comes first, because deleting it deletes its clients and its grants.
    if (caller !== undefined) await lockCaller(tx, caller);
    else await lockOwner(tx, clientId);
    const { account } = await lockClient(tx, caller, clientId);
    await enqueueRemoval(tx, await removeClients(tx, await lockClientGrants(tx, [clientId])));
    record(tx, 'oauth_client.deleted', { accountId: account?.id ?? null, clientId });
  });
}

/** Locks a client of the caller. @throws client_not_found also for those of other accounts */
async function lockClient(tx: EntityManager, caller: Caller, clientId: string): Promise<OAuthClient> {
  const [client] = await lockMany(tx, 'oauth_client', {
    id: clientId,
    deletedAt: null,
    ...(caller && { account: caller.accountId }),
  });
  if (client === undefined) throw new ProblemError('client_not_found');
  return client;
}

async function lockOwner(tx: EntityManager, clientId: string): Promise<void> {
  const [row] = await tx.execute<{ account_id: string | null }[]>('select account_id from oauth_client where id = ?', [
    clientId,
  ]);
  if (row?.account_id) await lockAccount(tx, row.account_id);
}

function createSecret(tx: EntityManager, tokens: Tokens, client: OAuthClient): string {
  const { secret, hash, last4 } = tokens.generate('clientSecret');
  tx.create(OAuthClientSecret, { secretHash: hash, client, last4 });
  return secret;
}

async function requireRoom(tx: EntityManager, accountId: string, limit: number): Promise<void> {
  const count = await tx.count(OAuthClient, { account: accountId });
  if (count >= limit)
    throw new ProblemError('client_limit_reached', `The account has ${count} clients. The limit is ${limit}.`);
}

function requireRedirectUris(uris: readonly string[], rules: RedirectRules): void {
  const details: string[] = [];
  const errors = uris.flatMap((uri, i) => {
    const found = uris.indexOf(uri) < i ? REPEATED : findRedirectUriFault(uri, rules);
    if (found === undefined) return [];
    const { detail, ...fault } = found;
    details.push(`The redirect URI ${uri.slice(0, 200)} ${detail}`);
    return [{ in: 'body' as const, pointer: `/redirectUris/${i}`, ...fault }];
  });
  if (errors.length > 0) throw new ProblemError('validation_failed', details[0], { errors });
}

const REPEATED = { code: 'invalid_value' as const, detail: 'is listed twice.' };
