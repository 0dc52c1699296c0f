import { secretsOf } from '../../transactions/expire-secrets.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import { lockMany } from '../../transactions/locks.ts';
import { enqueueRemoval, lockClientGrants, removeClients } from '../../jobs/remove-client.ts';
import { notify, notifyOperators } from '../../jobs/notify.ts';
import { requireProofIf } from '../../transactions/require-proof.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import type { LockedAccount } from '../../transactions/lock-steps.ts';
import { readDeclared, requireDeclared } from '../permissions/declared-permissions.ts';
import { requireVerifiedEmail } from '../accounts/require-account.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { command, type Step } from '../../db/query.ts';
import { replacePermissions } from './client-permissions.service.ts';
import { toLogout, toOpenId, toSessionDays, toTokenLimit } from './client-settings.service.ts';
import { describeClientChange } from './client-change.ts';
import { requireAppUrls, requireRedirectUris, toRules } from './client-urls.ts';
import type { Config } from '../../config/config.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import type { Principal } from '../../auth/principal.ts';
import { sortProductPermissions } from '../../auth/permissions.ts';
import { sortScopes } from '../../auth/scopes.ts';
import type { Tokens } from '../../crypto/tokens.ts';
import { OAuthClient, OAuthClientSecret } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import type { ClientChange, NewClient, OperatorFields } from './oauth-clients.schema.ts';

const expireSecrets = secretsOf('oauth_client_secret', 'client_id');

/**
 * The account that owns the clients; an operator, whose clients are those of the instance; the command line, which can
 * change all of them without a limit.
 */
type Caller = Principal | OperatorCaller | 'system';

/** How many clients the operator can create over the API. */
const OPERATOR_CLIENTS_MAX = 100;

const isAccount = (caller: Caller): caller is Principal => caller !== 'system' && !('operator' in caller);

const lockOwnerOfClient = lockRows(
  'account',
  'account_lock_owner_of_client',
  'select id from account where id = (select account_id from oauth_client where id = $1)',
);

type Locks = { readonly isShared: boolean; readonly first?: readonly Step[] };
type Opened = Change & { readonly account: LockedAccount | null };

const changeClients = <R>(
  db: TransactionScope,
  caller: Caller,
  { isShared, first = [] }: Locks,
  work: (opened: Opened) => Promise<R>,
): Promise<R> =>
  isAccount(caller)
    ? change(db, caller, { on: { account: caller.accountId, isShared }, requires: 'self' }, work)
    : change(db, caller, { on: 'installation', requires: 'operator', first }, work);

/** Creates a client, with a secret if it is confidential. */
export async function createClient(
  { config, db, tokens }: Services,
  caller: Caller,
  { firstPartyScopes, isDevelopment = false, homeUrl = null, initiateLoginUri = null, ...rest }: NewClient,
): Promise<{ clientId: string; clientSecret: string | null }> {
  const { name, redirectUris, isNative, isConfidential, permissions = [] } = rest;
  const isFirstParty = firstPartyScopes !== undefined;
  const settings = toSettings(config, { isNative, isDevelopment, isFirstParty, isConfidential }, rest);
  if (isNative && isConfidential) {
    // A secret that is installed on many devices is not confidential (RFC 8252, section 8.5).
    throw invalidInput('/isConfidential', 'Native clients cannot have a secret.');
  }
  if (isAccount(caller) && (firstPartyScopes !== undefined || isDevelopment || homeUrl !== null || initiateLoginUri))
    throw new TypeError('only the operator sets these');
  requireRedirectUris(redirectUris, toRules(config, { isNative, isDevelopment }));
  requireAppUrls(config, { isDevelopment }, { homeUrl, initiateLoginUri });
  return changeClients(db, caller, { isShared: false }, async (opened) => {
    const { account, record } = opened;
    const declared = await readDeclared(opened, permissions);
    requireDeclared(declared, permissions, { held: [], pointer: '/permissions' });
    if (account !== null) {
      // The owner of the email address must not find clients whose secrets someone else knows.
      requireVerifiedEmail(account);
      await requireRoom(opened, account.id, config.oauth.clientsPerAccount);
    } else if (caller !== 'system') {
      await requireRoomOfOperator(opened);
    }
    const client = opened.em.create(OAuthClient, {
      source: account === null ? 'operator' : 'account',
      account: account?.id ?? null,
      name,
      redirectUris,
      isNative,
      isConfidential,
      isFirstParty,
      scopes: firstPartyScopes === undefined ? null : sortScopes(firstPartyScopes),
      isDevelopment,
      homeUrl,
      initiateLoginUri,
      postLogoutRedirectUris: settings.postLogoutRedirectUris ?? [],
      backchannelLogoutUri: settings.backchannelLogoutUri ?? null,
      openidScopes: settings.openidScopes ?? null,
      sessionDays: settings.sessionDays ?? null,
      hasTokenLimit: settings.hasTokenLimit ?? false,
      productPermissions: sortProductPermissions(permissions),
      metadata: {},
    });
    const clientSecret = isConfidential ? createSecret(opened, tokens, client) : null;
    const reason = firstPartyScopes === undefined ? {} : { reason: 'first-party' };
    record('oauth_client.created', { accountId: account?.id ?? null, clientId: client.id, ...reason });
    await notifyOf(opened, client, 'oauth_client_created');
    return { clientId: client.id, clientSecret };
  });
}

