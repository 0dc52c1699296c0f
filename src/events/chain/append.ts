import type { Pool } from 'pg';
import type { Log } from '../../telemetry/log.ts';
import { createRecorder } from '../record.ts';
import { numberBatch, type Cursor, type Source } from './batch.ts';
import { findSignerIndex, tryLockChain, type ChainServices, type NumberingServices } from './checkpoints.ts';
import type { ChainPosition } from './hash-chain.ts';
import { signCheckpointAt } from './links.ts';
import { signOldCheckpoints } from './sign-again.ts';
import { signOldRoot } from './sign-root.ts';
import { inPreparedTransaction, inTransaction } from './sql.ts';
import { findEndProblem, readState, signedEnd } from './state.ts';

/** A run ends after this many batches; the next one continues. */
const BATCHES_MAX = 50;

/** The end of the chain that this process wrote last. It reveals a chain that was restarted in the database. */
const lastEnds = new WeakMap<object, ChainPosition>();

/**
 * Gives every event without a position its own, also those that wait for their key, and signs a checkpoint. Runs each
 * minute. @returns the number of events that got a position
 */
export async function chainEvents(services: NumberingServices, log: Log): Promise<number> {
  if (!(await isExtendable(services, log))) return 0;
  const waiting = await numberFrom('pending', services, log);
  const found = await numberFrom('new', services, log);
  await inTransaction(services.db.pools.writes, async (sql) => {
    if (!(await tryLockChain(sql))) return;
    const state = await readState(sql);
    if (findEndProblem(services.encryption, state, lastEnds.get(services.db)) !== null) return;
    const end = signedEnd(state);
    const { head, checkpoint } = state;
    if (head?.root && end.sequence > (checkpoint?.sequence ?? 0))
      await signCheckpointAt(sql, services, log, end, { checkpoint, root: head.root });
  });
  await signOldCheckpoints(services);
  return waiting.count + found.count;
}

/**
 * Gives new events their positions: one order of all events, without gaps, chained and signed. Requests do not do
 * this, because they would have to wait for each other to know the previous hash. Of several processes one does it.
 * @param pool the connections to use instead of those of requests
 */
export async function numberEvents(services: NumberingServices, log: Log, pool?: Pool): Promise<Run> {
  const found = await numberFrom('new', services, log, pool);
  if (found.outcome !== 'listed') return found;
  const { count } = await numberFrom('pending', services, log, pool);
  return { count, end: null, outcome: 'more' };
}

/** A run of the numbering. */
type Run = {
  readonly count: number;
  /** The end of the chain; null if it was not read. */
  readonly end: ChainPosition | null;
  /** `left`: wait for a newer version. `more`: run again soon, because another process was at it or the run ended at its limit. */
  readonly outcome: 'done' | 'more' | 'blocked' | 'left' | 'listed';
};

async function numberFrom(
  source: Source,
  services: NumberingServices,
  log: Log,
  pool: Pool = services.db.pools.writes,
): Promise<Run> {
  let count = 0;
  let cursor: Cursor = { after: null, snapshot: null };
  for (let i = 0; i < BATCHES_MAX; i += 1) {
    const from = cursor;
    const known = lastEnds.get(services.db);
    const batch = await inPreparedTransaction(pool, (sql) => numberBatch(sql, services, log, { source, from, known }));
    if (batch === 'busy') return { count, end: null, outcome: 'more' };
    if (batch === 'unsigned') {
      if (await signOldRoot(services, log)) continue;
      return { count, end: null, outcome: 'blocked' };
    }
    if (typeof batch === 'string') return { count, end: null, outcome: batch };
    ({ cursor } = batch);
    count += batch.count;
    lastEnds.set(services.db, batch.end);
    const [eventId] = batch.rejected;
    if (eventId !== undefined && (source === 'new' || i === 0)) {
      log.error({ events: batch.rejected.length, eventId }, 'audit events without a valid MAC were not chained');
    }
    if (batch.isLast) return { count, end: batch.end, outcome: 'done' };
  }
  return { count, end: null, outcome: 'more' };
}

/**
 * Logs why the chain is not extended. Records a key change, so that the newest checkpoint is signed by the first key
 * before the other keys are removed.
 */
async function isExtendable(services: ChainServices, log: Log): Promise<boolean> {
  // Before the look: beside it, events are numbered, and the end that was read is behind them.
  const known = lastEnds.get(services.db);
  const state = await inTransaction(services.db.pools.writes, readState);
  const problem = findEndProblem(services.encryption, state, known);
  if (problem !== null) {
    const { sequence } = signedEnd(state);
    log.error({ sequence, problem }, 'the audit chain was not extended; run `roster audit verify`');
    return false;
  }
  if (state.checkpoint !== undefined && findSignerIndex(services.encryption, state.checkpoint) > 0) {
    await services.db.transact(async (open) => createRecorder(open)('audit_log.key_changed'));
  }
  return true;
}
