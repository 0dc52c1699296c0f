import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import type { Client } from 'pg';
import { ConfigError } from '../config/config.ts';
import { SECOND_MS } from '../time.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { createClient, createPool } from './connection/connection.ts';
import { endWithin } from './connection/end.ts';
import { createMissingMonths, type RunSql } from './event-partitions.ts';
import { MIGRATIONS, openOrm } from './connection/orm.ts';

const RETRY_MS = 100;
const CONNECT_MS = 10 * SECOND_MS;

/** Replicas wait for the first one as long as its migrations take. */
const NO_TIMEOUTS =
  'set local lock_timeout = 0; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0';

/**
 * Applies the pending migrations of this service and of the job queue. Replicas that start concurrently wait for the
 * first one; without the lock, two of three crash on an empty database.
 * @param to the last migration to apply (default: all)
 * @param onNewer called with the version that migrated the database, if it is later than this one
 * @returns the names of the applied migrations
 */
export async function migrate(
  databaseUrl: string,
  to?: string,
  onNewer: (version: string) => void = () => undefined,
): Promise<string[]> {
  const lock = createClient(databaseUrl, { purpose: 'migration', connectMs: CONNECT_MS });
  await lock.connect();
  try {
    await lockMigrations(lock);
    const newer = await requireKnownSchema(lock);
    if (newer !== undefined) onNewer(newer);
    const applied = (await hasPending(lock)) ? await applyMigrations(databaseUrl, to) : [];
    await migrateJobQueue(databaseUrl);
    await markSchema(lock);
    if (to === undefined) await createEventPartitions(lock);
    await lock.query('commit');
    return applied;
  } finally {
    await lock.end();
  }
}

/** Returns whether a migration is not applied. Without one, a start needs no second ORM, which costs 30 ms of CPU time. */
async function hasPending(client: Client): Promise<boolean> {
  const applied = new Set(await appliedMigrations(client));
  return knownMigrations().some((name) => !applied.has(name));
}

async function applyMigrations(databaseUrl: string, to: string | undefined): Promise<string[]> {
  const orm = await openOrm(databaseUrl, { poolMax: 1 });
  try {
    const applied = await orm.migrator.up(to === undefined ? undefined : { to });
    return applied.map(({ name }) => name);
  } finally {
    await endWithin(orm.close(true));
  }
}

/**
 * Begins the transaction that holds the lock. Not the lock of a session, which behind a pooler stays behind with its
 * server connection. It is asked for again and again, because waiting would hold one of the few connections of a
 * pooler that the migrations need.
 */
async function lockMigrations(client: Client): Promise<void> {
  for (;;) {
    await client.query('begin');
    await client.query(NO_TIMEOUTS);
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
      ADVISORY_LOCKS.migration,
    ]);
    if (rows[0]?.locked === true) return;
    await client.query('rollback');
    await sleep(RETRY_MS);
  }
}

/**
 * Migrates the tables of the job queue on a separate pool. The pool that graphile-worker opens has no error listener
 * while it closes, so a server that stops at that moment would crash the process.
 */
async function migrateJobQueue(databaseUrl: string): Promise<void> {
  const pgPool = createPool(databaseUrl, { purpose: 'migration', connectMs: CONNECT_MS, max: 1 });
  pgPool.on('error', () => undefined); // Only idle connections cause this event.
  try {
    await runMigrations({ pgPool });
  } finally {
    await endWithin(pgPool.end());
  }
}

/** Creates the partitions of the next months, in the transaction that holds the lock. */
async function createEventPartitions(client: Client): Promise<void> {
  const run: RunSql = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows;
  for (const sql of await createMissingMonths(run)) await client.query(sql);
}

/** Reads the version that last migrated the database, from the comment of the migrations table. */
const SCHEMA_VERSION = `select substring(obj_description(to_regclass('mikro_orm_migrations'), 'pg_class')
  from '^Roster (\\d+\\.\\d+)\\.\\d+$') as version`;

const { version: VERSION }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/**
 * Requires a database that is at most one version ahead, because migrations are compatible with the previous version.
 * @returns the version of the database if it is ahead
 */
export async function requireKnownSchema(client: Client): Promise<string | undefined> {
  const version = await schemaVersion(client);
  if (version === undefined) return undefined;
  const [major = 0, minor = 0] = VERSION.split('.').map(Number);
  const [schemaMajor = 0, schemaMinor = 0] = version.split('.').map(Number);
  const isNextMajor = schemaMajor === major + 1 && schemaMinor === 0;
  if (schemaMajor < major || (schemaMajor === major && schemaMinor <= minor)) return undefined;
  if (isNextMajor || (schemaMajor === major && schemaMinor === minor + 1)) return version;
  throw new ConfigError(
    `the database was migrated by Roster ${version}, more than one version after this one (${VERSION}): start that version`,
  );
}

/** Records this version, unless a later one has migrated the database. */
async function markSchema(client: Client): Promise<void> {
  const ownVersion = VERSION.split('.').slice(0, 2).join('.');
  const version = await schemaVersion(client);
  const isLater = version?.localeCompare(ownVersion, 'en', { numeric: true }) ?? -1;
  if (isLater < 0) await client.query(`comment on table mikro_orm_migrations is 'Roster ${VERSION}'`);
}

async function schemaVersion(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ version: string | null }>(SCHEMA_VERSION);
  return rows[0]?.version ?? undefined;
}

/** Returns the names of the applied migrations, in order. Returns none for a database without a migrations table. */
export async function appliedMigrations(client: Client): Promise<string[]> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    `select to_regclass('mikro_orm_migrations') is not null as exists`,
  );
  if (found[0]?.exists !== true) return [];
  const { rows } = await client.query<{ name: string }>('select name from mikro_orm_migrations order by name');
  return rows.map(({ name }) => name);
}

/** Returns the names of the migrations of this version, in order. */
export const knownMigrations = (): string[] =>
  globSync('Migration*.ts', { cwd: MIGRATIONS })
    .map((file) => basename(file, '.ts'))
    .toSorted();