/** Changes the given fields. Existing grants stay valid; requests for a removed redirect URI get no code any more. */
export async function updateClient(
  { config, db }: Services,
  caller: Caller,
  clientId: string,
  { name, redirectUris, firstPartyScopes, homeUrl, initiateLoginUri, permissions, ...settings }: ClientChange,
): Promise<void> {
  await changeClients(db, caller, { isShared: true }, async (opened) => {
    const { record } = opened;
    const declared = await readDeclared(opened, permissions ?? []);
    const client = await lockClient(opened, caller, clientId);
    const isOwners = [name, redirectUris, homeUrl, initiateLoginUri].some((field) => field !== undefined);
    if (caller === 'system' && client.source !== 'operator' && isOwners) throw new ProblemError('client_not_found');
    const before = { name: client.name, redirectUris: client.redirectUris };
    const isWidened = redirectUris?.some((uri) => !client.redirectUris.includes(uri)) === true;
    if (redirectUris !== undefined) {
      requireRedirectUris(redirectUris, toRules(config, client));
      if (isAccount(caller)) await requireProofIf(isWidened, opened, caller);
    }
    requireAppUrls(config, client, { homeUrl, initiateLoginUri });
    if (firstPartyScopes !== undefined && !client.isFirstParty)
      throw invalidInput('/scopes', 'Users of a client that is not first-party choose its scopes.');
    const scopes = firstPartyScopes && sortScopes(firstPartyScopes);
    const isGivenScopes = scopes?.some((scope) => client.scopes?.includes(scope) !== true) === true;
    const isLonger = (settings.sessionDays ?? 0) > (client.sessionDays ?? 0);
    const also = assignChanged(client, { scopes, homeUrl, initiateLoginUri, ...toSettings(config, client, settings) });
    const isGivenPermissions = permissions?.some((one) => !client.productPermissions.includes(one)) === true;
    if (permissions !== undefined && (await replacePermissions(opened, client, permissions, declared)))
      also.push('permissions');
    assignChanged(client, { name, redirectUris });
    if (isWidened || isGivenScopes || isGivenPermissions || isLonger)
      await notifyOf(opened, client, 'oauth_client_changed');
    const changes = describeClientChange(before, client, also);
    const accountId = client.account?.id ?? null;
    if (changes !== null) record('oauth_client.updated', { accountId, clientId, ...changes });
  });
}

