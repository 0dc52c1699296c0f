import { DatabaseError, type Pool } from 'pg';
import { CallerGoneError } from '../../turns.ts';
import { currentCaller, type RequestCaller } from '../turns/request-caller.ts';
import { PreparedBatch } from './prepared-batch.ts';
import type { BoundQuery, Rows } from './prepared-statement.ts';

type WaitingQuery = BoundQuery & {
  readonly caller: RequestCaller | undefined;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
};

/** Small enough that PostgreSQL works on several batches in parallel with a handful of connections. */
const BATCH_MAX = 8;

/** If this many batches are in flight, further queries wait until they fill a batch. */
const IN_FLIGHT_MAX = 2;

/** After this time the next batch is sent, so that one stuck connection does not block the others. */
const IN_FLIGHT_MS = 20;

/**
 * Creates a runner that sends concurrent queries in few writes, on few connections. A query whose client has gone before
 * it gets a connection is not sent.
 */
export function createPipeline(pool: Pool): (query: BoundQuery) => Promise<Rows> {
  const waiting: WaitingQuery[] = [];
  const inFlight = new Set<readonly WaitingQuery[]>();
  let isScheduled = false;

  const flush = () => {
    isScheduled = false;
    while (waiting.length >= BATCH_MAX || (waiting.length > 0 && inFlight.size < IN_FLIGHT_MAX)) {
      startBatch(waiting.splice(0, BATCH_MAX));
    }
  };

  const startBatch = (batch: readonly WaitingQuery[]) => {
    const onDone = () => {
      clearTimeout(timer);
      if (inFlight.delete(batch)) flush();
    };
    const timer = setTimeout(onDone, IN_FLIGHT_MS);
    inFlight.add(batch);
    sendBatch(pool, batch, onDone);
  };

  return (query) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...query, caller: currentCaller(), resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    });
}

/**
 * Sends queries with one sync message, so that PostgreSQL writes their answers at once and not one by one. It skips
 * what follows a query that fails: each of those is sent once more, by itself, as queries only read and the next one
 * can fail as slowly.
 * @param asked those whose client has gone meanwhile are not sent
 * @param onDone called once, after the response to the last query
 */
function sendBatch(pool: Pool, asked: readonly WaitingQuery[], onDone: () => void): void {
  pool.connect((connectError, client, release) => {
    if (client === undefined) {
      for (const { reject } of asked) reject(connectError);
      onDone();
      return;
    }
    const batch = asked.filter(isWanted);
    if (batch.length === 0) {
      release();
      onDone();
      return;
    }
    // The queries get the error too. An unhandled error event would crash the process.
    const onError = () => undefined;
    client.once('error', onError);
    const onAnswer = (error: Error | null, results: readonly Rows[]) => {
      client.removeListener('error', onError);
      release(error ?? undefined);
      results.forEach((rows, i) => batch[i]?.resolve(rows));
      const [failed, ...skipped] = batch.slice(results.length);
      failed?.reject(error);
      if (error instanceof DatabaseError && skipped.length > 0) {
        sendEach(pool, skipped, onDone);
        return;
      }
      for (const { reject } of skipped) reject(error);
      onDone();
    };
    client.query(new PreparedBatch(batch, client, onAnswer));
  });
}

/** Rejects a query that nobody waits for. */
function isWanted({ caller, reject }: WaitingQuery): boolean {
  if (caller?.isInVain !== true) return true;
  reject(new CallerGoneError());
  return false;
}

function sendEach(pool: Pool, queries: readonly WaitingQuery[], onDone: () => void): void {
  let open = queries.length;
  const onEach = () => {
    open -= 1;
    if (open === 0) onDone();
  };
  for (const query of queries) sendBatch(pool, [query], onEach);
}
