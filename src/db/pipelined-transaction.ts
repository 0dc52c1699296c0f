import type { Pool, PoolClient, Submittable } from 'pg';
import { toPgConnection, type DataRow, type RowDescription } from './pg-internals.ts';
import type { BoundQuery, Rows } from './pipeline.ts';
import { sendSettings } from './transaction-pooler.ts';
import { PreparedQuery, type TypeParsers } from './prepared-query.ts';

/**
 * Runs statements in one transaction and one round trip. Without a sync message between them, PostgreSQL runs them
 * in one implicit transaction, which it commits at the sync after the last one; after a failure it skips the rest
 * and rolls back. A statement cannot depend on what an earlier one returned, because all are sent before the first
 * is answered. Each has its own snapshot, so it sees changes that were committed while an earlier one waited for a lock.
 * @returns the rows of each statement
 */
export const pipelineTransaction = (pool: Pool, statements: readonly BoundQuery[]): Promise<Rows[]> =>
  onConnection(pool, (send) => send(statements));

const control = (text: string): BoundQuery => ({ name: text, text, values: [] });
const [BEGIN, COMMIT, ROLLBACK] = [control('begin'), control('commit'), control('rollback')];

/** The statements of an open transaction. */
export type OpenPipeline = {
  /** Runs statements in one round trip, after those of `later`. @returns the rows of each */
  readonly run: (statements: readonly BoundQuery[]) => Promise<Rows[]>;
  /** Runs a statement with the next ones, at the latest with the commit. */
  readonly later: (statement: BoundQuery) => void;
};

/** Runs `work` in a transaction. BEGIN is sent with the first statements, and COMMIT with those of `later`. */
export const openPipeline = <Result>(pool: Pool, work: (open: OpenPipeline) => Promise<Result>): Promise<Result> =>
  onConnection(pool, async (send) => {
    const waiting: BoundQuery[] = [];
    let isOpen = false;
    const run = async (statements: readonly BoundQuery[]) => {
      const sent = [...(isOpen ? [] : [BEGIN]), ...waiting.splice(0), ...statements];
      isOpen = true;
      return (await send(sent)).slice(sent.length - statements.length);
    };
    try {
      const result = await work({ run, later: (statement) => waiting.push(statement) });
      await run([COMMIT]);
      return result;
    } catch (error) {
      // Fails at once on a connection that is broken, which ends the transaction too.
      if (isOpen) await send([ROLLBACK]).catch(() => undefined);
      throw error;
    }
  });

type Send = (statements: readonly BoundQuery[]) => Promise<Rows[]>;

/** Runs `work` on a connection of the pool, which is closed after a failed statement. */
async function onConnection<Result>(pool: Pool, work: (send: Send) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  // The statement gets the error too. An unhandled error event would crash the process.
  const onError = () => undefined;
  client.on('error', onError);
  let failure: Error | undefined;
  try {
    return await work(async (statements) => {
      if (failure !== undefined) throw failure;
      try {
        return await submit(client, statements);
      } catch (error) {
        failure = error as Error; // pg reports nothing else
        throw error;
      }
    });
  } finally {
    client.removeListener('error', onError);
    client.release(failure);
  }
}

const submit = (client: PoolClient, statements: readonly BoundQuery[]): Promise<Rows[]> =>
  new Promise((resolve, reject) => {
    client.query(
      new PreparedTransaction(statements, client, (error, results) => {
        if (error === null) resolve(results);
        else reject(error);
      }),
    );
  });

/** The statements of one round trip. */
export class PreparedTransaction implements Submittable {
  /** Called once. A mutable property, because pg wraps it to enforce its timeout. */
  callback: (error: Error | null, results: Rows[]) => void;
  readonly #parts: readonly PreparedQuery[];
  readonly #results: Rows[] = [];
  #failure: Error | null = null;
  #current = 0;
  #skipsCompletion = false;

  constructor(
    statements: readonly BoundQuery[],
    types: TypeParsers,
    callback: (error: Error | null, results: Rows[]) => void,
  ) {
    this.callback = callback;
    this.#parts = statements.map(
      ({ name, text, values }, i) =>
        new PreparedQuery(name, text, values, types, (error, rows) => {
          this.#failure ??= error;
          this.#results[i] = rows;
        }),
    );
  }

  /** Name and text of the current statement. pg records prepared statements by them. */
  get name(): string {
    return this.#part?.name ?? '';
  }

  get text(): string {
    return this.#part?.text ?? '';
  }

  submit(pgConnection: unknown): Error | void {
    const connection = toPgConnection(pgConnection);
    connection.stream.cork();
    try {
      this.#skipsCompletion = sendSettings(connection);
      for (const part of this.#parts) {
        const error = part.send(connection);
        if (error !== undefined) return error;
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(description: RowDescription): void {
    this.#part?.handleRowDescription(description);
  }

  handleDataRow(row: DataRow): void {
    this.#part?.handleDataRow(row);
  }

  handleCommandComplete(): void {
    if (this.#skipsCompletion) {
      this.#skipsCompletion = false;
      return;
    }
    this.#part?.handleReadyForQuery();
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#results);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  get #part(): PreparedQuery | undefined {
    return this.#parts[this.#current];
  }
}
