import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { startRedis } from '../test/support/redis.ts';
import { fill, runScript, type Caller, type DataSet, type Filled } from './data/fill.ts';
import { startLoadGenerator, type LoadGenerator } from './load-client.ts';
import { familyOf, parentOf } from './proc.ts';
import { environmentOf, startServer, type Backing, type Server, type ServerKind } from './servers.ts';

/** What all servers under test share: one PostgreSQL, one Redis, one load generator. */
export type Stage = {
  readonly load: LoadGenerator;
  /** Who works beside the servers, for the table of processes. */
  readonly neighbours: Readonly<Record<'PostgreSQL' | 'Redis' | 'load', () => number[]>>;
  /** Makes a database of its own with a data set, or what is missing of it. */
  fillDatabase(name: string, dataSet: DataSet, scale?: number): Promise<Filled>;
  /** Makes a migrated database with the rows of a script. @returns its URL */
  fillWith(name: string, sql: string): Promise<{ databaseUrl: string }>;
  /** Adds the rows of a script, with the indexes of its large tables afterwards. */
  addRows(name: string, sql: string, large: readonly string[]): Promise<void>;
  dropDatabase(name: string): Promise<void>;
  /** A database with the same rows. Nobody may be connected to the original. */
  copyDatabase(original: string, name: string): Promise<void>;
  /** Makes the database of Better Auth, with its own rows of the same shape. */
  fillBetterAuth(name: string): Promise<readonly Caller[]>;
  /** @param settings more environment variables */
  start(kind: ServerKind, database: string, settings?: Readonly<Record<string, string>>): Promise<Server>;
  /** What the servers of a database are told. */
  backingOf(database: string): Backing;
  close(): Promise<void>;
};

// The disk is not measured: nothing waits for it, and the large data set stays in memory where there is enough.
const SETTINGS = [
  'max_connections=200',
  'shared_buffers=4GB',
  'max_wal_size=8GB',
  'checkpoint_timeout=30min',
  // Indexes are built without writing them to the log.
  'wal_level=minimal',
  'max_wal_senders=0',
];

/** `tuned` is the embedded server with much memory, `embedded` as it comes, `system` Debian's with its defaults. */
export type PostgresKind = 'tuned' | 'embedded' | 'system';

/** @param options a `folder` is kept, with its databases */
export async function openStage({
  pin,
  folder,
  postgres: kind = 'tuned',
}: Readonly<{ pin: boolean; folder?: string | undefined; postgres?: PostgresKind }>): Promise<Stage> {
  // Everything started later inherits it, except the servers, which are sent to the other core.
  if (pin) execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '1', String(process.pid)]);
  const dataDir = folder ?? mkdtempSync(join(tmpdir(), 'roster-bench-'));
  mkdirSync(dataDir, { recursive: true });
  // For the user that the embedded server runs as.
  chmodSync(dataDir, 0o755);
  const postgres =
    kind === 'system'
      ? await (await import('../test/support/system-postgres.ts')).startSystemPostgres()
      : await startEmbedded({ dataDir, durable: false, flags: kind === 'tuned' ? SETTINGS : [] });
  const redis = await startRedis();
  const load = startLoadGenerator();
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid ?? 0);
  const servers: Server[] = [];
  let closing: Promise<void> | undefined;

  const backingOf = (database: string): Backing => {
    const url = new URL(postgres.url);
    url.pathname = `/bench_${database}`;
    return { databaseUrl: url.href, redisUrl: redis.url, dataDir: join(dataDir, 'servers') };
  };

  return {
    load,
    neighbours: {
      PostgreSQL: () => familyOf(postmaster),
      Redis: () => [redis.pid],
      load: () => [load.pid],
    },

    async fillDatabase(name, dataSet, scale) {
      const { rowCount } = await admin.query(`select from pg_database where datname = 'bench_${name}'`);
      if (rowCount === 0) await admin.query(`create database bench_${name}`);
      return fill(backingOf(name).databaseUrl, dataSet, scale);
    },

    async fillWith(name, sql) {
      await admin.query(`create database bench_${name}`);
      const { databaseUrl } = backingOf(name);
      await runScript(databaseUrl, sql);
      return { databaseUrl };
    },

    addRows: (name, sql, large) => runScript(backingOf(name).databaseUrl, sql, large),

    async dropDatabase(name) {
      await admin.query(`drop database bench_${name}`);
    },

    async copyDatabase(original, name) {
      await admin.query(`create database bench_${name} template bench_${original}`);
    },

    async fillBetterAuth(name) {
      await admin.query(`create database bench_${name}`);
      const setup = fileURLToPath(new URL('./baselines/better-auth-setup.ts', import.meta.url));
      const printed = execFileSync(process.execPath, [setup], {
        env: environmentOf(backingOf(name), 0),
        // What it complains about is shown where it fails.
        stdio: 'pipe',
      });
      return JSON.parse(printed.toString()) as Caller[]; // what the script prints
    },

    backingOf,

    async start(kind, database, settings) {
      const server = await startServer(kind, backingOf(database), pin ? 0 : undefined, settings);
      servers.push(server);
      return server;
    },

    close: () => (closing ??= close()),
  };

  async function close(): Promise<void> {
    load.stop();
    await Promise.all(servers.map((server) => server.stop()));
    await admin.end();
    await redis.stop();
    await postgres.close();
    if (folder === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}
