import { createClient } from '../db/connection/connection.ts';
import { toParameter } from '../db/pipeline/prepared-statement.ts';
import type { QueryRunner } from '../db/query.ts';
import { SECOND_MS } from '../time.ts';

/** How long the connection may wait for its next statement: longer than a client that reads nothing stays connected. */
const IDLE_MS = 60 * SECOND_MS;

/** Values as the pools return them. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value };

export type OwnConnection = QueryRunner & {
  /** Releases the lock and ends the connection. Never rejects, and can be called again. */
  close(): Promise<void>;
};

/**
 * Opens a connection of its own for a long read, so that it delays no others, and holds an advisory lock with it. Each
 * statement sees what was committed before. Without a process that ends it, it ends with its connection.
 * @returns null if someone else holds the lock, in any process
 */
export async function openOwnConnection(
  databaseUrl: string,
  purpose: string,
  [lock, key]: readonly [lock: number, key: string],
): Promise<OwnConnection | null> {
  const client = createClient(databaseUrl, { purpose, connectMs: 2 * SECOND_MS, statementMs: 5 * SECOND_MS });
  const end = () => void client.end().catch(() => undefined);
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= client
      .query('commit')
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(end));
  try {
    await client.connect();
    // A transaction, because a pooler gives each its own session. It reads no snapshot while it waits.
    await client.query('begin read only');
    await client.query(`set local idle_in_transaction_session_timeout = ${IDLE_MS}`);
    const taken = 'select pg_try_advisory_xact_lock($1::int, hashtext($2)) as is_ours';
    const { rows } = await client.query<{ is_ours: boolean }>(taken, [lock, key]);
    if (rows[0]?.is_ours === true)
      return {
        query: async <Row>({ name, text }: { name: string; text: string }, values: readonly unknown[]) =>
          (await client.query({ name, text, values: values.map(toParameter), types: AS_TEXT })).rows as Row[],
        close,
      };
  } catch (error) {
    end();
    throw error;
  }
  end();
  return null;
}
