import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { Command } from 'commander';
import pg from 'pg';
import { readSecretKeys } from '../config-values.ts';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { appliedMigrations } from '../db/backup/tables.ts';
import { createEncryption } from '../crypto/encryption.ts';
import { connectionFault } from '../db/connection-fault.ts';
import { countKeyUse } from '../jobs/reseal.ts';
import { knownMigrations } from '../db/migrate.ts';
import { checkAudit } from './audit-check.ts';
import { CommandError, errorSummary } from './failure.ts';
import { print, withDatabase } from './operate.ts';

type Check = { readonly name: string; readonly ok: boolean; readonly detail: string };

const WAIT_MS = 3000;
/** Expiry is written by this clock and read by the database's. */
const SKEW_MS_MAX = 5000;
/** The embedded server's log alone may grow to a gigabyte before it is used again. */
const FREE_MIB_MIN = 1024;

export function doctorCommand(command: Command): void {
  command.action(async () => {
    const checks = await examine();
    print(command, { json: checks, text: checks.map(line).join('\n') });
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    if (failed.length > 0)
      throw new CommandError(`${failed.length} of ${checks.length} checks failed: ${failed.join(', ')}`);
  });
}

const line = ({ name, ok, detail }: Check): string => `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(16)}${detail}`;

async function examine(): Promise<Check[]> {
  try {
    const config = readConfig(process.env);
    const [database, ...others] = await Promise.all([
      databaseChecks(config),
      check('redis', () => redis(config)),
      check('mail', () => mail(config)),
      check('disk', () => disk(config)),
      check('secret-keys', () => secretKeys(config)),
      Promise.resolve(passed('base-url', config.baseUrl)),
    ]);
    return [passed('configuration', 'every variable can be read'), ...database, ...others];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed('configuration', error.message)];
  }
}

const passed = (name: string, detail: string): Check => ({ name, ok: true, detail });
const failed = (name: string, detail: string): Check => ({ name, ok: false, detail });

/** A check passes with its answer and fails with what it throws. */
async function check(name: string, examineOne: () => string | Promise<string>): Promise<Check> {
  try {
    return passed(name, await examineOne());
  } catch (error) {
    return failed(name, errorSummary(error));
  }
}

async function databaseChecks(config: Config): Promise<Check[]> {
  try {
    return await withDatabase(config, async (connectionString) => {
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS });
      // A connection that breaks fails the query that waits for it.
      client.on('error', () => undefined);
      try {
        await client.connect();
        const migrated = await check('migrations', () => migrations(client));
        return [
          await check('database', () => version(client, config)),
          migrated,
          await check('clock', () => clock(client)),
          ...(migrated.ok
            ? [
                await check('audit', () => checkAudit(connectionString, config)),
                await check('encrypted-data', () => encryptedData(client, config)),
              ]
            : []),
        ];
      } finally {
        await client.end();
      }
    });
  } catch (error) {
    const unknown = 'not known, because the database cannot be reached';
    const fault = config.databaseUrl === undefined ? undefined : connectionFault(error, config.databaseUrl);
    return [
      failed('database', fault ?? errorSummary(error)),
      failed('migrations', unknown),
      failed('clock', unknown),
      failed('encrypted-data', unknown),
    ];
  }
}

async function version(client: pg.Client, config: Config): Promise<string> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (server === undefined || server.number < 140_000)
    throw new Error(`PostgreSQL ${server?.version} is too old: 14 is the oldest that will do`);
  if (server.encoding !== 'UTF8') throw new Error(`the encoding is ${server.encoding} and must be UTF8`);
  return `PostgreSQL ${server.version}${config.databaseUrl === undefined ? ', embedded' : ''}`;
}

// Read here and not through the migrator, which would make its table: a check changes nothing.
async function migrations(client: pg.Client): Promise<string> {
  const known = knownMigrations();
  const applied = await appliedMigrations(client);
  const pending = known.filter((name) => !applied.includes(name));
  if (pending.length > 0)
    throw new Error(`${pending.length} to apply; \`roster migrate\`, or the next start of the service, does it`);
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('graphile_worker.migrations') is not null as exists`,
  );
  if (rows[0]?.exists !== true)
    throw new Error('the job queue is not there; `roster migrate`, or the next start of the service, makes it');
  const newer = applied.length - known.length;
  return `${known.length} applied, none to apply${newer > 0 ? `; ${newer} more of a newer version` : ''}`;
}

async function clock(client: pg.Client): Promise<string> {
  const asked = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  const skewMs = Math.round((rows[0]?.ms ?? 0) - (asked + Date.now()) / 2);
  if (Math.abs(skewMs) > SKEW_MS_MAX)
    throw new Error(`this machine and the database are ${Math.abs(skewMs)} ms apart: synchronize their clocks`);
  return `within ${Math.abs(skewMs)} ms of the database's`;
}

