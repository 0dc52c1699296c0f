import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, afterAll, expect, test } from 'vitest';
import { knownMigrations, migrate } from '../../src/db/migrate.ts';
import { run } from '../cli/roster.ts';
import { startApi, type Api } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { tokenIn } from '../support/mailbox.ts';

/** The last migration of the version that the fixture was written by. */
const BEFORE = 'Migration20261121151730_audit_log';
const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

type Named = { readonly id: string };
type Credential = Named & { readonly secret: string };
type Fixture = {
  /** Rows and secrets that the tests use. */
  readonly known: {
    readonly vera: Named & { readonly email: string; readonly password: string };
    /** Has never verified the address, but obtained a key and a passkey. */
    readonly paul: Named & { readonly email: string; readonly password: string };
    readonly paulKey: Credential;
    readonly veraTeam: Named;
    readonly veraKey: Credential;
    readonly member: Named;
    /** Three for one account, client and audience, the latest last; each has made a key. */
    readonly grants: readonly Credential[];
    readonly teamGrants: readonly Credential[];
    readonly grantKeys: readonly Credential[];
    readonly team: Named;
    readonly key: Credential;
    readonly grant: Credential;
  };
  readonly jobs: readonly { task: string; payload: unknown; key: string; max_attempts: number }[];
  /** All rows of that version, by table. Only the expiries were moved to 2099. */
  readonly tables: Readonly<Record<string, readonly object[]>>;
};

const fixture = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/audit-log-version.json'), 'utf8'),
) as Fixture; // written by the service of that version
const { known, jobs, tables } = fixture;

