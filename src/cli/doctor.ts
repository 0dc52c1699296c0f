import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { Command } from 'commander';
import type { Client } from 'pg';
import { readSecretKeys } from '../config-values.ts';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { appliedMigrations } from '../db/backup/tables.ts';
import { createEncryption } from '../crypto/encryption.ts';
import { createClient } from '../db/connection.ts';
import { connectionFault } from '../db/connection-fault.ts';
import { detectPooler } from '../db/detect-pooler.ts';
import { tlsVersion } from '../db/pg-internals.ts';
import { countKeyUse } from '../jobs/reseal.ts';
import { knownMigrations } from '../db/migrate.ts';
import { checkAudit } from './audit-check.ts';
import { CommandError, errorSummary } from './failure.ts';
import { print, withDatabase } from './operate.ts';

type Check = { readonly name: string; readonly ok: boolean; readonly detail: string };

const WAIT_MS = 3000;
/** Expiry times are written with this machine's clock and compared with the database's. */
const SKEW_MS_MAX = 5000;
/** The write-ahead log of the embedded server can grow to 1 GB before it is recycled. */
const FREE_MIB_MIN = 1024;

export function doctorCommand(command: Command): void {
  command.action(async () => {
    const checks = await runChecks();
    print(command, { json: checks, text: checks.map(formatCheck).join('\n') });
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    if (failed.length > 0)
      throw new CommandError(`${failed.length} of ${checks.length} checks failed: ${failed.join(', ')}`);
  });
}

const formatCheck = ({ name, ok, detail }: Check): string => `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(16)}${detail}`;

async function runChecks(): Promise<Check[]> {
  try {
    const config = readConfig(process.env);
    const [database, ...others] = await Promise.all([
      checkDatabase(config),
      runCheck('pooler', () => checkPooler(config)),
      runCheck('redis', () => checkRedis(config)),
      runCheck('mail', () => checkMail(config)),
      runCheck('disk', () => checkDisk(config)),
      runCheck('secret-keys', () => countSecretKeys(config)),
      Promise.resolve(passed('base-url', config.baseUrl)),
    ]);
    return [passed('configuration', 'all variables are valid'), ...database, ...others];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed('configuration', error.message)];
  }
}

const passed = (name: string, detail: string): Check => ({ name, ok: true, detail });
const failed = (name: string, detail: string): Check => ({ name, ok: false, detail });

/** Runs one check. Its result is the detail if it passes; its error is the detail if it fails. */
async function runCheck(name: string, examineOne: () => string | Promise<string>): Promise<Check> {
  try {
    return passed(name, await examineOne());
  } catch (error) {
    return failed(name, errorSummary(error));
  }
}

async function checkDatabase(config: Config): Promise<Check[]> {
  try {
    return await withDatabase(config, async (databaseUrl) => {
      const client = createClient(databaseUrl, { purpose: 'doctor', connectMs: WAIT_MS, statementMs: WAIT_MS });
      try {
        await client.connect();
        const migrated = await runCheck('migrations', () => checkMigrations(client));
        return [
          await runCheck('database', () => describeServer(client, config)),
          migrated,
          await runCheck('clock', () => checkClock(client)),
          ...(migrated.ok
            ? [
                await runCheck('audit', () => checkAudit(databaseUrl, config)),
                await runCheck('encrypted-data', () => checkEncryptedData(client, config)),
              ]
            : []),
        ];
      } finally {
        await client.end();
      }
    });
  } catch (error) {
    const unknown = 'not checked, because the database cannot be reached';
    const fault = config.databaseUrl === undefined ? undefined : connectionFault(error, config.databaseUrl);
    return [
      failed('database', fault ?? errorSummary(error)),
      failed('migrations', unknown),
      failed('clock', unknown),
      failed('encrypted-data', unknown),
    ];
  }
}

/** Says what is between this machine and PostgreSQL, and whether the settings fit. */
async function checkPooler({ databaseUrl, databaseMigrationUrl, databasePooler: setting }: Config): Promise<string> {
  if (databaseUrl === undefined) return 'none, because the database is embedded';
  const found = await detectPooler(databaseUrl).catch(() => undefined);
  if (found === undefined) throw new Error('not checked, because the database cannot be reached');
  const told = setting === 'auto' || setting === found || (setting === 'transaction' && found === 'prepared');
  if (!told) throw new Error(`DATABASE_POOLER is ${setting}, but the pooler is ${POOLERS[found]}: set it to auto`);
  if (databaseMigrationUrl !== undefined && (await detectPooler(databaseMigrationUrl)) !== 'none')
    throw new Error('DATABASE_MIGRATION_URL leads through a pooler: set the URL of PostgreSQL itself');
  const isShared = found === 'transaction' || found === 'prepared';
  const advice = 'jobs are found by polling: set DATABASE_MIGRATION_URL to start them at once';
  return isShared && databaseMigrationUrl === undefined ? `${POOLERS[found]}; ${advice}` : POOLERS[found];
}

const POOLERS = {
  none: 'none',
  session: 'in session mode: it needs a connection to the server for each connection of each replica',
  transaction: 'in transaction mode, without prepared statements',
  prepared: 'in transaction mode, with prepared statements',
} as const;

