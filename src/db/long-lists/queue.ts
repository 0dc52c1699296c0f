import type { Pool } from 'pg';
import { BACKGROUND, CallerGoneError, Turns } from '../../turns.ts';
import { beginList, endLists } from './batch-lists.ts';
import { currentCaller } from '../turns/caller.ts';
import { cancelStatement } from '../connection/cancel.ts';
import { getPgConnection } from '../pipeline/pg-internals.ts';
import type { BoundQuery, Rows } from '../pipeline/prepared-statement.ts';
import { PacedBatch, PartReader, type RowsConsumer } from './paced-batch.ts';
import { ListPlaces, PLACE_LIMITS, type ListKind, type PlaceLimits } from './places.ts';

/**
 * How long a query whose client has gone can still take. Most end sooner, and leave their connection to the next one. To
 * cancel one costs two connections, which take PostgreSQL longer than most queries.
 */
const GONE_MS = 250;

export type ListQueue = {
  run(query: BoundQuery): Promise<Rows>;
  /** Runs a query and passes on its rows in parts. PostgreSQL waits meanwhile. */
  read(query: BoundQuery, consume: RowsConsumer): Promise<void>;
  /** Gives up the place of the present request until its next list, because it waits without one. */
  pause(): Promise<void>;
  /** How many requests read a list, send it or wait for that. */
  readonly length: number;
};

/**
 * Creates a queue of queries that can return thousands of rows. Each account runs one at a time, and accounts take
 * turns, so that nobody waits for more than one list of another. A query ends when its client has gone.
 */
export function createListQueue(pool: Pool, limits: PlaceLimits = PLACE_LIMITS, goneMs = GONE_MS): ListQueue {
  const { queuePerKey, waitMs } = limits;
  const places = new ListPlaces(limits);
  const statements = new Turns({ queuePerKey, waitMs, total: pool.options.max, perKey: 1 });
  // Leaves a connection to what is quicker.
  const longLists = new Turns({ queuePerKey, waitMs, total: Math.max(1, pool.options.max - 1), perKey: 1 });

  /** Runs in the turn of the caller, with a place. */
  const inTurn = async (kind: ListKind, query: BoundQuery, consume: RowsConsumer): Promise<void> => {
    await beginList();
    const caller = currentCaller();
    if (caller !== undefined) await places.take(caller, kind);
    const claim = { keys: [caller?.account ?? BACKGROUND], caller };
    const run = () => statements.run(claim, () => readAlone(pool, query, consume, { over: caller?.over, goneMs }));
    await (kind === 'long' ? longLists.run(claim, run) : run());
  };

  return {
    async run(query) {
      const all: object[] = [];
      await inTurn('page', query, (rows) => void all.push(...rows));
      return all;
    },
    read: (query, consume) => inTurn('long', query, consume),
    async pause() {
      await endLists();
      const caller = currentCaller();
      if (caller !== undefined) await places.giveUp(caller);
    },
    get length() {
      return places.length;
    },
  };
}

/**
 * Runs a query on a connection of its own. Rejects with the error of `consume`, if it fails. If its client goes, its rows
 * are ignored, and it is cancelled after `goneMs`.
 * @throws CallerGoneError if `over` aborts before it has ended
 */
const readAlone = (
  pool: Pool,
  query: BoundQuery,
  consume: RowsConsumer,
  { over, goneMs }: { readonly over: AbortSignal | undefined; readonly goneMs: number },
): Promise<void> =>
  new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        reject(connectError ?? new Error('The pool returned no connection.'));
        return;
      }
      if (over?.aborted) {
        release();
        reject(new CallerGoneError());
        return;
      }
      let stopped: Error | undefined;
      let isRunning = true;
      // PostgreSQL notices a closed connection only when it writes, and a cancel request only when it does not.
      const stop = (error: Error) => {
        if (!isRunning) return;
        stopped ??= error;
        cancelStatement(pool, client);
        getPgConnection(client).stream.destroy();
      };
      let timer: NodeJS.Timeout | undefined;
      // What arrived while the process was busy is read before the timer counts.
      const stopLater = () => void setImmediate(() => stop(new CallerGoneError()));
      const onGone = () => (timer = setTimeout(stopLater, goneMs).unref());
      over?.addEventListener('abort', onGone, { once: true });
      const reader = new PartReader((rows) => consumeUnless(over, rows, consume), stop);
      const callback = (error: Error | null) => {
        isRunning = false;
        clearTimeout(timer);
        over?.removeEventListener('abort', onGone);
        release(stopped ?? error ?? undefined);
        const failure = stopped ?? error;
        if (failure !== null) reject(failure);
        else
          reader.end().then(() => {
            if (over?.aborted) reject(new CallerGoneError());
            else resolve();
          }, reject);
      };
      client.query(new PacedBatch(query, client, { reader, callback }));
    });
  });

/** Ignores rows that nobody waits for. Their query ends by itself, which an error would prevent. */
async function consumeUnless(
  over: AbortSignal | undefined,
  rows: readonly object[],
  consume: RowsConsumer,
): Promise<void> {
  if (over?.aborted) return;
  try {
    await consume(rows);
  } catch (error) {
    if (!over?.aborted) throw error;
  }
}