/** Creates a new secret. The one before stays valid for the overlap; older ones are deleted. */
export async function rotateSecret(
  { db, tokens }: Services,
  caller: Caller,
  clientId: string,
  overlapHours: number,
): Promise<string> {
  return changeClients(db, caller, { isShared: true }, async (tx) => {
    // Under the lock of the client, so that concurrent rotations see each other's secrets.
    const client = await lockClient(tx, caller, clientId);
    if (!client.isConfidential) {
      throw invalidInput('/clientId', 'Public clients have no secret.');
    }
    expireSecrets(tx, client.id, overlapHours);
    tx.record('oauth_client.secret_rotated', { accountId: client.account?.id ?? null, clientId });
    await notifyOf(tx, client, 'oauth_client_rotated');
    return createSecret(tx, tokens, client);
  });
}

/** Deletes a client with its grants. A client with very many loses all access at once, and its rows later by a job. */
export async function deleteClient(db: TransactionScope, caller: Caller, clientId: string): Promise<void> {
  // The account comes first, because deleting it deletes its clients and its grants.
  const first = caller === 'system' ? ([[lockOwnerOfClient, [clientId]]] as const) : [];
  await changeClients(db, caller, { isShared: false, first }, async (tx) => {
    const { account } = await lockClient(tx, caller, clientId);
    await enqueueRemoval(tx, await removeClients(tx, await lockClientGrants(tx, [clientId])));
    tx.record('oauth_client.deleted', { accountId: account?.id ?? null, clientId });
  });
}

/** Locks a client of the caller. @throws client_not_found also for those of others */
async function lockClient(tx: Change, caller: Caller, clientId: string): Promise<OAuthClient> {
  const [client] = await lockMany(tx, 'oauth_client', {
    id: clientId,
    deletedAt: null,
    ...(isAccount(caller) ? { account: caller.accountId } : caller !== 'system' && { source: 'operator' as const }),
  });
  if (client === undefined) throw new ProblemError('client_not_found');
  return client;
}

type ClientNotice = 'oauth_client_created' | 'oauth_client_changed' | 'oauth_client_rotated';

/** Notifies the account that owns a client; of those of the instance, its operators. */
async function notifyOf(tx: Change, { account, name }: OAuthClient, kind: ClientNotice): Promise<void> {
  if (account) await notify(tx, account.id, { kind, thing: name });
  else await notifyOperators(tx, { kind: 'operator_client_changed', thing: name });
}

function createSecret(tx: Change, tokens: Tokens, client: OAuthClient): string {
  const { secret, hash, last4 } = tokens.generate('clientSecret');
  tx.em.create(OAuthClientSecret, { secretHash: hash, client, last4 });
  return secret;
}

async function requireRoom(tx: Change, accountId: string, limit: number): Promise<void> {
  const count = await tx.em.count(OAuthClient, { account: accountId });
  if (count >= limit)
    throw new ProblemError('client_limit_reached', `The account has ${count} clients. The limit is ${limit}.`);
}

const lockOperatorClients = command<object>('oauth_client_lock_operator', 'select from pg_advisory_xact_lock($1)');

/** Counts under a lock of its own, because these clients have no common row. */
async function requireRoomOfOperator(tx: Change): Promise<void> {
  await tx.run([[lockOperatorClients, [ADVISORY_LOCKS.operatorClients]]]);
  const count = await tx.em.count(OAuthClient, { source: 'operator', deletedAt: null });
  if (count >= OPERATOR_CLIENTS_MAX)
    throw new ProblemError('client_limit_reached', `There are ${count} clients. The limit is ${OPERATOR_CLIENTS_MAX}.`);
}

/** Returns the given settings of logout and OpenID Connect as they are stored. @throws validation_failed */
const toSettings = (
  config: Config,
  client: Pick<OAuthClient, 'isNative' | 'isDevelopment' | 'isFirstParty' | 'isConfidential'>,
  given: OperatorFields,
): ReturnType<typeof toLogout> => ({
  ...toLogout(config, client, given),
  ...(given.openidScopes !== undefined && toOpenId(client, given.openidScopes ?? [])),
  ...(given.sessionDays !== undefined && toSessionDays(client, given.sessionDays)),
  ...(given.hasTokenLimit !== undefined && toTokenLimit(client, given.hasTokenLimit)),
});
