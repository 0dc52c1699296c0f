import { errors } from 'oidc-provider';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query } from '../db/query.ts';
import { PROOF_MEMORY_SECONDS } from '../rate-limit/dpop-times.ts';
import type { Services } from '../service/services.ts';
import type { Store } from './store.ts';
import { removeId, secondsUntil, toExp, type Payload } from './payload.ts';

const save = command<never>(
  'oauth_artifact_upsert',
  `insert into oauth_artifact (key_hash, model, payload, expires_at)
   values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (key_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
);
const saveOnce = command<{ model: string }>(
  'oauth_artifact_insert',
  `insert into oauth_artifact (key_hash, model, payload, expires_at)
   values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (key_hash) do nothing returning model`,
);
// Includes expired and consumed rows, because oidc-provider distinguishes a used request from one that was never pushed.
const find = query<{ payload: Payload; is_consumed: boolean; seconds_left: number }>(
  'oauth_artifact_find',
  `select payload, consumed_at is not null as is_consumed, ${secondsUntil('expires_at')} as seconds_left
   from oauth_artifact where key_hash = $1`,
);
const consume = command<{ model: string }>(
  'oauth_artifact_consume',
  'update oauth_artifact set consumed_at = now() where key_hash = $1 and consumed_at is null returning model',
);
const remove = command<never>('oauth_artifact_delete', 'delete from oauth_artifact where key_hash = $1');

/** Creates the store of short-lived models: pushed authorization requests (RFC 9126) and used DPoP proofs (RFC 9449). */
export function createArtifactStore({ db }: Services, model: string): Store {
  const toKey = (id: string): Buffer => hashSecret(`${model}:${id}`);

  return {
    async upsert(id, payload, expiresIn = 0) {
      const values = [toKey(id), model, JSON.stringify(removeId(payload))];
      if (model !== 'ReplayDetection') return void (await db.run(save, [...values, expiresIn]));
      // oidc-provider has already looked it up. Of concurrent requests with the same proof only one succeeds.
      // Its `expiresIn` is too short for a proof whose time is ahead.
      const [saved] = await db.run(saveOnce, [...values, PROOF_MEMORY_SECONDS]);
      if (saved === undefined) throw new errors.InvalidGrant('DPoP proof JWT Replay detected');
    },
    async find(id) {
      const [row] = await db.query(find, [toKey(id)]);
      return (
        row && { ...row.payload, jti: id, exp: toExp(row.seconds_left), ...(row.is_consumed ? { consumed: true } : {}) }
      );
    },
    async consume(id) {
      const [row] = await db.run(consume, [toKey(id)]);
      if (row === undefined) throw new errors.InvalidRequest('the request was already used');
    },
    async destroy(id) {
      await db.run(remove, [toKey(id)]);
    },
  };
}
