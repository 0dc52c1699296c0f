import Provider, { errors } from 'oidc-provider';
import { recordNow } from '../transactions/record-now.ts';
import { runAndRecord } from '../events/record.ts';
import { endTokenFamily } from '../resources/oauth-grants/token-family.ts';
import { change } from '../transactions/change.ts';
import { findResource } from '../auth/resource.ts';
import { enforcedScopes, parseScopes } from '../auth/scopes.ts';
import { hashSecret } from '../crypto/tokens.ts';
import type { OAuthToken } from '../entities/index.ts';
import type { Services } from '../service/services.ts';
import { exchangeCode } from '../resources/oauth-grants/exchange.service.ts';
import type { Store } from './store.ts';
import { removeId, toExp, type Payload } from './payload.ts';
import { getActiveTeam, keepActiveTeam, prepareActiveTeam } from './active-team.ts';
import { RepeatedRefresh, findRefreshAnswer } from './refresh-answers.ts';
import * as statements from './token-statements.ts';

type Kind = OAuthToken['kind'];

/** Creates the store of codes or tokens. Rows are found by the hash of the token. */
export function createTokenStore(services: Services, kind: Kind): Store {
  const { db } = services;

  return {
    async upsert(token, payload, expiresIn = 0) {
      const saved = await save(services, kind, hashSecret(token), payload, expiresIn);
      if (!saved) throw new errors.InvalidGrant('grant was revoked');
    },
    async find(token) {
      const [row] = await db.query(statements.findToken, [hashSecret(token), kind]);
      if (row === undefined) return undefined;
      if (row.grant_id !== null) rememberGrant(row.grant_id);
      if (
        row.session_id !== null &&
        row.family_id !== null &&
        kind !== 'access' &&
        Provider.ctx?.oidc.route === 'token'
      )
        await prepareActiveTeam(db, row.family_id, kind === 'refresh');
      if (row.has_openid && Provider.ctx !== undefined) openIdRequests.add(Provider.ctx);
      // At the token endpoint only `consume` decides, so that nothing can happen between the check and the change.
      const isConsumed = row.is_consumed && Provider.ctx?.oidc.route !== 'token';
      return {
        ...row.payload,
        jti: token,
        grantId: row.family_id ?? (await adoptTokens(services, row.grant_id)),
        exp: toExp(row.seconds_left),
        // The session of a first-party client, by which `provider.ts` knows its tokens.
        ...(row.session_id === null ? {} : { sid: row.session_id }),
        // The scopes that are enforced, which are also those that introspection reports.
        scope: enforcedScopes(row.token_scopes, row.grant_scopes, row.team_id).join(' '),
        ...(isConsumed ? { consumed: true } : {}),
      };
    },
    async consume(token) {
      const tokenHash = hashSecret(token);
      const isConsumed = kind === 'code' ? await consumeCode(services, tokenHash) : await consume(services, tokenHash);
      if (!isConsumed) await rejectReuse(services, tokenHash, kind);
    },
    async destroy(token) {
      // Codes and refresh tokens are deleted with their family; until then they must not become unknown.
      if (kind !== 'access') return;
      const tokenHash = hashSecret(token);
      const [owner] = await db.query(statements.findOwner, [tokenHash]);
      if (owner === undefined) return;
      const ids = { grantId: owner.grant_id ?? undefined, accountId: owner.account_id, clientId: owner.client_id };
      await runAndRecord(db, statements.deleteToken, [tokenHash], { ...ids, reason: 'revoked by the client' });
    },
  };
}

async function save(
  { db }: Services,
  kind: Kind,
  tokenHash: Buffer,
  payload: Payload,
  expiresIn: number,
): Promise<boolean> {
  const { accountId = null, clientId, grantId: familyId, scope = '', jkt = null } = payload;
  const scopes = parseScopes(scope);
  const stored = JSON.stringify(removeId(payload));
  if (kind === 'code') {
    const rows = await db.run(statements.saveCode, [tokenHash, familyId, scopes, stored, expiresIn]);
    return rows.length > 0;
  }
  const { AuthorizationCode, RotatedRefreshToken, RefreshToken } = Provider.ctx?.oidc.entities ?? {};
  const parent = AuthorizationCode?.jti ?? RotatedRefreshToken?.jti ?? RefreshToken?.jti ?? '';
  const team = kind === 'access' ? getActiveTeam() : null;
  const values = [tokenHash, kind, hashSecret(parent), scopes, stored, jkt, expiresIn, team];
  const rows =
    kind === 'access'
      ? await runAndRecord(db, statements.saveAccessToken, values, {
          grantId: getRememberedGrant(),
          accountId,
          clientId,
          scopes,
        })
      : await db.run(statements.saveRefreshToken, values);
  if (kind === 'access' && rows.length > 0 && familyId !== undefined) await keepActiveTeam(db, familyId);
  return rows.length > 0;
}

