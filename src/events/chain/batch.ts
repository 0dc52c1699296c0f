import type { Log } from '../../telemetry/log.ts';
import { listUnnumbered, readNew, readPending, storeSnapshot } from './candidates.ts';
import { tryLockChain, type NumberingServices } from './checkpoints.ts';
import type { ChainPosition } from './hash-chain.ts';
import { createAcceptance, isCheckpointDue, signCheckpointAt, writeLinks } from './links.ts';
import type { Sql } from './sql.ts';
import { isLeftToNewer } from '../newer-version.ts';
import { newRoot } from './root.ts';
import { findEndProblem, isRootUnsigned, readState, signedEnd } from './state.ts';

const BATCH_MAX = 1000;

/** Events that were committed since the stored snapshot, or those of the waiting list. */
export type Source = 'new' | 'pending';

/** The event after which the next batch begins, and the snapshot of the first batch of the run. */
export type Cursor = { readonly after: string | null; readonly snapshot: string | null };

type Options = {
  readonly source: Source;
  readonly from: Cursor;
  /** Where this process ended the chain. */
  readonly known: ChainPosition | undefined;
};

type Batch = {
  readonly count: number;
  /** The end of the chain after it. */
  readonly end: ChainPosition;
  /** Events without a valid MAC. They wait, and `audit verify` reports them. */
  readonly rejected: readonly string[];
  readonly cursor: Cursor;
  readonly isLast: boolean;
};

/**
 * Numbers one batch. @returns `busy` if another process is at it; `blocked` if the chain must not be extended; `left` if a
 * newer version has to do it, which knows all types; `unsigned` if the beginning of the chain has to be signed first; `listed` if all events without a position are on the waiting list now, because the snapshot was not valid
 */
export async function numberBatch(
  sql: Sql,
  services: NumberingServices,
  log: Log,
  { source, from, known }: Options,
): Promise<Batch | 'busy' | 'blocked' | 'left' | 'unsigned' | 'listed'> {
  const read = source === 'new' ? readNew : readPending;
  // Sent together. Each statement has a snapshot of its own, taken after the lock.
  const [isLocked, state, found] = await Promise.all([
    tryLockChain(sql),
    readState(sql),
    read(sql, from.after, BATCH_MAX),
  ]);
  if (!isLocked) return 'busy';
  if (findEndProblem(services.encryption, state, known) !== null) return 'blocked';
  if (isRootUnsigned(state)) return 'unsigned';
  if (!state.isSnapshotValid) {
    await listUnnumbered(sql);
    if (source === 'new') return 'listed';
  }
  const rows = state.isSnapshotValid ? found : await readPending(sql, from.after, BATCH_MAX);
  if (isLeftToNewer(services.db, rows)) return 'left';
  const isLast = rows.length < BATCH_MAX;
  const last = rows.at(-1);
  const snapshot = from.snapshot ?? state.snapshot;

  const isAccepted = createAcceptance(services.encryption, state.checkpoint);
  const accepted = rows.filter(isAccepted);
  const rejected = accepted.length === rows.length ? [] : rows.filter((row) => !isAccepted(row)).map(({ id }) => id);
  const start = signedEnd(state);
  const root = state.head?.root ?? newRoot();
  const end = await writeLinks(sql, services, { start, root, accepted, rejected, source });
  // Only now everything that is visible in the snapshot of the first batch has a position or waits.
  const isMoved = rows.length > 0 || from.snapshot !== null;
  if (source === 'new' && isLast && isMoved) await storeSnapshot(sql, snapshot);
  const { checkpoint } = state;
  if (end !== start && isCheckpointDue(checkpoint, end))
    await signCheckpointAt(sql, services, log, end, { checkpoint, root });
  const after = (source === 'new' ? last?.xid : last?.id) ?? from.after;
  return { count: accepted.length, end, rejected, cursor: { after, snapshot }, isLast };
}
