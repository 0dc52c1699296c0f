import Provider, { errors } from 'oidc-provider';
import { record, recordNow, recordedCommand, runAndRecord } from '../events/record.ts';
import { revokeGrants } from '../transactions/revocation.ts';
import { transaction } from '../transactions/transaction.ts';
import { enforcedScopes, scopesIn } from '../auth/scopes.ts';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query } from '../db/query.ts';
import type { OAuthToken, Scope } from '../entities/index.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { withoutId, type Payload } from './payload.ts';
import { resourceOf } from './resource.ts';
import { RepeatedRefresh, repeatedAnswer } from './refresh-answers.ts';

// Waits for whoever ends the grant, and finds it ended then: a token never outlives its grant unseen.
const SAVE = `insert into oauth_token (token_hash, kind, grant_id, scopes, payload, thumbprint, created_at, expires_at)
   select $1, $2, g.id, $4, $5, $6, now(), now() + make_interval(secs => $7)
   from oauth_grant g
   where g.id = $3 and g.revoked_at is null and g.expires_at > now()
   for share of g
   returning kind`;
const save = command<{ kind: string }>('save_oauth_token', SAVE);
const saveAccessToken = recordedCommand<{ kind: string }>('save_access_token', SAVE, 'oauth_token.issued');
type TokenRow = {
  payload: Payload;
  expires: number;
  is_consumed: boolean;
  token_scopes: Scope[];
  grant_scopes: Scope[];
  team_id: string | null;
};

const find = query<TokenRow>(
  'find_oauth_token',
  `select t.payload, floor(extract(epoch from least(t.expires_at, g.expires_at)))::int as expires,
     t.consumed_at is not null as is_consumed, t.scopes as token_scopes, g.scopes as grant_scopes, g.team_id
   from oauth_token t
   join oauth_grant g on g.id = t.grant_id
   where t.token_hash = $1 and t.kind = $2`,
);
const consume = command<{ kind: string }>(
  'consume_oauth_token',
  `update oauth_token set consumed_at = now()
   where token_hash = $1 and kind = $2 and consumed_at is null
   returning kind`,
);
const grantOf = query<{ id: string; account_id: string; client_id: string }>(
  'grant_of_oauth_token',
  `select g.id, g.account_id, g.client_id
   from oauth_token t join oauth_grant g on g.id = t.grant_id where t.token_hash = $1`,
);
const remove = recordedCommand<{ kind: string }>(
  'delete_oauth_token',
  'delete from oauth_token where token_hash = $1 returning kind',
  'oauth_token.revoked',
);

/** Codes and tokens by their hashes. */
export function tokenStore(services: Services, kind: OAuthToken['kind']): Store {
  const { db } = services;

  return {
    async upsert(token, payload, expiresIn = 0) {
      const { grantId, scope = '', jkt = null } = payload;
      const values = [
        hashSecret(token),
        kind,
        grantId,
        scopesIn(scope),
        JSON.stringify(withoutId(payload)),
        jkt,
        expiresIn,
      ];
      const [saved] =
        kind === 'access'
          ? await runAndRecord(db, saveAccessToken, values, issued(payload))
          : await db.run(save, values);
      if (saved === undefined) throw new errors.InvalidGrant('grant was revoked');
    },
    async find(token) {
      const [row] = await db.query(find, [hashSecret(token), kind]);
      if (row === undefined) return undefined;
      // At the token endpoint `consume` alone decides, so that nothing happens between a look and the deed.
      const isConsumed = row.is_consumed && Provider.ctx?.oidc.route !== 'token';
      return {
        ...row.payload,
        jti: token,
        exp: row.expires,
        // As much as works, which is also as much as is told about it.
        scope: enforcedScopes(row.token_scopes, row.grant_scopes, row.team_id).join(' '),
        ...(isConsumed ? { consumed: true } : {}),
      };
    },
    async consume(token) {
      requireResource(resourceOf(services.config.baseUrl));
      const tokenHash = hashSecret(token);
      const [consumed] = await db.run(consume, [tokenHash, kind]);
      if (consumed === undefined) await refuseReuse(services, tokenHash, kind);
    },
    async destroy(token) {
      // The others end with their grant: until it has ended nobody should find them unknown.
      if (kind === 'access') {
        const tokenHash = hashSecret(token);
        const [grant] = await db.query(grantOf, [tokenHash]);
        if (grant === undefined) return;
        const ids = { grantId: grant.id, accountId: grant.account_id, clientId: grant.client_id };
        await runAndRecord(db, remove, [tokenHash], { ...ids, reason: 'revoked by the client' });
      }
    },
  };
}

const issued = ({ clientId, grantId, accountId, scope = '' }: Payload) => ({
  clientId,
  grantId,
  accountId: accountId ?? null,
  scopes: scopesIn(scope),
});

/** The engine looks when the code or token is consumed already; a request for another resource should use up nothing. */
function requireResource(resource: string): void {
  const asked = Provider.ctx?.oidc.params?.['resource'];
  if (asked !== undefined && asked !== resource) throw new errors.InvalidTarget();
}

/** A code or refresh token that comes a second time was stolen, once or the other time; the grant ends. */
async function refuseReuse(services: Services, tokenHash: Buffer, kind: OAuthToken['kind']): Promise<never> {
  const [row] = await services.db.query(grantOf, [tokenHash]);
  // Gone with its account or client.
  if (row === undefined) throw new errors.InvalidGrant(`${kind} not found`);
  const { id: grantId } = row;
  const ids = { grantId, clientId: Provider.ctx?.oidc.client?.clientId };
  if (kind === 'refresh' && services.config.oauth.refreshRepeat) {
    const answer = await repeatedAnswer(services, tokenHash);
    if (answer !== undefined) {
      await recordNow(services.db, 'oauth_token.repeated', ids);
      throw new RepeatedRefresh(answer);
    }
  }
  await transaction(services.db, async (tx) => {
    record(tx, 'oauth_token.reused', { ...ids, reason: kind });
    await revokeGrants(tx, { id: grantId }, `${kind} used twice`);
  });
  throw new errors.InvalidGrant(`${kind} was used already`);
}
