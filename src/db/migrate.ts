import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { SECOND_MS } from '../time.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { MIGRATIONS, openOrm } from './orm.ts';

const CONNECT_MS = 10 * SECOND_MS;

/**
 * Brings the database up to date: our migrations, then the job queue's own. Replicas that start
 * together wait for the first one; without the lock two of three crash on an empty database.
 * @param to the last migration to apply, where not all of them are wanted
 * @returns the names of the migrations that ran.
 */
export async function migrate(databaseUrl: string, to?: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_MS });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    const orm = await openOrm(databaseUrl, { poolMax: 1 });
    try {
      const ran = await orm.migrator.up(to === undefined ? undefined : { to });
      await runMigrations({ connectionString: databaseUrl });
      return ran.map(({ name }) => name);
    } finally {
      await orm.close(true);
    }
  } finally {
    await lock.end();
  }
}

/** Names of the migrations of this version, in their order. */
export const knownMigrations = (): string[] =>
  globSync('Migration*.ts', { cwd: MIGRATIONS })
    .map((file) => basename(file, '.ts'))
    .toSorted();
