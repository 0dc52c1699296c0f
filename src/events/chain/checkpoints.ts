import type { Config } from '../../config/config.ts';
import type { Encryption } from '../../crypto/encryption.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import type { Database } from '../../db/database.ts';
import { newId } from '../../entities/index.ts';
import type { Sql } from './sql.ts';
import { findOldSigner, oldCheckpointKeys, type Checkpoint } from './hash-chain.ts';
import { findRootSigner, instant, ROOT_COLUMNS, signWithRoot, toRoot, type ChainRoot, type RootRow } from './root.ts';

/** The services that the chain uses. */
export type ChainServices = { readonly db: Database; readonly encryption: Encryption };

/** The services that events are numbered with. */
export type NumberingServices = ChainServices & { readonly config: Pick<Config, 'plans'> };

/** A checkpoint as it is stored. The beginning is null in those of versions that did not sign it. */
export type StoredCheckpoint = Checkpoint & { readonly root: ChainRoot | null; readonly signature: string };

type CheckpointRow = Omit<StoredCheckpoint, 'sequence' | 'root'> & RootRow & { readonly sequence: string | number };

/** Selects the columns of a checkpoint from `audit_checkpoint`. */
export const CHECKPOINT_COLUMNS = `sequence, encode(hash, 'hex') as hash, is_root as "isRoot",
  encode(signature, 'hex') as signature, ${instant('created_at')} as "createdAt",
  ${instant('started_at')} as "startedAt", ${instant('unsigned_until')} as "unsignedUntil", ${ROOT_COLUMNS}`;

export const toCheckpoint = (row: CheckpointRow): StoredCheckpoint => {
  const { hash, isRoot, createdAt, startedAt, unsignedUntil, signature } = row;
  const sequence = Number(row.sequence);
  return { sequence, hash, isRoot, createdAt, startedAt, unsignedUntil, signature, root: toRoot(row) };
};

/** Reads checkpoints. @param where a condition on `audit_checkpoint`, with its order */
export async function readCheckpoints(
  tx: Sql,
  where: string,
  values: readonly unknown[] = [],
): Promise<StoredCheckpoint[]> {
  const rows = await tx.execute<CheckpointRow[]>(`select ${CHECKPOINT_COLUMNS} from audit_checkpoint where ${where}`, [
    ...values,
  ]);
  return rows.map(toCheckpoint);
}

/** Returns the newest checkpoint, whose hash covers the whole chain. */
export const newestCheckpoint = async (tx: Sql): Promise<StoredCheckpoint | undefined> =>
  (await readCheckpoints(tx, 'true order by sequence desc limit 1'))[0];

/** Returns which of SECRET_KEYS signed a checkpoint, counted from 0, or -1. */
export function findSignerIndex(encryption: Encryption, checkpoint: StoredCheckpoint): number {
  const { root, signature } = checkpoint;
  if (root === null) return findOldSigner(oldCheckpointKeys(encryption), checkpoint, signature);
  return findRootSigner(encryption, 'checkpoint', toValues(checkpoint), { root, signature });
}

const toValues = ({ sequence, hash, isRoot, createdAt, startedAt, unsignedUntil }: Checkpoint) => [
  sequence,
  hash,
  isRoot,
  createdAt,
  startedAt,
  unsignedUntil,
];

/**
 * Returns until when events without a MAC are accepted. After an upgrade they are accepted for a while, because
 * replicas of the previous version still insert them. Only a signed chain gets this period, so that an attacker cannot
 * delete the checkpoints and present the chain as just upgraded. The first checkpoint with a period keeps it.
 */
export function findUnsignedUntil(last: StoredCheckpoint | undefined): string {
  if (last?.unsignedUntil) return last.unsignedUntil;
  return new Date(Date.now() + (last === undefined ? 0 : UNSIGNED_MS)).toISOString();
}

const UNSIGNED_MS = 3_600_000;

/** Tries to lock the chain without waiting. @returns whether this transaction holds the lock */
export async function tryLockChain(tx: Sql): Promise<boolean> {
  const [row] = await tx.execute<{ locked: boolean }[]>('select pg_try_advisory_xact_lock(?) as locked', [
    ADVISORY_LOCKS.auditChain,
  ]);
  return row?.locked === true;
}

/** Signs a position of the chain, and its beginning, with the first of SECRET_KEYS. */
export async function insertCheckpoint(
  tx: Sql,
  encryption: Encryption,
  checkpoint: Omit<Checkpoint, 'createdAt'> & { readonly createdAt?: string },
  root: ChainRoot,
): Promise<void> {
  const { sequence, hash, isRoot, startedAt, unsignedUntil, createdAt = new Date().toISOString() } = checkpoint;
  const signature = signWithRoot(encryption, 'checkpoint', toValues({ ...checkpoint, createdAt }), root);
  await tx.execute(
    `insert into audit_checkpoint (id, created_at, sequence, hash, is_root, started_at, unsigned_until, signature,
       root_sequence, root_hash, root_at, pruned_before)
     values (?, ?::timestamptz, ?, decode(?, 'hex'), ?, ?::timestamptz, ?::timestamptz, decode(?, 'hex'),
       ?, decode(?, 'hex'), ?::timestamptz, ?)`,
    [
      newId('chk'),
      createdAt,
      sequence,
      hash,
      isRoot,
      startedAt,
      unsignedUntil,
      signature,
      root.sequence,
      root.hash,
      root.at,
      root.prunedBefore,
    ],
  );
}
