import type { Pool, PoolClient } from 'pg';

/** A constant SQL text with a name, so that PostgreSQL plans it once a connection. */
export type Statement<Row> = {
  readonly name: string;
  readonly text: string;
  /** See `brief` and `long`. */
  readonly kind?: 'brief' | 'long';
  readonly row?: Row;
};

/** Declares a statement of the request path. `Row` is what each row looks like, `timestamptz` as text. */
export const statement = <Row>(name: string, text: string): Statement<Row> => ({ name, text });

/**
 * Declares a statement that only reads, waits for no lock and gives few rows: under load several
 * share a connection and a round trip, because none makes the others wait.
 */
export const brief = <Row>(name: string, text: string): Statement<Row> => ({ name, text, kind: 'brief' });

/**
 * Declares a statement that can give thousands of rows: few run at a time, so that their rows are
 * not all in memory together.
 */
export const long = <Row>(name: string, text: string): Statement<Row> => ({ name, text, kind: 'long' });

/** Runs a named statement on a pooled connection: one round trip, the rows as they come. */
export type Read = <Row>(query: Statement<Row>, values: readonly unknown[]) => Promise<Row[]>;

export function reader(pool: Pool): Read {
  const together = batches(pool);
  const inTurn = lanes(LONG_MAX);
  return async <Row>(query: Statement<Row>, values: readonly unknown[]) => {
    const { name, text, kind } = query;
    const config = { name, text, values: values as unknown[] }; // pg does not write to it
    const { rows } = await (kind === 'brief'
      ? together(config)
      : kind === 'long'
        ? inTurn(() => pool.query(config))
        : pool.query(config));
    return rows as Row[]; // the statement's declaration says what its SQL returns
  };
}

type Config = { readonly name: string; readonly text: string; readonly values: unknown[] };
type Rows = { readonly rows: unknown[] };
type Waiting = {
  readonly config: Config;
  readonly resolve: (result: Rows) => void;
  readonly reject: (error: unknown) => void;
};

/** As many long reads run at a time as keep a connection or two busy while others are being answered. */
const LONG_MAX = 4;

/** Few enough that with a handful of connections PostgreSQL still works on several at once. */
const BATCH_MAX = 8;

/** Sends what is asked for in one turn of the event loop in few writes, on few connections. */
function batches(pool: Pool): (config: Config) => Promise<Rows> {
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

/** Runs at most `count` at a time; the others wait in the order they came. */
function lanes(count: number): (run: () => Promise<Rows>) => Promise<Rows> {
  const queue: (() => void)[] = [];
  let free = count;
  return async (run) => {
    if (free > 0) free -= 1;
    else await turn(queue);
    try {
      return await run();
    } finally {
      const next = queue.shift();
      // After what became of these rows has been sent, as far as that takes no waiting.
      if (next === undefined) free += 1;
      else setImmediate(next);
    }
  };
}

/** As for a connection, nobody waits for a turn without an end. */
const TURN_MS = 5000;

function turn(queue: (() => void)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(go), 1);
      reject(new Error('timeout exceeded when trying to connect: too many long reads at a time'));
    }, TURN_MS);
    const go = () => {
      clearTimeout(timer);
      resolve();
    };
    queue.push(go);
  });
}

/** Where pg writes to: corked, so that a batch is one write. */
type Wire = { readonly connection: { readonly stream: { cork(): void; uncork(): void } } };

/** A `timestamptz` as PostgreSQL writes it in UTC, as an ISO 8601 string. */
export const iso = (timestamp: string): string => new Date(timestamp).toISOString();

/** The same for a column that can be null. */
export const isoOrNull = (timestamp: string | null): string | null => (timestamp === null ? null : iso(timestamp));