async function describeServer(client: Client, config: Config): Promise<string> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (server === undefined || server.number < 140_000)
    throw new Error(`PostgreSQL ${server?.version} is too old: upgrade to 14 or later`);
  if (server.encoding !== 'UTF8') throw new Error(`the encoding is ${server.encoding}: create the database with UTF8`);
  if (config.databaseUrl === undefined) return `PostgreSQL ${server.version}, embedded`;
  return `PostgreSQL ${server.version}, ${tlsVersion(client) ?? 'without TLS'}`;
}

// Not through the migrator, which would create its table: a check is read-only.
async function checkMigrations(client: Client): Promise<string> {
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
  const asked = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  const skewMs = Math.round((rows[0]?.ms ?? 0) - (asked + Date.now()) / 2);
  if (Math.abs(skewMs) > SKEW_MS_MAX)
    throw new Error(`this machine and the database are ${Math.abs(skewMs)} ms apart: synchronize their clocks`);
  return `within ${Math.abs(skewMs)} ms of the database's`;
}

async function checkRedis({ redisUrl, redisTls }: Config): Promise<string> {
  if (redisUrl === undefined) return 'not configured: requests are counted in memory, which supports only one replica';
  const { openRedisWindows } = await import('../rate-limit/redis-store.ts');
  let fault: unknown;
  const windows = openRedisWindows(redisUrl, {
    redisTls,
    limit: 1000,
    windowSeconds: 60,
    onFallback: (error) => (fault ??= error),
    onRecovery: () => undefined,
  });
  try {
    // Connecting can take longer than the timeout of one count.
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline && fault === undefined;) {
      if ((await windows.count('doctor', 1)) !== undefined) return 'reachable; requests are counted';
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    windows.close();
  }
  throw new Error(fault === undefined ? `no response within ${WAIT_MS} ms` : errorSummary(fault));
}

async function checkMail({ smtpUrl, dataDir }: Config): Promise<string> {
  if (smtpUrl !== undefined) return awaitGreeting(new URL(smtpUrl));
  const directory = join(dataDir, 'mail');
  accessSync(findExistingParent(directory), constants.W_OK | constants.X_OK);
  return `written to files in ${directory}`;
}

const findExistingParent = (path: string): string => (existsSync(path) ? path : findExistingParent(dirname(path)));

/** Waits for the greeting of the SMTP server, then disconnects with QUIT. */
function awaitGreeting({ protocol, hostname, port }: URL): Promise<string> {
  const isTls = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const address = { host, port: Number(port || (isTls ? 465 : 587)) };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = isTls ? connectTls({ ...address, servername: host }) : connect(address);
  socket
    .setTimeout(WAIT_MS, () => reject(new Error(`${host}:${address.port} did not respond within ${WAIT_MS} ms`)))
    .once('error', reject)
    .once('close', () => reject(new Error(`${host}:${address.port} closed the connection`)))
    .once('data', (data: Buffer) => {
      if (data.toString().startsWith('220')) resolve(`${host}:${address.port} accepts email`);
      else reject(new Error(`${host}:${address.port} is not an SMTP server, or does not accept email at the moment`));
    });
  return promise.finally(() =>
    socket
      .on('error', () => undefined)
      .end('QUIT\r\n')
      .destroySoon(),
  );
}

function checkDisk({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl !== undefined) return 'not checked, because the database is external';
  const { bavail, bsize } = statfsSync(findExistingParent(join(dataDir, 'postgres')));
  const freeMib = Math.floor((bavail * bsize) / 1024 ** 2);
  if (freeMib < FREE_MIB_MIN)
    throw new Error(`${freeMib} MiB free in ${dataDir}: free at least ${FREE_MIB_MIN} MiB for the database`);
  return `${freeMib} MiB free in ${dataDir}`;
}

/** Reports which keys of SECRET_KEYS are still needed. */
async function checkEncryptedData(client: Client, { secretKeys: keys }: Config): Promise<string> {
  if (keys === undefined) return 'encrypted with the generated key';
  const { byKey, lost } = await countKeyUse(client, createEncryption(keys));
  if (lost > 0) throw new Error(`${lost} texts cannot be decrypted: add the removed key to SECRET_KEYS again`);
  const others = byKey.slice(1).flatMap((count, index) => (count === 0 ? [] : [`key ${index + 2} (${count} texts)`]));
  if (others.length > 0)
    return `${others.join(', ')} of SECRET_KEYS still needed: run \`roster secrets reseal\` to drop the old keys`;
  return keys.length === 1
    ? 'can be decrypted'
    : 'encrypted with the first key of SECRET_KEYS only: the others can be dropped';
}

function countSecretKeys({ secretKeys: keys, dataDir }: Config): string {
  if (keys !== undefined) return `${keys.length} in SECRET_KEYS`;
  const file = join(dataDir, 'secret-keys');
  if (!existsSync(file)) return `the first start of the service generates one in ${file}`;
  return `${readSecretKeys(readFileSync(file, 'utf8').trim()).length} in ${file}`;
}
