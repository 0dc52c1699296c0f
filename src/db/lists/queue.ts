import type { Pool } from 'pg';
import { SECOND_MS } from '../../time.ts';
import { BACKGROUND, CallerGoneError, Turns } from '../../turns.ts';
import { cancelStatement } from '../connection/cancel.ts';
import { getPgConnection } from '../pipeline/pg-internals.ts';
import { PreparedBatch } from '../pipeline/prepared-batch.ts';
import type { BoundQuery, Rows } from '../pipeline/prepared-statement.ts';
import { currentCaller } from '../turns/request-caller.ts';
import { ListPlaces, PLACE_LIMITS, type PlaceLimits } from './places.ts';

const QUEUE_PER_ACCOUNT = 100;
const WAIT_MS = 10 * SECOND_MS;

/**
 * How long a query whose client has gone can still take. Most end sooner, and leave their connection to the next one. To
 * cancel one costs two connections, which take PostgreSQL longer than most queries.
 */
const GONE_MS = 250;

export type ListQueue = {
  /** Runs a query that can be slow. */
  run(query: BoundQuery): Promise<Rows>;
  /** Runs the query of a long list. */
  runLong(query: BoundQuery): Promise<Rows>;
  /** How many queries run or wait. */
  readonly length: number;
};

/**
 * Creates a queue of queries that can be slow or long. Each account runs one at a time, and accounts take turns, so that
 * nobody waits for more than one of another. A long list leaves the other connections to what is quicker, and waits for a
 * place in memory first. A query ends when its client has gone.
 */
export function createListQueue(pool: Pool, limits: PlaceLimits = PLACE_LIMITS, goneMs = GONE_MS): ListQueue {
  const places = new ListPlaces(limits);
  const queue = { queuePerKey: QUEUE_PER_ACCOUNT, waitMs: WAIT_MS, perKey: 1 };
  const statements = new Turns({ ...queue, total: pool.options.max });
  const longLists = new Turns({ ...queue, total: 1 });
  let length = 0;

  const counted = async (work: () => Promise<Rows>): Promise<Rows> => {
    length += 1;
    return work().finally(() => (length -= 1));
  };
  const claimOf = (caller: ReturnType<typeof currentCaller>) => ({ keys: [caller?.account ?? BACKGROUND], caller });
  const inTurn = (query: BoundQuery) => {
    const caller = currentCaller();
    return statements.run(claimOf(caller), () => readAlone(pool, query, { over: caller?.over, goneMs }));
  };

  return {
    run: (query) => counted(() => inTurn(query)),
    runLong: (query) =>
      counted(async () => {
        const caller = currentCaller();
        if (caller !== undefined) await places.take(caller);
        return longLists.run(claimOf(caller), () => inTurn(query));
      }),
    get length() {
      return length;
    },
  };
}

/**
 * Runs a query on a connection of its own. If its client goes, it is cancelled after `goneMs`.
 * @throws CallerGoneError if `over` aborts before it has ended
 */
const readAlone = (
  pool: Pool,
  query: BoundQuery,
  { over, goneMs }: { readonly over: AbortSignal | undefined; readonly goneMs: number },
): Promise<Rows> =>
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
      let timer: NodeJS.Timeout | undefined;
      // PostgreSQL notices a closed connection only when it writes, and a cancel request only when it does not.
      const stop = () => {
        if (!isRunning) return;
        stopped = new CallerGoneError();
        cancelStatement(pool, client);
        getPgConnection(client).stream.destroy();
      };
      // What arrived while the process was busy is read before the timer counts.
      const onGone = () => (timer = setTimeout(() => void setImmediate(stop), goneMs).unref());
      over?.addEventListener('abort', onGone, { once: true });
      const callback = (error: Error | null, [rows = []]: readonly Rows[]) => {
        isRunning = false;
        clearTimeout(timer);
        over?.removeEventListener('abort', onGone);
        release(stopped ?? error ?? undefined);
        const failure = stopped ?? error;
        if (over?.aborted) reject(new CallerGoneError());
        else if (failure !== null) reject(failure);
        else resolve(rows);
      };
      client.query(new PreparedBatch([query], client, callback));
    });
  });
