import { chownSync, copyFileSync, chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../cli/roster.ts';
import { createAuthority } from '../support/certificate-authority.ts';
import { freePort } from '../support/free-port.ts';
import { launchService, makeDataDir, removeDataDir, startService } from '../support/service.ts';
import { startPostgres, type Postgres } from './postgres.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

const authority = createAuthority();
const stranger = createAuthority();
let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
  await requireTls(postgres);
  await query('create database guarded');
});

afterAll(async () => {
  await postgres.close();
  authority.remove();
  stranger.remove();
});

/**
 * Makes a server refuse every connection without TLS, and to the database `guarded` also without a client certificate.
 * Its own certificate is for localhost, not for 127.0.0.1.
 */
async function requireTls({ url, directory }: Postgres): Promise<void> {
  const { uid, gid } = statSync(directory);
  const { cert, key } = authority.issue('localhost', 'DNS:localhost');
  for (const [from, name] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
    [authority.cert, 'clients.crt'],
  ] as const) {
    const file = join(directory, name);
    copyFileSync(from, file);
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
  writeFileSync(join(directory, 'pg_hba.conf'), 'hostssl guarded all all cert\nhostssl all all all scram-sha-256\n');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('alter system set ssl = on');
  await client.query(`alter system set ssl_ca_file = 'clients.crt'`);
  await client.query('select pg_reload_conf()');
  await client.end();
  await vi.waitFor(() => query('select'), { timeout: PATIENCE_MS });
}

/** Runs a statement over TLS, as an observer. */
async function query<Row>(sql: string, database?: string): Promise<Row[]> {
  const url = new URL(postgres.url);
  if (database !== undefined) url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href, ssl: { rejectUnauthorized: false } });
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return rows as Row[]; // the caller's SQL says what they are
  } finally {
    await client.end();
  }
}

type Backend = { application_name: string; ssl: boolean };

/** The kinds of connections to a database. */
const backendsOf = (database: string): Promise<Backend[]> =>
  query(`select distinct application_name, ssl from pg_stat_activity join pg_stat_ssl using (pid)
         where backend_type = 'client backend' and datname = '${database}' order by 1`);

function urlWith(parameters: Readonly<Record<string, string>>, host = 'localhost'): string {
  const url = new URL(postgres.url);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href.replaceAll('+', '%20');
}

function aDataDir(): string {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  return dataDir;
}

async function failedStart(url: string): Promise<string> {
  const service = launchService({
    dataDir: aDataDir(),
    env: { PORT: String(await freePort()), DATABASE_URL: url, SECRET_KEYS },
  });
  expect(await service.exited).toMatchObject({ code: 1 });
  return service.complaint();
}

const VERIFIED = { sslmode: 'verify-full', sslrootcert: authority.cert };

