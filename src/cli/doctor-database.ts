import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Config } from '../config/config.ts';
import { createEncryption } from '../crypto/encryption.ts';
import type { Pooler } from '../config/database-url.ts';
import { CLOCK_TEXT, measureSkewMs, SKEW_MS_MAX } from '../db/clock.ts';
import { createClient } from '../db/connection/connection.ts';
import { connectionFault } from '../service/database-fault.ts';
import { detectPooler, resolvePooler } from '../db/pooler/detect.ts';
import { appliedMigrations, knownMigrations, requireKnownSchema } from '../db/migrate.ts';
import { tlsVersion } from '../db/pipeline/pg-internals.ts';
import { countKeyUse } from '../jobs/reseal.ts';
import { IS_FILLED, missingSecretKeys } from '../service/open.ts';
import { checkAudit } from './audit-check.ts';
import { failed, runCheck, type Check } from './check.ts';
import { errorSummary } from './failure.ts';
import { withDatabase } from './operate.ts';

const WAIT_MS = 3000;
/** Checks DATABASE_URL, which requests use, and DATABASE_MIGRATION_URL, then the content of the database. */
export async function checkDatabase(config: Config): Promise<Check[]> {
  const { databaseUrl, databaseMigrationUrl: migrationUrl } = config;
  return [
    ...(databaseUrl === undefined || migrationUrl === undefined
      ? []
      : [
          await runCheck('database', () => describeUrl(databaseUrl, config, 'DATABASE_URL')),
          await runCheck('migration-url', () => describeUrl(migrationUrl, config, 'DATABASE_MIGRATION_URL')),
        ]),
    ...(await checkContent(config)),
  ];
}

async function describeUrl(url: string, config: Config, variable: string): Promise<string> {
  try {
    const resolved = variable === 'DATABASE_URL' ? await resolvePooler(url, config.databasePooler) : url;
    return await withClient(resolved, (client) => describeServer(client, config));
  } catch (error) {
    throw new Error(connectionFault(error, url, variable) ?? errorSummary(error));
  }
}

async function withClient<Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = createClient(url, { purpose: 'doctor', connectMs: WAIT_MS, statementMs: WAIT_MS });
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Checks what is in the database, and the server unless `checkDatabase` has checked it for each URL. */
async function checkContent(config: Config): Promise<Check[]> {
  const server = (check: Check): Check[] => (config.databaseMigrationUrl === undefined ? [check] : []);
  try {
    return await withDatabase(config, (url) =>
      withClient(url, async (client) => {
        const migrated = await runCheck('migrations', () => checkMigrations(client));
        const tables = (name: string, examine: () => Promise<string>) =>
          runCheck(name, migrated.ok ? examine : () => checkOlderTables(examine));
        return [
          ...server(await runCheck('database', () => describeServer(client, config))),
          migrated,
          await runCheck('clock', () => checkClock(client)),
          await tables('audit', () => checkAudit(url, config)),
          await tables('encrypted-data', () => checkEncryptedData(client, config)),
        ];
      }),
    );
  } catch (error) {
    const fault = config.databaseUrl === undefined ? undefined : connectionFault(error, config.databaseUrl);
    return [
      ...server(failed('database', fault ?? errorSummary(error))),
      ...['migrations', 'clock', 'audit', 'encrypted-data'].map((name) =>
        failed(name, 'not checked, because the database cannot be reached'),
      ),
    ];
  }
}

/** An undefined table, column or function, or a schema that is none of this version. */
const UNDEFINED = /^(42P01|42703|42883|3F000)$/;

/** Runs a check that is written for the present tables, although migrations are pending. */
async function checkOlderTables(examine: () => Promise<string>): Promise<string> {
  try {
    return await examine();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (UNDEFINED.test(code)) return 'not checked, because its tables are not migrated';
    throw new Error(`${errorSummary(error)}; check again after \`roster migrate\``);
  }
}

