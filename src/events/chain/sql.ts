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

// A prepared statement keeps the plan from when its tables were nearly empty, and would later scan all of them.
const BY_INDEXES = ['seqscan', 'hashjoin', 'mergejoin'].map((plan) => `set local enable_${plan} = off`).join('; ');

/**
 * Runs `work` like {@link inTransaction} with prepared statements, all of which are constant and read by indexes.
 * PostgreSQL takes several times as long to plan those that number a few events as to execute them.
 */
export const inPreparedTransaction = <Result>(pool: Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, work, { begin: `begin; ${BY_INDEXES}`, read: toPrepared });

/**
 * Runs `work` in a transaction on a connection of the pool, without the ORM, because it runs many times a second.
 * A connection on which it fails is closed.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (sql: Sql) => Promise<Result>,
  { begin, read } = { begin: 'begin', read: toStatement },
): Promise<Result> {
  const client = await pool.connect();
  // The statement gets the error too. An unhandled error event would crash the process.
  const onError = () => undefined;
  client.on('error', onError);
  let failure: Error | undefined;
  try {
    const begun = client.query(begin);
    const [, result] = await Promise.all([begun, work(createSql(client, read))]);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.removeListener('error', onError);
    client.release(failure);
  }
}
