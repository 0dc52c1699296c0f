import type { Pool, PoolClient } from 'pg';
import { PreparedBatch } from './prepared-batch.ts';
import type { BoundQuery, Rows } from './prepared-statement.ts';

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
      new PreparedBatch(statements, client, (error, results) => {
        if (error === null) resolve(results);
        else reject(error);
      }),
    );
  });