/** The grant behind the code or refresh token of a request, for the events of the tokens that it gets. */
const grantsOfRequests = new WeakMap<object, string>();

function rememberGrant(grantId: string): void {
  if (Provider.ctx !== undefined) grantsOfRequests.set(Provider.ctx, grantId);
}

/** Token requests with a code or refresh token that was authorized for `openid`. */
const openIdRequests = new WeakSet<object>();

/** Whether the answer to a token request has an id token. */
export const isOfOpenId = (ctx: object): boolean => openIdRequests.has(ctx);

const getRememberedGrant = (): string | undefined => Provider.ctx && grantsOfRequests.get(Provider.ctx);

async function adoptTokens({ db }: Services, grantId: string | null): Promise<string | undefined> {
  const [adopted] = await db.run(statements.adoptTokens, [grantId]);
  return adopted?.family_id;
}

/** Returns the resource of a token request. @returns undefined if the request names none. @throws InvalidTarget if it is unknown */
function parseRequestedResource({ config }: Services) {
  const uri = Provider.ctx?.oidc.params?.['resource'];
  if (uri === undefined) return undefined;
  const resource = findResource(config.baseUrl, uri);
  if (resource === undefined) throw new errors.InvalidTarget();
  return resource;
}

async function consumeCode(services: Services, tokenHash: Buffer): Promise<boolean> {
  // oidc-provider has compared it with that of the code, but not with those that the client has now.
  const { client, params } = Provider.ctx?.oidc ?? {};
  if (client?.redirectUriAllowed(String(params?.['redirect_uri'])) !== true)
    throw new errors.InvalidGrant('the client no longer has the redirect_uri');
  const exchange = await exchangeCode(services.db, tokenHash, parseRequestedResource(services));
  if (exchange.outcome === 'exchanged') {
    rememberGrant(exchange.grantId);
    return true;
  }
  if (exchange.outcome === 'other_resource') throw new errors.InvalidTarget();
  if (exchange.outcome === 'unknown') throw new errors.InvalidGrant('grant was revoked');
  return false;
}

/** oidc-provider checks the resource after the consumption; a request for another one must not consume the token. */
async function consume(services: Services, tokenHash: Buffer): Promise<boolean> {
  const resource = parseRequestedResource(services);
  const { RefreshToken } = Provider.ctx?.oidc.entities ?? {};
  if (resource !== undefined && findResource(services.config.baseUrl, RefreshToken?.resource) !== resource) {
    throw new errors.InvalidTarget();
  }
  const rows = await services.db.run(statements.consumeRefreshToken, [tokenHash]);
  return rows.length > 0;
}

/**
 * Revokes the family of a code or refresh token that is used a second time, because one of the two uses is by an
 * attacker. A refresh that is repeated within `OAUTH_REFRESH_REPEAT` seconds gets its first answer instead.
 */
async function rejectReuse(services: Services, tokenHash: Buffer, kind: Kind): Promise<never> {
  const [row] = await services.db.query(statements.findOwner, [tokenHash]);
  // Deleted with its account, client or family.
  if (!row?.family_id) throw new errors.InvalidGrant(`${kind} not found`);
  const { family_id: familyId, grant_id: grantId, account_id: accountId } = row;
  const ids = { grantId: grantId ?? undefined, accountId, clientId: Provider.ctx?.oidc.client?.clientId };
  if (kind === 'refresh' && services.config.oauth.refreshRepeatSeconds > 0) {
    const answer = await findRefreshAnswer(services, tokenHash);
    if (answer !== undefined) {
      await recordNow(services.db, 'oauth_token.repeated', ids);
      throw new RepeatedRefresh(answer);
    }
  }
  await change(services.db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
    tx.record('oauth_token.reused', { ...ids, reason: kind });
    await endTokenFamily(tx, familyId, `${kind} used twice`);
  });
  throw new errors.InvalidGrant(`${kind} was already used`);
}
