import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startMailServer } from '../jobs/mail-server.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { refusalOf, rosterOfItsOwn, run } from './roster.ts';

const roster = await rosterOfItsOwn();

type Check = { name: string; ok: boolean; detail: string };

const NOWHERE = 'postgres://roster@127.0.0.1:1/roster';

/** A database as `create database` leaves it. */
async function anEmptyDatabase(): Promise<string> {
  const url = new URL(roster.env.DATABASE_URL);
  const name = `${url.pathname.slice(1)}_empty`;
  await roster.rows(`create database ${name}`);
  onTestFinished(async () => void (await roster.rows(`drop database ${name} with (force)`)));
  url.pathname = `/${name}`;
  return url.href;
}

async function doctor(env: NodeJS.ProcessEnv) {
  const { code, stdout, stderr } = await run({ ...roster.env, ...env }, ['doctor', '--json']);
  const checks: Check[] = JSON.parse(stdout);
  return { code, stderr, checks, failed: checks.filter(({ ok }) => !ok).map(({ name }) => name) };
}

describe('migrate', () => {
  test('prints the migrations that it applied, once', async () => {
    const env = { ...roster.env, DATABASE_URL: await anEmptyDatabase() };

    expect(await doctor(env)).toMatchObject({
      code: 1,
      failed: ['migrations'],
      stderr: 'roster: 1 of 12 checks failed: migrations\n',
      checks: expect.arrayContaining(
        ['audit', 'encrypted-data'].map((name) => ({
          name,
          ok: true,
          detail: 'not checked, because its tables are not migrated',
        })),
      ),
    });
    const first = await run(env, ['migrate', '--json']);
    const second = await run(env, ['migrate', '--json']);

    expect(JSON.parse(first.stdout)).toEqual({ applied: expect.arrayContaining(['Migration20261121000000_initial']) });
    expect(second).toEqual({ code: 0, stdout: '{"applied":[]}\n', stderr: '' });
  });
});

describe('doctor', () => {
  test('passes on a database that is up to date', async () => {
    const { code, stderr, checks } = await doctor({});

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = (await run(roster.env, ['doctor'])).stdout.trim().split('\n');
    for (const text of lines) expect(text).toMatch(/^ok {6}[a-z-]+ +\S/);
    for (const { name } of checks) expect(lines.join('\n')).toContain(`ok      ${name} `);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual(
      [
        'configuration',
        'database',
        'migrations',
        'clock',
        'audit',
        'encrypted-data',
        'pooler',
        'redis',
        'mail',
        'disk',
        'secret-keys',
        'base-url',
      ].map((name) => [name, true]),
    );
  });

  // Guarantees that a rolling upgrade does not look like a fault to the version that is going.
  test('passes if a newer version has migrated, and reports that', async () => {
    const later = 'Migration29991231000000_later';
    await roster.rows(`insert into mikro_orm_migrations (name) values ($1)`, [later]);
    onTestFinished(async () => void (await roster.rows('delete from mikro_orm_migrations where name = $1', [later])));

    const { code, checks } = await doctor({});

    expect(code).toBe(0);
    expect(checks.find(({ name }) => name === 'migrations')?.detail).toContain('1 more from a newer version');
  });

  // Guarantees that nobody migrates a database whose log was changed, or whose keys are lost, without being told.
  test('checks the audit log and encrypted data while migrations are pending', async () => {
    await roster.rows('alter table audit_event disable trigger audit_event_append_only');
    const [last] = await roster.rows<{ name: string }>(
      `delete from mikro_orm_migrations where name = (select max(name) from mikro_orm_migrations) returning name`,
    );
    onTestFinished(async () => {
      await roster.rows('insert into mikro_orm_migrations (name) values ($1)', [last?.name ?? '']);
      await roster.rows('alter table audit_event enable trigger audit_event_append_only');
    });

    const { failed, checks } = await doctor({});

    expect(failed).toEqual(['migrations', 'audit']);
    expect(checks.find(({ name }) => name === 'audit')?.detail).toMatch(
      /^trigger audit_event_append_only is disabled \(trigger_disabled\).*; check again after `roster migrate`$/,
    );
    expect(checks.find(({ name }) => name === 'encrypted-data')).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/decrypted/),
    });
  });

  test('fails on the schema of a version that this one refuses to start on', async () => {
    const [version] = await roster.rows<{ comment: string }>(
      `select obj_description('mikro_orm_migrations'::regclass, 'pg_class') as comment`,
    );
    await roster.rows(`comment on table mikro_orm_migrations is 'Roster 1.5.0'`);
    onTestFinished(
      async () => void (await roster.rows(`comment on table mikro_orm_migrations is '${version?.comment}'`)),
    );

    const { code, checks } = await doctor({});

    expect(code).toBe(1);
    expect(checks.find(({ name }) => name === 'migrations')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^the database was migrated by Roster 1\.5, more than one version after this one/),
    });
  });

  // Guarantees that a good DATABASE_MIGRATION_URL does not hide what requests would meet.
  test('checks DATABASE_URL and DATABASE_MIGRATION_URL, each with its reason', async () => {
    const good = roster.env.DATABASE_URL;
    const wrong = new URL(good);
    wrong.password = 'not-the-password';
    const [requests, migrations, both] = await Promise.all([
      doctor({ DATABASE_URL: wrong.href, DATABASE_MIGRATION_URL: good }),
      doctor({ DATABASE_URL: good, DATABASE_MIGRATION_URL: wrong.href }),
      doctor({ DATABASE_URL: good, DATABASE_MIGRATION_URL: good }),
    ]);
    const detail = ({ checks }: typeof requests, name: string) => checks.find((check) => check.name === name)?.detail;

    expect(requests.failed).toEqual(['database', 'pooler']);
    expect(detail(requests, 'database')).toMatch(/^DATABASE_URL: PostgreSQL at \S+ denied the login/);
    expect(detail(requests, 'pooler')).toMatch(/^not checked: DATABASE_URL: PostgreSQL at \S+ denied the login/);
    expect(migrations.failed).toEqual(['migration-url', 'migrations', 'clock', 'audit', 'encrypted-data', 'pooler']);
    expect(detail(migrations, 'migration-url')).toMatch(/^DATABASE_MIGRATION_URL: PostgreSQL at \S+ denied the login/);
    expect(both.failed).toEqual([]);
    expect(detail(both, 'migration-url')).toMatch(/^PostgreSQL \d/);
  });

  test('names what cannot be reached, and a setting that cannot be', async () => {
    const [unreachable, misconfigured] = await Promise.all([
      doctor({
        DATABASE_URL: NOWHERE,
        REDIS_URL: 'redis://127.0.0.1:1',
        SMTP_URL: 'smtp://127.0.0.1:1',
      }),
      doctor({ BASE_URL: 'http://roster.example.com' }),
    ]);

    expect(unreachable).toMatchObject({
      code: 1,
      failed: ['database', 'migrations', 'clock', 'audit', 'encrypted-data', 'pooler', 'redis', 'mail'],
      stderr: expect.stringMatching(/^roster: 8 of 12 checks failed: /),
    });
    expect(misconfigured.checks).toEqual([
      {
        name: 'configuration',
        ok: false,
        detail: 'BASE_URL: must be https unless it names this machine (localhost, a name below it, 127.0.0.1, [::1])',
      },
    ]);
  });

  test('asks the mail server whether it accepts the sender', async () => {
    const server = await startMailServer();
    onTestFinished(() => server.close());

    expect((await doctor({ SMTP_URL: server.url, MAIL_FROM: 'Acme <teams@acme.example>' })).checks).toContainEqual({
      name: 'mail',
      ok: true,
      detail: `${new URL(server.url).host} accepts email from teams@acme.example`,
    });
  });

  test.skipIf(!hasRedis)('counts in Redis', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());

    expect((await doctor({ REDIS_URL: redis.url })).failed).toEqual([]);
  });
});

