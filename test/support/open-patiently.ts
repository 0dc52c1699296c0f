import { openDatabase, type Database } from '../../src/db/database.ts';

const TIME_LIMITS = {
  connectionTimeoutMillis: 20_000,
  statement_timeout: 20_000,
  lock_timeout: 20_000,
  query_timeout: 21_000,
};

/** On a busy machine a request may take longer than in production; tests of outages cut the connection instead. */
export async function openPatiently(databaseUrl: string, poolMax: number): Promise<Database> {
  const db = await openDatabase(databaseUrl, poolMax);
  for (const pool of Object.values(db.pools)) Object.assign(pool.options, TIME_LIMITS);
  // Of the connection that is open already.
  await db.pools.writes.query(`set lock_timeout = ${TIME_LIMITS.lock_timeout}`);
  return db;
}