/** Says what is between this machine and PostgreSQL, and whether the settings fit. */
export async function checkPooler({
  databaseUrl,
  databaseMigrationUrl,
  databasePooler: setting,
}: Config): Promise<string> {
  if (databaseUrl === undefined) return 'none, because the database is embedded';
  const found = await detect(databaseUrl, 'DATABASE_URL');
  const told = setting === 'auto' || setting === found || (setting === 'transaction' && found === 'prepared');
  if (!told) throw new Error(`DATABASE_POOLER is ${setting}, but the pooler is ${POOLERS[found]}: set it to auto`);
  if (databaseMigrationUrl !== undefined && (await detect(databaseMigrationUrl, 'DATABASE_MIGRATION_URL')) !== 'none')
    throw new Error('DATABASE_MIGRATION_URL leads through a pooler: set the URL of PostgreSQL itself');
  const isShared = found === 'transaction' || found === 'prepared';
  const advice = 'jobs are found by polling: set DATABASE_MIGRATION_URL to start them at once';
  return isShared && databaseMigrationUrl === undefined ? `${POOLERS[found]}; ${advice}` : POOLERS[found];
}

const detect = (url: string, variable: string): Promise<Pooler> =>
  detectPooler(url).catch((error: unknown) => {
    throw new Error(`not checked: ${connectionFault(error, url, variable) ?? errorSummary(error)}`);
  });

const POOLERS = {
  none: 'none',
  session: 'in session mode: it needs a connection to the server for each connection of each replica',
  transaction: 'in transaction mode, without prepared statements',
  prepared: 'in transaction mode, with prepared statements',
} as const;

async function describeServer(client: Client, config: Config): Promise<string> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string; jit: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding, current_setting('jit') as jit`,
  );
  const [server] = rows;
  if (server === undefined || server.number < 140_000)
    throw new Error(`PostgreSQL ${server?.version} is too old: upgrade to 14 or later`);
  if (server.encoding !== 'UTF8') throw new Error(`the encoding is ${server.encoding}: create the database with UTF8`);
  if (config.databaseUrl === undefined) return `PostgreSQL ${server.version}, embedded`;
  return `PostgreSQL ${server.version}, ${tlsVersion(client) ?? 'without TLS'}, JIT ${server.jit}`;
}

// Not through the migrator, which would create its table: a check is read-only.
async function checkMigrations(client: Client): Promise<string> {
  await requireKnownSchema(client);
  const known = knownMigrations();
  const applied = await appliedMigrations(client);
  const pending = known.filter((name) => !applied.includes(name));
  if (pending.length > 0) throw new Error(`${pending.length} pending: run \`roster migrate\`, or start the service`);
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('graphile_worker.migrations') is not null as exists`,
  );
  if (rows[0]?.exists !== true)
    throw new Error('the job queue does not exist: run `roster migrate`, or start the service');
  const newer = applied.length - known.length;
  return `${known.length} applied, none pending${newer > 0 ? `; ${newer} more from a newer version` : ''}`;
}

async function checkClock(client: Client): Promise<string> {
  const skewMs = await measureSkewMs(async () => (await client.query<{ ms: number }>(CLOCK_TEXT)).rows[0]?.ms ?? 0);
  if (Math.abs(skewMs) > SKEW_MS_MAX)
    throw new Error(`this machine and the database are ${Math.abs(skewMs)} ms apart: synchronize their clocks`);
  return `within ${Math.abs(skewMs)} ms of the database's`;
}

/** Reports which keys of SECRET_KEYS are still needed. */
async function checkEncryptedData(client: Client, { secretKeys: keys, dataDir }: Config): Promise<string> {
  if (keys === undefined) return checkOwnKeys(client, dataDir);
  const { byKey, lost } = await countKeyUse(client, createEncryption(keys));
  if (lost > 0) throw new Error(`${lost} texts cannot be decrypted: add the removed key to SECRET_KEYS again`);
  const others = byKey.slice(1).flatMap((count, index) => (count === 0 ? [] : [`key ${index + 2} (${count} texts)`]));
  if (others.length > 0)
    return `${others.join(', ')} of SECRET_KEYS still needed: run \`roster secrets reseal\` to drop the old keys`;
  return keys.length === 1
    ? 'can be decrypted'
    : 'encrypted with the first key of SECRET_KEYS only: the others can be dropped';
}

async function checkOwnKeys(client: Client, dataDir: string): Promise<string> {
  if (existsSync(join(dataDir, 'secret-keys'))) return 'encrypted with the generated key';
  const { rows } = await client.query<{ isFilled: boolean }>(IS_FILLED);
  if (rows[0]?.isFilled === true) throw new Error(missingSecretKeys(dataDir));
  return 'nothing is encrypted yet';
}
