import type { ClientBase } from 'pg';

/** Runs SQL with `?` for parameters: an entity manager, or a plain connection. */
export type Sql = {
  execute<Rows extends object[]>(sql: string, values?: unknown[]): Promise<Rows>;
};

/** Runs SQL on a plain connection. Statements that are sent without waiting share a round trip. */
export const createSql = (client: ClientBase): Sql => ({
  async execute<Rows extends object[]>(sql: string, values: unknown[] = []) {
    let last = 0;
    const { rows } = await client.query({ text: sql.replaceAll('?', () => `$${(last += 1)}`), values });
    return rows as Rows; // as the caller declares
  },
});

type Pool = { connect(): Promise<ClientBase & { release(error?: Error | boolean): void }> };

/**
 * Runs `work` in a transaction on a connection of the pool, without the ORM, because it runs many times a second.
 * A connection on which it fails is closed.
 */
export async function inTransaction<Result>(pool: Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  // The statement gets the error too. An unhandled error event would crash the process.
  const onError = () => undefined;
  client.on('error', onError);
  let failure: Error | undefined;
  try {
    const begun = client.query('begin');
    const [, result] = await Promise.all([begun, work(createSql(client))]);
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
