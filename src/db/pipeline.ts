import type { Pool } from 'pg';
import { getPgConnection, type Value } from './pg-internals.ts';
import { PreparedQuery } from './prepared-query.ts';

export type BoundQuery = { readonly name: string; readonly text: string; readonly values: readonly Value[] };
export type Rows = readonly object[];
type WaitingQuery = BoundQuery & { readonly resolve: (rows: Rows) => void; readonly reject: (error: unknown) => void };

/** Small enough that PostgreSQL works on several batches in parallel with a handful of connections. */
const BATCH_MAX = 8;

/** If this many batches are in flight, further queries wait until they fill a batch. */
const IN_FLIGHT_MAX = 2;

/** After this time the next batch is sent, so that one stuck connection does not block the others. */
const IN_FLIGHT_MS = 20;

/** Creates a runner that sends concurrent queries in few writes, on few connections. */
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
      waiting.push({ ...query, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    });
}

/** @param onDone called once, after the response to the last query */
function sendBatch(pool: Pool, batch: readonly WaitingQuery[], onDone: () => void): void {
  pool.connect((connectError, client, release) => {
    if (client === undefined) {
      for (const { reject } of batch) reject(connectError);
      onDone();
      return;
    }
    let open = batch.length;
    let failure: Error | undefined;
    // Each query gets the error in its callback. An unhandled error event would crash the process.
    const onError = (error: Error) => void (failure ??= error);
    client.once('error', onError);
    const { stream } = getPgConnection(client);
    stream.cork();
    for (const { name, text, values, resolve, reject } of batch) {
      const onAnswer: PreparedQuery['callback'] = (error, rows) => {
        if (error) reject((failure = error));
        else resolve(rows);
        open -= 1;
        if (open > 0) return;
        client.removeListener('error', onError);
        release(failure);
        onDone();
      };
      client.query(new PreparedQuery(name, text, values, client, onAnswer));
    }
    stream.uncork();
  });
}