describe('a failed command', () => {
  test('of what commander does not know is one line as well', async () => {
    const lines = await Promise.all([
      roster.refusal(),
      roster.refusal('member'),
      roster.refusal('acount', 'list'),
      roster.refusal('account', 'lst'),
      roster.refusal('account', 'list', '--jsn'),
      roster.refusal('account', 'list', 'all'),
      roster.refusal('seed'),
    ]);

    expect(lines).toEqual([
      'name a command (see --help)',
      'name a command (see --help)',
      "unknown command 'acount'",
      "unknown command 'lst'",
      "unknown option '--jsn'",
      "too many arguments for 'list'. Expected 0 arguments but got 1: all.",
      "required option '--demo' not specified",
    ]);
  });

  test('names the setting, or the database that is away', async () => {
    const [setting, database] = await Promise.all([
      run({ ...roster.env, RATE_LIMIT: 'many' }, ['account', 'list']),
      run({ ...roster.env, DATABASE_URL: NOWHERE }, ['account', 'list']),
    ]);

    expect(refusalOf(setting)).toMatch(/^RATE_LIMIT: /);
    expect(refusalOf(database)).toBe('DATABASE_URL: no PostgreSQL server answers at 127.0.0.1:1 (ECONNREFUSED)');
  });
});

test('help goes to stdout, and is no failure', async () => {
  const { code, stdout, stderr } = await roster.run('member', 'add', '--help');

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('--expires-at <instant>');
});

// Guarantees that operators need not stop what uses the embedded database, nor prepare it.
test.skipIf(process.platform === 'win32')(
  'two commands at once work on a directory that has no database yet',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'roster-cli-'));
    chmodSync(dataDir, 0o755);
    onTestFinished(() => {
      for (const directory of [realpathSync(join(dataDir, 'postgres')), dataDir])
        rmSync(directory, { recursive: true, force: true });
    });
    const command = (...args: string[]) => run({ DATA_DIR: dataDir }, ['account', ...args, '--json']);

    const made = await Promise.all([
      command('create', '--email', 'a@example.com'),
      command('create', '--email', 'b@example.com'),
    ]);

    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const checks: Check[] = JSON.parse((await run({ DATA_DIR: dataDir }, ['doctor', '--json'])).stdout);
    expect(checks.find(({ name }) => name === 'database')?.detail).toMatch(/, embedded$/);
    expect(checks.find(({ name }) => name === 'disk')?.detail).toContain(`MiB free in ${dataDir}`);
    const list = await command('list');
    expect([list.code, list.stderr]).toEqual([0, '']);
    const listed: { email: string }[] = JSON.parse(list.stdout);
    expect(listed.map(({ email }) => email).toSorted()).toEqual(['a@example.com', 'b@example.com']);
  },
);
