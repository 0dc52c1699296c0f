import type { ClientBase } from 'pg';

/** Runs SQL with `?` for parameters: an entity manager, or a plain connection. */
export type Sql = {
  execute<Rows extends object[]>(sql: string, values?: unknown[]): Promise<Rows>;
};

type Statement = { readonly name?: string; readonly text: string };

function toStatement(sql: string): Statement {
  let last = 0;
  return { text: sql.replaceAll('?', () => `$${(last += 1)}`) };
}

/** Runs SQL on a plain connection. Statements that are sent without waiting share a round trip. */
export const createSql = (client: ClientBase, read = toStatement): Sql => ({
  async execute<Rows extends object[]>(sql: string, values: unknown[] = []) {
    const { rows } = await client.query({ ...read(sql), values });
    return rows as Rows; // as the caller declares
  },
});

/** Constant texts, by what they were written as. */
const prepared = new Map<string, Statement>();

function toPrepared(sql: string): Statement {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  const statement = { name: `events_${prepared.size}`, ...toStatement(sql) };
  prepared.set(sql, statement);
  return statement;
}

type Pool = { connect(): Promise<ClientBase & { release(error?: Error | boolean): void }> };

/**
 * Lets the transaction find what PostgreSQL defines first, and tables of the session last, whatever search path the
 * database or a role has. Calls nothing that the path could replace.
 */
export const BUILT_IN_FIRST = `select pg_catalog.set_config('search_path',
  pg_catalog.concat('pg_catalog, ', pg_catalog.current_setting('search_path'), ', pg_temp'), true)`;

const BEGIN = `begin; ${BUILT_IN_FIRST}`;

// A prepared statement keeps the plan from when its tables were nearly empty, and would later scan all of them. Also a
// table of one row is read by its key: its scan would cost ten billion, for which PostgreSQL compiles the statement.
const BY_INDEXES = ['seqscan', 'hashjoin', 'mergejoin'].map((plan) => `set local enable_${plan} = off`).join('; ');

/**
 * Runs `work` like {@link inTransaction} with prepared statements, all of which are constant and read by indexes.
 * PostgreSQL takes several times as long to plan those that number a few events as to execute them.
 */
export const inPreparedTransaction = <Result>(pool: Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, work, { begin: `${BEGIN}; ${BY_INDEXES}`, read: toPrepared });

/** Runs `work` in a transaction that only reads and sees the database as it is at its first statement. */
export const inSnapshot = <Result>(pool: Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, work, { begin: 'begin isolation level repeatable read read only' });

/**
 * Runs `work` in a transaction on a connection of the pool, without the ORM, because it runs many times a second.
 * A connection on which it fails is closed.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (sql: Sql) => Promise<Result>,
  { begin = BEGIN, read = toStatement }: { begin?: string; read?: typeof toStatement } = {},
): Promise<Result> {
  const client = await pool.connect();
  // The statement gets the error too. An unhandled error event would crash the process.
  const onError = () => undefined;
  client.on('error', onError);
  let failure: Error | undefined;
  // Of statements that were sent together, the first one that failed says why; the others only that it did (25P02).
  const noteFirst = (error: unknown) => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    throw failure;
  };
  try {
    const sql = createSql(client, read);
    const noting: Sql = { execute: (text, values) => sql.execute<never>(text, values).catch(noteFirst) };
    const begun = client.query(begin).catch(noteFirst);
    const [, result] = await Promise.all([begun, work(noting)]);
    await client.query('commit');
    return result;
  } catch (error) {
    return noteFirst(error);
  } finally {
    client.removeListener('error', onError);
    client.release(failure);
  }
}
