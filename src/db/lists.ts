import type { Pool } from 'pg';
import { beginList, endLists } from './batch-lists.ts';
import { CallerGoneError, currentCaller } from './caller.ts';
import { cancelStatement } from './cancel.ts';
import { PLACE_LIMITS, type PlaceLimits } from './list-places.ts';
import { PacedBatch } from './paced-batch.ts';
import { PartReader, type RowsConsumer } from './part-reader.ts';
import { getPgConnection } from './pg-internals.ts';
import type { BoundQuery, Rows } from './prepared-statement.ts';
import { RequestPlaces, type ListKind } from './request-places.ts';
import { Turns } from './turns.ts';

/** The key of jobs and of commands. */
const BACKGROUND = 'background';

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
export function createListQueue(pool: Pool, limits: PlaceLimits = PLACE_LIMITS): ListQueue {
  const { queuePerKey, waitMs } = limits;
  const places = new RequestPlaces(limits);
  const statements = new Turns({ queuePerKey, waitMs, total: pool.options.max, perKey: 1 });
  // Leaves a connection to what is quicker.
  const longLists = new Turns({ queuePerKey, waitMs, total: Math.max(1, pool.options.max - 1), perKey: 1 });

  /** Runs in the turn of the caller, with a place. */
  const inTurn = async (kind: ListKind, query: BoundQuery, consume: RowsConsumer): Promise<void> => {
    await beginList();
    const caller = currentCaller();
    if (caller !== undefined) await places.take(caller, kind);
    const claim = { keys: [caller?.account ?? BACKGROUND], caller };
    const run = () => statements.run(claim, () => readAlone(pool, query, consume, caller?.over));
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
 * Runs a query on a connection of its own. Rejects with the error of `consume`, if it fails.
 * @throws CallerGoneError if `over` aborts before it has ended
 */
const readAlone = (
  pool: Pool,
  query: BoundQuery,
  consume: RowsConsumer,
  over: AbortSignal | undefined,
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
      const onGone = () => stop(new CallerGoneError());
      over?.addEventListener('abort', onGone, { once: true });
      const reader = new PartReader((rows) => {
        if (over?.aborted) throw new CallerGoneError();
        return consume(rows);
      }, stop);
      const callback = (error: Error | null) => {
        isRunning = false;
        over?.removeEventListener('abort', onGone);
        release(stopped ?? error ?? undefined);
        const failure = stopped ?? error;
        if (failure === null) reader.end().then(resolve, reject);
        else reject(failure);
      };
      client.query(new PacedBatch(query, client, { reader, callback }));
    });
  });