describe('with a PostgreSQL that accepts TLS only', () => {
  test('every connection of the service is encrypted and has the parameters of the URL', async () => {
    await query('create database service');
    await query('create schema teams', 'service');
    const parameters = { ...VERIFIED, dbname: 'service', application_name: 'teams', options: '-c search_path=teams' };
    const service = await startService({
      dataDir: aDataDir(),
      env: { DATABASE_URL: urlWith(parameters), SECRET_KEYS },
    });
    onTestFinished(async () => {
      service.kill('SIGKILL');
      await service.exited;
    });
    const answers = await Promise.all(Array.from({ length: 12 }, () => fetch(`${service.url}/readyz`)));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const lookAtAll = async () => {
      await fetch(`${service.url}/readyz`); // uses a connection of requests
      return backendsOf('service');
    };
    await expect.poll(lookAtAll, { interval: 100 }).toEqual(
      ['teams', 'teams events', 'teams webhooks', 'teams worker'].map((name) => ({
        application_name: name,
        ssl: true,
      })),
    );
    expect(
      await query(
        `select to_regclass('teams.account') is null as lost, to_regclass('public.account') as astray`,
        'service',
      ),
    ).toEqual([{ lost: false, astray: null }]);
  });

  test.each([
    ['migrate', []],
    ['doctor', []],
    ['backup', ['--to', join(tmpdir(), `roster-tls-${process.pid}.backup`)]],
    ['team', ['list']],
  ] as const)('`roster %s` connects over TLS', async (command, args) => {
    onTestFinished(() => rmSync(join(tmpdir(), `roster-tls-${process.pid}.backup`), { force: true }));
    const env = { DATABASE_URL: urlWith(VERIFIED), SECRET_KEYS };
    if (command !== 'migrate') await run(env, ['migrate']);

    const { code, stdout, stderr } = await run(env, [command, ...args]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    if (command === 'doctor') expect(stdout).toMatch(/^ok +database +PostgreSQL \S+, TLSv1\.3, JIT off$/m);
  });

  test.each([
    ['no sslmode', {}],
    ['prefer', { sslmode: 'prefer' }],
    ['require', { sslmode: 'require' }],
    ['require with a certificate authority', { sslmode: 'require', sslrootcert: authority.cert }],
    ['verify-ca', { sslmode: 'verify-ca', sslrootcert: authority.cert }],
  ] as const)('%s connects, whatever the host is called', async (_, parameters) => {
    const { code, stderr } = await run({ DATABASE_URL: urlWith(parameters, '127.0.0.1'), SECRET_KEYS }, ['migrate']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  const untrusted = expect.stringMatching(/^roster: DATABASE_URL: the certificate of \S+ is not trusted \([A-Z_]+\)/);
  test.each([
    ['another certificate authority', 'localhost', { ...VERIFIED, sslrootcert: stranger.cert }, untrusted],
    ['another one with verify-ca', 'localhost', { sslmode: 'verify-ca', sslrootcert: stranger.cert }, untrusted],
    ['another one with require', 'localhost', { sslmode: 'require', sslrootcert: stranger.cert }, untrusted],
    ['a private one without sslrootcert', 'localhost', { sslmode: 'verify-full' }, untrusted],
    [
      'another host name',
      '127.0.0.1',
      VERIFIED,
      expect.stringMatching(/^roster: DATABASE_URL: the certificate of 127\.0\.0\.1:\d+ is for another host name: /),
    ],
    [
      'no TLS',
      'localhost',
      { sslmode: 'disable' },
      expect.stringMatching(/^roster: DATABASE_URL: PostgreSQL at \S+ denied the login of \w+: check pg_hba.conf and/),
    ],
    [
      'a missing file',
      'localhost',
      { ...VERIFIED, sslrootcert: '/no/such/ca.crt' },
      'roster: DATABASE_URL: sslrootcert: /no/such/ca.crt cannot be read (ENOENT)\n',
    ],
    [
      'a misspelled parameter',
      'localhost',
      { sslmod: 'verify-full' },
      'roster: DATABASE_URL: the parameter sslmod is not supported: remove it\n',
    ],
  ] as const)('a start with %s fails in one line', async (_, host, parameters, line) => {
    const complaint = await failedStart(urlWith(parameters, host));

    expect(complaint).toEqual(line);
    expect(complaint.trimEnd().split('\n')).toHaveLength(1);
  });

  test('a client certificate is presented, and required ones that are absent are named', async () => {
    const { user } = new pg.Client({ connectionString: postgres.url });
    const { cert, key } = authority.issue(user ?? '');
    const foreign = stranger.issue(user ?? '');
    const migrateWith = (parameters: Record<string, string>) => {
      const url = new URL(urlWith({ ...VERIFIED, ...parameters }));
      url.pathname = '/guarded';
      return run({ DATABASE_URL: url.href, SECRET_KEYS }, ['migrate']);
    };

    expect(await migrateWith({ sslcert: cert, sslkey: key })).toMatchObject({ code: 0, stderr: '' });
    expect(await migrateWith({})).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^roster: DATABASE_URL: [^\n]+\n$/) as unknown,
    });
    expect(await migrateWith({ sslcert: foreign.cert, sslkey: foreign.key })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^roster: DATABASE_URL: TLS with \S+ failed \([A-Z0-9_]+\)[^\n]+\n$/) as unknown,
    });
  });
});

test('without TLS at the server, `require` fails in one line and the default connects', async () => {
  const plain = await startPostgres();
  onTestFinished(() => plain.close());
  const withMode = (mode: string) => `${plain.url}?sslmode=${mode}`;

  expect(await failedStart(withMode('require'))).toMatch(
    /^roster: DATABASE_URL: PostgreSQL at \S+ does not support TLS\n$/,
  );
  expect(await run({ DATABASE_URL: plain.url, SECRET_KEYS }, ['migrate'])).toMatchObject({ code: 0, stderr: '' });
});
