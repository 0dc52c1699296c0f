import { errors } from 'oidc-provider';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query } from '../db/query.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { withoutId, type Payload } from './payload.ts';

const save = command<never>(
  'save_oauth_artifact',
  `insert into oauth_artifact (key_hash, model, payload, expires_at)
   values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (key_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
);
const saveOnce = command<{ model: string }>(
  'save_oauth_artifact_once',
  `insert into oauth_artifact (key_hash, model, payload, expires_at)
   values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (key_hash) do nothing returning model`,
);
// Also what is over, as the engine tells apart by itself: a request that was used must not count as one never pushed.
const find = query<{ payload: Payload; is_consumed: boolean }>(
  'find_oauth_artifact',
  'select payload, consumed_at is not null as is_consumed from oauth_artifact where key_hash = $1',
);
const consume = command<{ model: string }>(
  'consume_oauth_artifact',
  'update oauth_artifact set consumed_at = now() where key_hash = $1 and consumed_at is null returning model',
);
const remove = command<never>('delete_oauth_artifact', 'delete from oauth_artifact where key_hash = $1');

/** What lives for minutes: pushed requests, and the proofs that have been seen. */
export function artifactStore({ db }: Services, model: string): Store {
  const keyOf = (id: string): Buffer => hashSecret(`${model}:${id}`);

  return {
    async upsert(id, payload, expiresIn = 0) {
      const values = [keyOf(id), model, JSON.stringify(withoutId(payload)), expiresIn];
      if (model !== 'ReplayDetection') return void (await db.run(save, values));
      // The engine has looked for it before; of two at once only one may pass.
      const [saved] = await db.run(saveOnce, values);
      if (saved === undefined) throw new errors.InvalidGrant('DPoP proof JWT Replay detected');
    },
    async find(id) {
      const [row] = await db.query(find, [keyOf(id)]);
      return row && { ...row.payload, jti: id, ...(row.is_consumed ? { consumed: true } : {}) };
    },
    async consume(id) {
      const [row] = await db.run(consume, [keyOf(id)]);
      if (row === undefined) throw new errors.InvalidRequest('the request was used already');
    },
    async destroy(id) {
      await db.run(remove, [keyOf(id)]);
    },
  };
}