async function redis({ redisUrl }: Config): Promise<string> {
  if (redisUrl === undefined) return 'not configured: requests are counted in memory, which is right for one replica';
  const { openRedisWindows } = await import('../rate-limit/redis-store.ts');
  let fault: unknown;
  const windows = openRedisWindows(redisUrl, {
    limit: 1000,
    windowSeconds: 60,
    onFallback: (error) => (fault ??= error),
    onRecovery: () => undefined,
  });
  try {
    // A connection takes longer than the windows wait for it on their own.
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline && fault === undefined;) {
      if ((await windows.count('doctor', 1)) !== undefined) return 'reachable, and counts requests';
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    windows.close();
  }
  throw new Error(fault === undefined ? `no answer within ${WAIT_MS} ms` : errorSummary(fault));
}

async function mail({ smtpUrl, dataDir }: Config): Promise<string> {
  if (smtpUrl !== undefined) return greeting(new URL(smtpUrl));
  const directory = join(dataDir, 'mail');
  accessSync(nearest(directory), constants.W_OK | constants.X_OK);
  return `written to files in ${directory}`;
}

const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)));

/** Waits for the greeting of the mail server, and sends nothing but a goodbye. */
function greeting({ protocol, hostname, port }: URL): Promise<string> {
  const isTls = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const address = { host, port: Number(port || (isTls ? 465 : 587)) };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = isTls ? connectTls({ ...address, servername: host }) : connect(address);
  socket
    .setTimeout(WAIT_MS, () => reject(new Error(`${host}:${address.port} does not answer within ${WAIT_MS} ms`)))
    .once('error', reject)
    .once('close', () => reject(new Error(`${host}:${address.port} closes the connection`)))
    .once('data', (data: Buffer) => {
      if (data.toString().startsWith('220')) resolve(`${host}:${address.port} takes mail`);
      else reject(new Error(`${host}:${address.port} is no mail server, or takes no mail now`));
    });
  return promise.finally(() =>
    socket
      .on('error', () => undefined)
      .end('QUIT\r\n')
      .destroySoon(),
  );
}

function disk({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl !== undefined) return 'not used by the database, which is elsewhere';
  const { bavail, bsize } = statfsSync(nearest(join(dataDir, 'postgres')));
  const freeMib = Math.floor((bavail * bsize) / 1024 ** 2);
  if (freeMib < FREE_MIB_MIN) throw new Error(`${freeMib} MiB free in ${dataDir}: the database needs room to write`);
  return `${freeMib} MiB free in ${dataDir}`;
}

/** Says which keys of SECRET_KEYS are still needed. */
async function encryptedData(client: pg.Client, { secretKeys: keys }: Config): Promise<string> {
  if (keys === undefined) return 'encrypted with the generated key';
  const { byKey, lost } = await countKeyUse(client, createEncryption(keys));
  if (lost > 0)
    throw new Error(`${lost} texts cannot be decrypted: put the key that was dropped back into SECRET_KEYS`);
  const others = byKey.slice(1).flatMap((count, index) => (count === 0 ? [] : [`key ${index + 2} (${count} texts)`]));
  if (others.length > 0)
    return `${others.join(', ')} of SECRET_KEYS is needed: run \`roster secrets reseal\` to drop it`;
  return keys.length === 1
    ? 'can be decrypted'
    : 'encrypted with the first of SECRET_KEYS alone: the others can be dropped';
}

function secretKeys({ secretKeys: keys, dataDir }: Config): string {
  if (keys !== undefined) return `${keys.length} in SECRET_KEYS`;
  const file = join(dataDir, 'secret-keys');
  if (!existsSync(file)) return `the first start of the service makes one in ${file}`;
  return `${readSecretKeys(readFileSync(file, 'utf8').trim()).length} in ${file}`;
}
