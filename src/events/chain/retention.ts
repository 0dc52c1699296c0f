import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenTransaction } from '../../db/pipeline/open-transaction.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Log } from '../../telemetry/log.ts';
import { withRests } from '../../db/turns/rest.ts';
import { firstIdAt } from '../../entities/index.ts';
import { createRecorder } from '../record.ts';
import { allowDeletion, endDeletion } from './allow-deletion.ts';
import {
  insertCheckpoint,
  readCheckpoints,
  findSignerIndex,
  tryLockChain,
  type ChainServices,
  type StoredCheckpoint,
} from './checkpoints.ts';
import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import { nextPosition, type ChainPosition } from './hash-chain.ts';
import type { ChainRoot } from './root.ts';
import { signRoot } from './sign-root.ts';
import { BUILT_IN_FIRST, inTransaction } from './sql.ts';
import { findEndProblem, readState, signedEnd } from './state.ts';
import { verifyAudit } from './verify.ts';

type RetentionServices = ChainServices & { readonly config: { readonly auditDays: number } };

/** Bounds one deletion. Each batch of the chain, which is smaller, ends in a checkpoint. */
const PRUNE_BATCH_MAX = 5000;
const PRUNE_BATCHES_MAX = 100;
/** So few that other requests wait for less than a millisecond. */
const HASHED_AT_ONCE = 100;
const PAUSE_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Returns the time before which events are too old. */
export const retentionEnd = ({ auditDays }: { readonly auditDays: number }, now: Date): Date =>
  new Date(now.getTime() - auditDays * DAY_MS);

/**
 * Removes the events that are older than AUDIT_DAYS from the chain, in whole ranges. Their rows go with the partition
 * of their month (see `dropOldPartitions`). The checkpoint at the end of a
 * range is kept as the root from which the rest is verified, which the end and the newest checkpoint sign. Ranges that fail verification are kept,
 * because they are evidence of tampering. @returns the number of deleted events
 */
export const pruneEvents = (services: RetentionServices, log: Log, now = new Date()): Promise<number> =>
  withRests((rest) => pruneInRanges(services, log, now, rest));

async function pruneInRanges(
  services: RetentionServices,
  log: Log,
  now: Date,
  rest: () => Promise<void>,
): Promise<number> {
  const { head } = await inTransaction(services.db.pools.writes, readState);
  const root = head?.root ?? null;
  // Pruning runs less than once a minute, because each deletion is an event too.
  if (root !== null && root.sequence > 0 && Date.parse(root.at) > now.getTime() - PAUSE_MS) return 0;
  const before = retentionEnd(services.config, now);
  let deleted = 0;
  for (let i = 0; i < PRUNE_BATCHES_MAX; i += 1) {
    const { db } = services;
    const range = await db.transact((open) => pruneRange(open, services, before));
    if (range === 'not_verified')
      log.error(
        { before },
        'audit events were not deleted, because they differ from the chain; run `roster audit verify`',
      );
    if (range === 'not_verified' || range === 0) break;
    deleted += range;
    await rest();
  }
  return deleted;
}

async function pruneRange(
  open: OpenTransaction,
  services: RetentionServices,
  before: Date,
): Promise<number | 'not_verified'> {
  const { em: tx } = open;
  await tx.execute(BUILT_IN_FIRST);
  if (!(await tryLockChain(tx))) return 0;
  const state = await readState(tx);
  const { head, checkpoint: newest } = state;
  if (newest === undefined || head === null) return 0;
  if (findEndProblem(services.encryption, state, undefined) !== null) return 'not_verified';
  if (head.root === null) return 0; // it is signed with the next batch
  const [cut] = await readCheckpoints(
    tx,
    `not is_root and created_at < ? and sequence < (select min(sequence) from audit_link) + ?
     order by sequence desc limit 1`,
    [before.toISOString(), PRUNE_BATCH_MAX],
  );
  if (cut === undefined) return 0;
  if (!(await isVerified(tx, services, { cut, root: head.root }, before))) return 'not_verified';
  await allowDeletion(tx);
  const firstKept = firstIdAt('evt', before);
  const deleted = await tx.execute<{ id: string }[]>(DELETE_RANGE, [cut.sequence, firstKept]);
  await tx.execute('delete from audit_checkpoint where sequence <= ?', [cut.sequence]);
  const root = rootAt(cut, head.root, firstKept);
  const { startedAt, unsignedUntil } = newest;
  const rest = { sequence: cut.sequence, hash: cut.hash, isRoot: true, startedAt, unsignedUntil };
  await insertCheckpoint(tx, services.encryption, rest, root);
  await endDeletion(tx);
  const [checkpoint = newest] = newest.sequence > cut.sequence ? [newest] : await newestCheckpoints(tx);
  await signRoot(tx, services.encryption, { end: signedEnd(state), checkpoint }, root);
  createRecorder(open)('audit_log.pruned', { number: deleted.length });
  return deleted.length;
}

const newestCheckpoints = (tx: EntityManager) => readCheckpoints(tx, 'true order by sequence desc limit 1');

const rootAt = ({ sequence, hash }: ChainPosition, { prunedBefore }: ChainRoot, firstKept: string): ChainRoot => ({
  sequence,
  hash,
  prunedBefore: prunedBefore !== null && prunedBefore > firstKept ? prunedBefore : firstKept,
  at: new Date().toISOString(),
});

/**
 * Deletes positions with their events. An event in the partition of a month stays until the whole partition is dropped;
 * without a position it has to be older than what retention keeps.
 */
const DELETE_RANGE = `with cut as materialized (delete from audit_link where sequence <= ? returning event_id),
    of_first as (delete from audit_event_first where id = any(array(select event_id from cut))),
    of_other as (delete from audit_event_other where id = any(array(select event_id from cut))),
    young as (delete from audit_event where id = any(array(select event_id from cut where event_id >= ?))
      and tableoid not in ('audit_event_first'::regclass, 'audit_event_other'::regclass))
  select event_id as id from cut`;

/** Recomputes a range that is to be deleted, and checks that its end was signed. */
async function isVerified(
  tx: EntityManager,
  services: RetentionServices,
  { cut, root }: { readonly cut: StoredCheckpoint; readonly root: ChainRoot },
  before: Date,
): Promise<boolean> {
  // The first position as a value: without it, PostgreSQL counts on the deleted ones too, and joins with all events.
  const [first] = await tx.execute<{ sequence: string }[]>('select sequence from audit_link order by sequence limit 1');
  const rows = await tx.execute<CanonicalRow[]>(
    `select ${CANONICAL} from audit_link l join audit_event e on e.id = l.event_id
     where l.sequence between ? and ? order by l.sequence`,
    [first?.sequence ?? null, cut.sequence],
  );
  let position: ChainPosition = root;
  for (const [index, row] of rows.entries()) {
    if (index % HASHED_AT_ONCE === 0) await nextTurn();
    position = nextPosition(position, row);
  }
  const isUnchanged = position.sequence === cut.sequence && position.hash === cut.hash;
  if (!isUnchanged || rows.some((row) => Date.parse(row.occurred_at) > before.getTime())) return false;
  // If its key is no longer in SECRET_KEYS, the newest checkpoint has to cover it.
  return findSignerIndex(services.encryption, cut) >= 0 || (await verifyAudit(services)).fault === null;
}