let database: TestDatabase;
let api: Api;
let ran: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query('drop schema public cascade; create schema public; drop schema graphile_worker cascade');
  await migrate(database.url, BEFORE);
  // The rows come in no order of their foreign keys, and with the rows that triggers made.
  await admin.query('set session_replication_role = replica');
  for (const table of Object.keys(tables)) await admin.query(`truncate "${table}" cascade`);
  for (const [table, rows] of Object.entries(tables)) {
    await admin.query(`insert into "${table}" select * from jsonb_populate_recordset(null::"${table}", $1::jsonb)`, [
      JSON.stringify(rows),
    ]);
  }
  for (const { task, payload, key, max_attempts: attemptsMax } of jobs) {
    await admin.query('select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4)', [
      task,
      JSON.stringify(payload),
      key,
      attemptsMax,
    ]);
  }
  const { rows: empty } = await admin.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'mikro_orm_migrations'
       and not tablename = any($1)`,
    [Object.keys(tables)],
  );
  expect(empty).toEqual([]);
  await admin.end();

  ran = await migrate(database.url);
  api = await startApi({ SECRET_KEYS }, { databaseUrl: database.url });
  api.allowStrayEvents();
});

afterAll(async () => {
  await api?.close();
  await database?.drop();
});

/** Runs the operator's command on the upgraded database. */
const roster = async (...args: string[]) => run({ DATABASE_URL: database.url, SECRET_KEYS }, args);

test('the filled database of that version takes every later migration', () => {
  expect(ran).toEqual(knownMigrations().filter((name) => name > BEFORE));
  expect(ran.length).toBeGreaterThan(0);
});

test('an account signs in with its password, and its team is there', async () => {
  const visitor = api.visitor();
  await visitor.trpc.auth.signIn.mutate({ email: known.vera.email, password: known.vera.password });

  const teams = await visitor.trpc.listTeams.query();
  expect(teams.map(({ id }) => id)).toEqual([known.veraTeam.id]);
});

test('keys work as before, and so does the token of the latest of equal grants', async () => {
  const { status, body } = await api.as(known.veraKey).get('/api/v1/teams');
  expect(status).toBe(200);
  expect(body).toMatchObject([{ id: known.veraTeam.id }]);
  expect((await api.as(known.key).get(`/api/v1/teams/${known.team.id}`)).status).toBe(200);
  expect((await api.as(known.grant).get('/api/v1/teams')).status).toBe(200);
  for (const { at, of } of [
    { at: known.grants.at(-1), of: 'grants' },
    { at: known.teamGrants.at(-1), of: 'grants for a team' },
  ]) {
    expect((await api.as(at ?? { secret: '' }).get('/api/v1/teams')).status, of).toBe(200);
  }
});

test('a key that was created through a grant works while the grant does, and not after it has expired', async () => {
  const [first, , , ofExpired] = known.grantKeys;
  await api.rows(`select graphile_worker.add_job('cleanup_grant_keys', job_key := 'cleanup_grant_keys')`);
  await api.mailTo(known.vera.email); // The first look starts the worker.

  expect([200, 401]).toContain((await api.as(first ?? { secret: '' }).get('/api/v1/teams')).status);
  await expect.poll(async () => (await api.as(ofExpired ?? { secret: '' }).get('/api/v1/teams')).status).toBe(401);
});

test('an unverified account belongs to the user who proves the mailbox, without access that was obtained before', async () => {
  const before = await api.visitor().trpc.auth.signIn.mutate(known.paul).catch(String);
  expect(before).not.toContain('internal_error');

  const owner = api.visitor();
  await owner.trpc.auth.forgotPassword.mutate({ email: known.paul.email });
  const token = tokenIn(await api.mailTo(known.paul.email, /password/i));
  const password = 'another wandering heron';
  await owner.trpc.auth.resetPassword.mutate({ token, password });

  await owner.trpc.auth.signIn.mutate({ email: known.paul.email, password });
  expect(await owner.trpc.listTeams.query()).toEqual([]);
  expect((await api.as(known.paulKey).get('/api/v1/me')).status).toBe(401);
  expect(await api.rows('select from passkey where account_id = $1', [known.paul.id])).toEqual([]);
});

test('roles whose names look the same are all kept, with their members', async () => {
  const visitor = api.visitor();
  await visitor.trpc.auth.signIn.mutate({ email: known.vera.email, password: known.vera.password });
  const custom = (tables['role'] as { id: string; team_id: string | null }[]).filter(
    ({ team_id: teamId }) => teamId === known.veraTeam.id,
  );

  const roles = await visitor.trpc.listTeamRoles.query({ teamId: known.veraTeam.id });
  const members = await visitor.trpc.listTeamMembers.query({ teamId: known.veraTeam.id });

  expect(custom).toHaveLength(8);
  expect(roles.map(({ roleId }) => roleId)).toEqual(expect.arrayContaining(custom.map(({ id }) => id)));
  expect(members.map(({ userId }) => userId)).toContain(known.member.id);
});

test('emails that were waiting leave, with links that work', async () => {
  for (const email of ['zoe@example.com', 'yann@example.com']) {
    const { text } = await api.mailTo(email);
    const token = /[?&#]token=([\w-]+)/.exec(text)?.[1] ?? '';
    expect(await api.visitor().trpc.invitations.read.mutate({ token })).toMatchObject({ email });
  }
  await api.mailTo(known.vera.email);
  await expect.poll(async () => (await roster('queue', 'list', '--json')).stdout.trim(), { interval: 500 }).toBe('[]');
});

test('the audit log verifies, before and after new events', async () => {
  const { stdout, stderr } = await roster('audit', 'verify', '--json');
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });

  await api.as(known.veraKey).post(`/api/v1/teams/${known.veraTeam.id}/invitations`, { email: 'uma@example.com' });
  await api.mailTo('uma@example.com');
  await api.rows(`select graphile_worker.add_job('chainAudit', job_key := 'chainAudit')`);
  const unnumbered = 'select id from audit_event where not exists (select from audit_link where event_id = id)';
  await expect.poll(async () => await api.rows(unnumbered)).toEqual([]);

  const after = await roster('audit', 'verify', '--json');
  expect(after.stderr).toBe('');
  expect(JSON.parse(after.stdout)).toMatchObject({ ok: true, pending: 0 });
});
