import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openOwnConnection } from '../../src/exports/own-connection.ts';
import { query } from '../../src/db/query.ts';
import { resolvePooler } from '../../src/db/pooler/detect.ts';
import { run } from '../cli/roster.ts';
import { hasPgBouncer, keepingPgBouncer, startPgBouncer, type PgBouncerOptions } from '../support/pgbouncer.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';
import { hasSystemPostgres, startSystemPostgres } from '../support/system-postgres.ts';
import { LOG_STATEMENTS, readStatements, type LoggedStatement } from './statement-log.ts';

const COUNT = query('count_teams', 'select count(*) from team', { rows: 'many' });
const SHOW_JIT = query<{ jit: string }>('show_jit', 'show jit', { rows: 'many' });

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

/** What PostgreSQL adds to the cost of a plan that was disabled and that it uses because there is no other. */
const DISABLED_COST = 1e9;

/** All that the service and its commands connect for; the empty one is that of requests and commands. */
const PURPOSES = ['', 'backup', 'doctor', 'events', 'export', 'migration', 'restore', 'webhooks', 'worker'];

/** The questions what is between the process and PostgreSQL, and which server it is, come before all settings. */
const UNSET = ['start', 'failover'];

describe.skipIf(!hasSystemPostgres)('on a server that compiles statements by default', () => {
  let server: Awaited<ReturnType<typeof startSystemPostgres>>;

  beforeAll(async () => {
    server = await startSystemPostgres(LOG_STATEMENTS);
  });
  afterAll(() => server.close());

  async function createDatabase(name: string): Promise<void> {
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    // It is there if the test is repeated.
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
    await admin.end();
  }

  /** Has everything connect that connects: the service with its jobs, commands, a backup, a restore and an export. */
  async function useAll(urlOf: (database: string) => string, name: string): Promise<string> {
    const file = join(tmpdir(), `roster-${name}-${process.pid}.backup`);
    const dataDir = makeDataDir();
    onTestFinished(() => rm(file, { force: true }));
    for (const database of [name, `${name}_restored`]) await createDatabase(database);
    const env = { DATABASE_URL: urlOf(name), SECRET_KEYS };
    const service = await startService({ dataDir, env });
    const roster = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await run(env, args);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      return stdout;
    };
    await roster('account', 'create', '--email', 'a@example.com', '--verified');
    const key = await roster(
      'key',
      'create',
      '--email',
      'a@example.com',
      '--scopes',
      'teams:read,teams:write',
      '--json',
    );
    const headers = { authorization: `Bearer ${JSON.parse(key).secret}`, 'content-type': 'application/json' };
    const teams = `${service.url}/api/v1/teams`;
    expect((await fetch(teams, { method: 'POST', headers, body: '{"name":"Core"}' })).status).toBe(201);
    expect((await fetch(teams, { headers })).status).toBe(200);
    await roster('audit', 'verify');
    const report = await roster('doctor');
    await roster('backup', '--to', file);
    await run({ ...env, DATABASE_URL: urlOf(`${name}_restored`) }, ['restore', '--from', file]);
    const resolved = await resolvePooler(env.DATABASE_URL, 'auto');
    const own = await openOwnConnection(resolved, 'export', [1, 'x']);
    await own?.query(COUNT, []);
    await own?.close();
    service.kill();
    await service.exited;
    await removeDataDir(dataDir);
    return report;
  }

  const ofPurpose = (name: string) =>
    readStatements(server.directory).flatMap((statement) => {
      const [found, purpose = ''] = new RegExp(`^${name}(?: (\\w+))?$`).exec(statement.connection) ?? [];
      return found === undefined || UNSET.includes(purpose) ? [] : [{ ...statement, purpose }];
    });

  const withName = (url: string, name: string) => `${url}?application_name=${name}`;

  /** Requires that no statement of the named connections can be compiled, and that all purposes are among them. */
  async function expectNoJit(name: string, purposes: readonly string[]): Promise<void> {
    await expect.poll(() => [...new Set(ofPurpose(name).map(({ purpose }) => purpose))].toSorted()).toEqual(purposes);
    const statements = ofPurpose(name);
    const textsOf = (found: readonly LoggedStatement[]) => [...new Set(found.map(({ text }) => text))];
    expect(textsOf(statements.filter(({ hasJit }) => hasJit))).toEqual([]);
    expect(textsOf(statements.filter(({ cost }) => cost >= DISABLED_COST))).toEqual([]);
  }

  test('no connection of the service or a command lets it, nor uses a plan that was disabled', async () => {
    const { host } = new URL(server.url);
    // With a list of servers, it also asks each which one accepts writes.
    const urlOf = (database: string) => withName(`postgres://roster:system@${host},${host}/${database}`, 'direct');
    const report = await useAll(urlOf, 'direct');

    await expectNoJit('direct', PURPOSES);
    expect(report).toMatch(/^ok +database +PostgreSQL [^\n]*JIT off$/m);
  });

  const poolers: readonly (readonly [string, PgBouncerOptions])[] = [
    ['session', { mode: 'session', size: 40 }],
    ['transaction', { mode: 'transaction', size: 4 }],
    // That of the distribution can be too old. Each night a newer one is there.
    ...(keepingPgBouncer === undefined
      ? []
      : [['prepared', { mode: 'transaction', size: 4, keepsStatements: true }] as const]),
  ];
  test.skipIf(!hasPgBouncer).for(poolers)('nor behind a pooler: %s', async ([name, options]) => {
    const bouncer = await startPgBouncer(server.url, options);
    onTestFinished(() => bouncer.stop());
    await useAll((database) => withName(bouncer.url.replace(/\w+$/, database), name), name);

    await expectNoJit(name, PURPOSES);
  });

  test('the operator can switch it on in the URL', async () => {
    const bouncer = hasPgBouncer
      ? await startPgBouncer(server.url, { mode: 'session', size: 4, settings: ['ignore_startup_parameters=options'] })
      : undefined;
    onTestFinished(() => bouncer?.stop());
    const options = encodeURIComponent('-c jit=on');
    for (const url of [server.url, bouncer?.url].filter((each) => each !== undefined)) {
      const resolved = await resolvePooler(`${url}?options=${options}`, 'auto');
      const own = await openOwnConnection(resolved, 'export', [1, 'x']);
      expect(await own?.query(SHOW_JIT, [])).toEqual([{ jit: 'on' }]);
      await own?.close();
    }
  });
});
