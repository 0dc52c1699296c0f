import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import Provider, { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query } from '../db/query.ts';
import { getRequestedTeam } from './active-team.ts';
import type { Services } from '../service/services.ts';

/** How long a repeated refresh waits for the answer of a concurrent one. */
const ANSWER_SECONDS = 2;
const POLL_MS = 20;

// The token can have been deleted concurrently, with its account or family.
const saveAnswer = command<never>(
  'oauth_refresh_answer_insert',
  `insert into oauth_refresh_answer (token_hash, answer, successors, created_at)
   select t.token_hash, $2, $3, now() from oauth_token t where t.token_hash = $1 for key share of t
   on conflict (token_hash) do nothing`,
);

const findAnswer = query<{ answer: string | null; is_coming: boolean }>(
  'oauth_refresh_answer_find',
  `select r.answer, t.consumed_at > now() - make_interval(secs => ${ANSWER_SECONDS}) as is_coming
   from oauth_token t
   join oauth_grant g on g.id = t.grant_id
   left join oauth_refresh_answer r on r.token_hash = t.token_hash
   where t.token_hash = $1
     and t.consumed_at > now() - make_interval(secs => $2)
     and g.revoked_at is null and g.expires_at > now()
     and (g.narrowed_at is null or g.narrowed_at < t.consumed_at)
     and (r.token_hash is null or cardinality(r.successors) = (
       select count(*) from oauth_token s
       where s.token_hash = any(r.successors) and s.used_at is null and s.consumed_at is null))`,
);

/** What a request asks for by `scope` and `resource`. */
type Asked = readonly [scope: unknown, resource: unknown];

/** An answer, and the parameters of its request. */
type Answer = {
  /** `Asked` as JSON. */
  readonly asked: string;
  /** What the refresh token gives to a request that asks for nothing. Earlier versions did not store it. */
  readonly granted?: Asked;
  readonly team?: string | undefined;
  readonly body: unknown;
};

/** A repeated refresh, by a client that lost the answer or refreshes concurrently. It gets the first answer. */
export class RepeatedRefresh extends errors.InvalidGrant {
  readonly body: unknown;

  constructor(body: unknown) {
    super('refresh was repeated');
    this.body = body;
  }
}

/** Stores the encrypted answer of a refresh for a repetition. If that fails, the client still gets its answer. */
export async function storeRefreshAnswer({ db, encryption }: Services, ctx: KoaContextWithOIDC): Promise<void> {
  const { jti: consumed, scope, resource } = ctx.oidc.entities.RotatedRefreshToken ?? {};
  if (consumed === undefined || ctx.status !== 200) return;
  const events: EventEmitter = ctx.oidc.provider; // its types list fewer events than it has
  const body = ctx.body as { access_token: string; refresh_token: string }; // a token response (RFC 6749, section 5.1)
  const granted = [scope, resource] as const;
  const answer: Answer = { asked: JSON.stringify(getAsked(ctx)), granted, team: getRequestedTeam(ctx), body };
  const successors = [hashSecret(body.access_token), hashSecret(body.refresh_token)];
  await db
    .run(saveAnswer, [hashSecret(consumed), encryption.encrypt(JSON.stringify(answer)), successors])
    .catch((error: unknown) => void events.emit('error', error));
}

/**
 * Returns the answer that a refresh token got less than `OAUTH_REFRESH_REPEAT` seconds ago, for parameters that mean the same.
 * @returns undefined if one of the new tokens was used or revoked since, or the grant was reduced or revoked
 */
export async function findRefreshAnswer({ config, db, encryption }: Services, tokenHash: Buffer): Promise<unknown> {
  for (;;) {
    const [row] = await db.query(findAnswer, [tokenHash, config.oauth.refreshRepeatSeconds]);
    if (row === undefined || (row.answer === null && !row.is_coming)) return undefined;
    if (row.answer !== null) {
      const { asked, granted, team, body } = JSON.parse(encryption.decrypt(row.answer)) as Answer; // encrypted by storeRefreshAnswer
      // One of two tabs has changed the team. That is no theft, and the other one has to ask again.
      if (team !== getRequestedTeam(Provider.ctx))
        throw new errors.InvalidGrant('refresh token was used for another team just now; use the new one');
      return toMeaning(JSON.parse(asked) as Asked, granted) === toMeaning(getAsked(Provider.ctx), granted)
        ? body
        : undefined; // as stored
    }
    await sleep(POLL_MS);
  }
}

const getAsked = (ctx: KoaContextWithOIDC | undefined): Asked => [
  ctx?.oidc.params?.['scope'],
  ctx?.oidc.params?.['resource'],
];

/** Requests mean the same if they get the same scopes, in any order, for the same resource. */
function toMeaning([scope, resource]: Asked, [grantedScope, grantedResource]: Asked = [undefined, undefined]): string {
  const effective = scope ?? grantedScope;
  const scopes = typeof effective === 'string' ? effective.split(' ') : [];
  return JSON.stringify([[...new Set(scopes)].toSorted(), resource ?? grantedResource ?? null]);
}
