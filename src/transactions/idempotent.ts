import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createEncryption } from '../crypto/encryption.ts';
import type { Database } from '../db/database.ts';
import type { OpenTransaction } from '../db/pipeline/open-transaction.ts';
import { command, query } from '../db/query.ts';
import { ProblemError } from '../problems/error.ts';
import { type Change, joined, toChange } from './steps.ts';

/** A call with an `Idempotency-Key`, which belongs to its credential and operation. */
export type IdempotentCall = {
  readonly credentialId: string;
  readonly operation: string;
  readonly key: string;
  /** The parsed input. */
  readonly input: unknown;
  /** What the call locks first. */
  readonly turn: string | undefined;
  /** Returns the id of the resource whose secret an answer contains. Such an answer is not stored. */
  readonly secretOf: ((answer: unknown) => string) | undefined;
};

/**
 * Runs a call once within 24 hours: its key and answer are stored in the transaction of its effect. A repetition gets
 * the stored answer; one that arrives meanwhile waits for the first. A call that fails stores nothing.
 * @param work runs the call on a database whose transactions are all part of that one
 * @throws idempotency_key_reused (400) for another input, and instead of an answer with a secret; BusyError,
 *   CallerGoneError
 */
export function runOnce(
  db: Database,
  call: IdempotentCall,
  work: (db: Database) => Promise<unknown>,
): Promise<unknown> {
  const name = nameOf(call);
  const keyHash = hashOf(name);
  // Only who knows the key can read the answer, which can contain personal data, or guess the input.
  const encryption = createEncryption([name]);
  const [secret = ''] = encryption.keysFor('fingerprint');
  const fingerprint = createHmac('sha256', secret).update(canonicalJson(call.input)).digest();

  const attempt = async (open: OpenTransaction) => {
    const tx = toChange(open);
    const [[first]] = await tx.run([[claimKey, [keyHash, call.credentialId, call.operation, fingerprint]]]);
    if (first === undefined) {
      const stored = await findAnswer(tx, keyHash, fingerprint);
      return JSON.parse(encryption.decrypt(stored)) as unknown;
    }
    const answer = await work(joined(db, tx));
    const secretOf = call.secretOf?.(answer) ?? null;
    const stored = secretOf === null ? encryption.encrypt(JSON.stringify(answer)) : null;
    tx.later([storeAnswer, [keyHash, stored, secretOf]]);
    return answer;
  };
  return db.writeQueue.runAlone(keyHash.toString('base64'), () => db.transact(attempt, call.turn));
}

type KeyName = Pick<IdempotentCall, 'credentialId' | 'operation' | 'key'>;

const nameOf = ({ credentialId, operation, key }: KeyName): string => JSON.stringify([credentialId, operation, key]);
const hashOf = (name: string): Buffer => createHash('sha256').update(name).digest();

const findUsedKey = query<object>(
  'idempotency_key_find_used',
  `select from idempotency_key where key_hash = $1 and created_at > now() - interval '23 hours 45 minutes'`,
);

/**
 * Returns whether an answer is stored for a key, and not in its last quarter of an hour: `runOnce` returns or refuses it
 * after the caller has read a long body, too.
 */
export async function hasAnswer(tx: Change, call: KeyName): Promise<boolean> {
  return (await tx.run([[findUsedKey, [hashOf(nameOf(call))]]]))[0].length > 0;
}

/** Inserts the key. Waits for a transaction that has inserted it but not ended, on whatever replica. */
const claimKey = command<object>(
  'idempotency_key_insert',
  `insert into idempotency_key as k (key_hash, credential_id, operation, fingerprint, created_at)
   values ($1, $2, $3, $4, now())
   on conflict (key_hash) do update
     set fingerprint = excluded.fingerprint, answer = null, secret_of = null, created_at = excluded.created_at
     where k.created_at <= now() - interval '24 hours'
   returning 1 as is_first`,
);

const storeAnswer = command<never>(
  'idempotency_key_update_answer',
  'update idempotency_key set answer = $2, secret_of = $3 where key_hash = $1',
);

const findStored = query<{ fingerprint: Buffer; answer: string | null; secret_of: string | null }>(
  'idempotency_key_find_answer',
  'select fingerprint, answer, secret_of from idempotency_key where key_hash = $1',
);

async function findAnswer(tx: Change, keyHash: Buffer, fingerprint: Buffer): Promise<string> {
  const [[stored]] = await tx.run([[findStored, [keyHash]]]);
  if (stored === undefined || !timingSafeEqual(stored.fingerprint, fingerprint))
    throw new ProblemError('idempotency_key_reused', 'This `Idempotency-Key` was used with another input.');
  if (stored.answer === null) {
    const detail = `This \`Idempotency-Key\` created ${stored.secret_of}. Its secret was in the first response only.`;
    throw new ProblemError('idempotency_key_reused', detail);
  }
  return stored.answer;
}

/** Returns JSON in which the order of members does not matter. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? '';
