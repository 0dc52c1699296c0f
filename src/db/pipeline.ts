import type { Pool, PoolClient } from 'pg';
import { NamedQuery, type Value } from './prepared-query.ts';

export type Query = { readonly name: string; readonly text: string; readonly values: readonly Value[] };
export type Rows = readonly object[];
type Waiting = Query & { readonly resolve: (rows: Rows) => void; readonly reject: (error: unknown) => void };

/** Few enough that with a handful of connections PostgreSQL still works on several at once. */
const BATCH_MAX = 8;

/** While so many batches are under way, what comes meanwhile gathers, until it fills one. */
const UNDER_WAY_MAX = 2;

/** A batch that takes longer holds nobody up, so that a connection that hangs costs the others no more. */
const UNDER_WAY_MS = 20;

/** Sends what is asked for at about the same time in few writes, on few connections. */
export function batches(pool: Pool): (query: Query) => Promise<Rows> {
  const waiting: Waiting[] = [];
  const underWay = new Set<readonly Waiting[]>();
  let isScheduled = false;

  const flush = () => {
    isScheduled = false;
    while (waiting.length >= BATCH_MAX || (waiting.length > 0 && underWay.size < UNDER_WAY_MAX)) {
      depart(waiting.splice(0, BATCH_MAX));
    }
  };

  const depart = (batch: readonly Waiting[]) => {
    const over = () => {
      clearTimeout(timer);
      if (underWay.delete(batch)) flush();
    };
    const timer = setTimeout(over, UNDER_WAY_MS);
    underWay.add(batch);
    send(pool, batch, over);
  };

  return (query) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...query, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    });
}

/** Sends one query on a connection of its own. */
export const alone = (pool: Pool, query: Query): Promise<Rows> =>
  new Promise((resolve, reject) => send(pool, [{ ...query, resolve, reject }], () => undefined));

/** @param over called once, after the last of them has been answered */
function send(pool: Pool, batch: readonly Waiting[], over: () => void): void {
  pool.connect((refusal, client, release) => {
    if (client === undefined) {
      for (const { reject } of batch) reject(refusal);
      over();
      return;
    }
    let open = batch.length;
    let failure: Error | undefined;
    // What becomes of each query is told to each; the event itself must not end the process.
    const onError = (error: Error) => void (failure ??= error);
    client.once('error', onError);
    const { stream } = (client as PoolClient & Wire).connection;
    stream.cork();
    for (const { name, text, values, resolve, reject } of batch) {
      const answered: NamedQuery['callback'] = (error, rows) => {
        if (error) reject((failure = error));
        else resolve(rows);
        open -= 1;
        if (open > 0) return;
        client.removeListener('error', onError);
        release(failure);
        over();
      };
      client.query(new NamedQuery(name, text, values, client, answered));
    }
    stream.uncork();
  });
}

/** Where pg writes to: corked, so that a batch is one write. */
type Wire = { readonly connection: { readonly stream: { cork(): void; uncork(): void } } };
