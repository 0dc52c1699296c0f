import type { Pool, PoolClient } from 'pg';

export type Config = { readonly name: string; readonly text: string; readonly values: unknown[] };
export type Rows = { readonly rows: unknown[] };
type Waiting = {
  readonly config: Config;
  readonly resolve: (result: Rows) => void;
  readonly reject: (error: unknown) => void;
};

/** Few enough that with a handful of connections PostgreSQL still works on several at once. */
const BATCH_MAX = 8;

/** Sends what is asked for in one turn of the event loop in few writes, on few connections. */
export function batches(pool: Pool): (config: Config) => Promise<Rows> {
  let waiting: Waiting[] = [];

  const flush = () => {
    const all = waiting;
    waiting = [];
    for (let i = 0; i < all.length; i += BATCH_MAX) send(pool, all.slice(i, i + BATCH_MAX));
  };

  return (config) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ config, resolve, reject });
    });
}

function send(pool: Pool, batch: readonly Waiting[]): void {
  pool.connect((refusal, client, release) => {
    if (client === undefined) {
      for (const { reject } of batch) reject(refusal);
      return;
    }
    let open = batch.length;
    let failure: Error | undefined;
    // What becomes of each statement is told to each; the event itself must not end the process.
    const onError = (error: Error) => void (failure ??= error);
    client.once('error', onError);
    const { stream } = (client as PoolClient & Wire).connection;
    stream.cork();
    for (const { config, resolve, reject } of batch) {
      client.query(config, (error: Error | null, result: Rows) => {
        if (error === null || error === undefined) resolve(result);
        else reject((failure = error));
        open -= 1;
        if (open > 0) return;
        client.removeListener('error', onError);
        release(failure);
      });
    }
    stream.uncork();
  });
}

/** Where pg writes to: corked, so that a batch is one write. */
type Wire = { readonly connection: { readonly stream: { cork(): void; uncork(): void } } };
