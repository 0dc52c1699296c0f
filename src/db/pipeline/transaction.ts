import { DatabaseError, type Pool, type PoolClient, type QueryResult } from 'pg';
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
  /** Runs a statement with the commit, after all others. A failure prevents the commit. */
  readonly last: (statement: BoundQuery) => void;
  /** Runs a statement without parameters, after those of `later`. */
  readonly query: (text: string) => Promise<QueryResult<object>>;
  /** Ends the transaction with an error, also if `work` catches it. */
  readonly fail: (error: unknown) => void;
};

/**
 * Runs `work` in a transaction. BEGIN is sent with the first statements, and COMMIT with those of `later`. The first error
 * ends it, also if `work` catches it: PostgreSQL would answer COMMIT with a rollback and without an error.
 */
export const openPipeline = <Result>(pool: Pool, work: (open: OpenPipeline) => Promise<Result>): Promise<Result> =>
  onConnection(pool, async (send, query) => {
    const waiting: BoundQuery[] = [];
    const last: BoundQuery[] = [];
    let [isOpen, isOver] = [false, false];
    let failure: { readonly error: unknown } | undefined;
    const fail = (error: unknown) => void (failure ??= { error });
    /** Whoever did not wait for their work could write in the transaction of somebody else, who has the connection next. */
    const requireOpen = () => {
      if (isOver) throw new Error('The transaction has ended.');
      if (failure !== undefined) throw failure.error;
    };
    const failing = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
      answer.catch((error: unknown) => {
        fail(error);
        throw error;
      });
    const run = async (statements: readonly BoundQuery[]) => {
      requireOpen();
      const sent = [...(isOpen ? [] : [BEGIN]), ...waiting.splice(0), ...statements];
      isOpen = true;
      return sent.length === 0 ? [] : (await failing(send(sent))).slice(sent.length - statements.length);
    };
    const add = (to: BoundQuery[]) => (statement: BoundQuery) => {
      requireOpen();
      to.push(statement);
    };
    try {
      const result = await work({
        run,
        later: add(waiting),
        last: add(last),
        async query(text) {
          requireOpen();
          if (!isOpen || waiting.length > 0) await run([]);
          return failing(query(text));
        },
        fail,
      });
      requireOpen();
      isOver = true;
      if (isOpen || waiting.length > 0) await send([...(isOpen ? [] : [BEGIN]), ...waiting, ...last, COMMIT]);
      return result;
    } catch (error) {
      isOver = true;
      // Fails at once on a connection that is broken, which ends the transaction too.
      if (isOpen) await send([ROLLBACK]).catch(() => undefined);
      throw error;
    }
  });

type Send = (statements: readonly BoundQuery[]) => Promise<Rows[]>;

/**
 * Runs `work` on a connection of the pool, which is closed after a failed batch: PostgreSQL has skipped the statements
 * after the one that failed, so that what it has prepared is not known.
 */
async function onConnection<Result>(
  pool: Pool,
  work: (send: Send, query: OpenPipeline['query']) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  // The statement gets the error too. An unhandled error event would crash the process.
  const onError = () => undefined;
  client.on('error', onError);
  let failure: Error | undefined;
  try {
    const attempt = async <Answer>(send: () => Promise<Answer>, isHarmless: (error: unknown) => boolean) => {
      if (failure !== undefined) throw failure;
      try {
        return await send();
      } catch (error) {
        if (!isHarmless(error)) failure = error as Error; // pg reports nothing else
        throw error;
      }
    };
    return await work(
      (statements) =>
        attempt(
          () => submit(client, statements),
          () => false,
        ),
      (text) => attempt(() => client.query<object>(text), isAnswer),
    );
  } finally {
    client.removeListener('error', onError);
    client.release(failure);
  }
}

/** Whether PostgreSQL itself refused a statement, after which the connection can be used. */
const isAnswer = (error: unknown): boolean => error instanceof DatabaseError;

const submit = (client: PoolClient, statements: readonly BoundQuery[]): Promise<Rows[]> =>
  new Promise((resolve, reject) => {
    client.query(
      new PreparedBatch(statements, client, (error, results) => {
        if (error === null) resolve(results);
        else reject(error);
      }),
    );
  });
