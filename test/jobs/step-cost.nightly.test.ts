import { PassThrough } from 'node:stream';
import pg from 'pg';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { JobHelpers, TaskList } from 'graphile-worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { openDatabase, type Database } from '../../src/db/database.ts';
import type { Step } from '../../src/db/query.ts';
import { useEventKey } from '../../src/events/chain/event-mac.ts';
import { CLEANUPS } from '../../src/jobs/cleanup.ts';
import { STEP_ROWS, STEPS_MAX } from '../../src/jobs/steps.ts';
import { createTasks } from '../../src/jobs/tasks.ts';
import { deleteTeam } from '../../src/resources/teams/leave-and-delete.service.ts';
import { resourceTasks } from '../../src/service/resource-tasks.ts';
import { openLog } from '../../src/telemetry/log.ts';
import { fillTables, TABLES, type Tables } from '../db/large-tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const ROWS = 8000;
/** The rows below the client, the team and the endpoint that are deleted: so many that PostgreSQL prefers to read the table. */
const BELOW = 4000;
/** What a statement may read as a whole. */
const SMALL = 1000;
/** How often one step looks a row of a table up, for each row that it changes: to find, to lock, to change, by foreign keys. */
const LOOK_UPS = 12;

/** Jobs that need no steps. */
const SHORT: Readonly<Record<string, string>> = {
  sendInvitation: 'one email',
  sendAccountMail: 'one email',
  sendRequestedLink: 'one account',
  sendLogout: 'one logout token',
  importUpload: 'commits after each 500 lines (test/operator/imports.gate.test.ts)',
  recover_jobs: 'its rows are those of finished jobs',
  chainAudit: 'numbers and prunes by ranges of the chain (test/events/retention-plan.nightly.test.ts)',
  count_password_schemes: 'changes fifty rows; reads pages of a thousand',
  maintainPartitions: 'drops whole partitions',
};

/** Long jobs that are no cleanups, with their payloads. */
const LONG: Readonly<Record<string, object>> = {
  removeClient: { clientId: 'client_large', actor: { actorKind: 'system', actorId: null, credentialId: null } },
  removeEndpoint: { endpointId: 'endpoint_large' },
  end_unused_keys: {},
};

/** Makes every row two years old, so that each cleanup has as many to do as there are rows. */
const longAgo = (columns: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      value.replaceAll(/now\(\)|current_date/g, (time) => `(${time} - interval '2 years')`),
    ]),
  );

/** What the rows need beside their age. */
const CHANGED: Tables = {
  api_key: { oauth_grant_id: `'grant_' || n`, expires_at: 'now()', team_id: 'null' },
  oauth_client: { source: `'registration'`, cleanup_at: 'now()' },
  oauth_client_secret: { expires_at: 'now()' },
  api_key_secret: { expires_at: 'now()' },
  api_key_use: { day: 'current_date' },
  idempotency_key: { created_at: 'now()' },
  session: { expires_at: `now() + n * interval '1 second'` },
  oauth_token_family: {
    grant_id: 'null',
    client_id: `'client_other'`,
    // Of the sessions that `cleanup_sessions` does not reach.
    session_id: `case when n > ${ROWS / 2} then 'ses_' || n end`,
    logout_check_at: `case when n > ${ROWS / 2} then now() end`,
  },
  oauth_token: { family_id: 'null' },
  oauth_grant: { client_id: `'client_other'` },
};

/** Tables that only jobs use. */
const MORE: Tables = {
  operator_key_secret: {
    secret_hash: 'sha256(n::text::bytea)',
    operator_key_id: `'opk_' || n`,
    created_at: 'now()',
    expires_at: 'now()',
  },
  import_run: {
    id: `'imp_' || n`,
    created_at: 'now()',
    fingerprint: `''`,
    stage: `'accounts'`,
    line: '0',
    counts: `'{}'`,
    report_bytes: '0',
    batches: '0',
    operator_key_id: `'opk_' || n`,
    updated_at: 'now()',
    received_at: `case when n <= 100 then now() end`,
  },
  import_refusal: { import_id: `'imp_' || 1 + n % 100`, number: 'n', line: 'n', code: `'x'`, detail: `'x'` },
  webhook_endpoint: {
    id: `'endpoint_' || n`,
    created_at: 'now()',
    url: `'https://a.example'`,
    types: `'{}'`,
    secret: `'x'`,
  },
  webhook_delivery: {
    id: `'del_' || n`,
    created_at: 'now()',
    endpoint_id: `'endpoint_' || n`,
    event_id: `'evt_' || n`,
    event: `'team.created'`,
    state: `'delivered'`,
    due_at: 'now()',
  },
  webhook_attempt: {
    id: `'att_' || n`,
    created_at: 'now()',
    delivery_id: `'del_' || n`,
    duration_ms: '1',
  },
  event_payload: { sequence: 'n', event_id: `'evt_' || n`, type: `'team.updated'`, created_at: 'now()' },
};

/** What is below one client, one endpoint and one team. */
const LARGE: Tables = {
  membership: {
    id: `'mem_large-' || n`,
    team_id: `'team_large'`,
    account_id: `'acc_' || n`,
    role_id: `'member'`,
    joined_at: 'now()',
    created_at: 'now()',
  },
  invitation: {
    id: `'invt_large-' || n`,
    team_id: `'team_large'`,
    email: `'l' || n || '@example.com'`,
    role_id: `'member'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  webhook_delivery: { ...MORE['webhook_delivery'], id: `'del_large-' || n`, endpoint_id: `'endpoint_large'` },
  webhook_attempt: { ...MORE['webhook_attempt'], id: `'att_large-' || n`, delivery_id: `'del_large-' || n` },
};

/** Grants with what is below them: of the client, and of the team. */
const grants = (kind: string, clientId: string, teamId: string): Tables => ({
  oauth_grant: {
    ...TABLES['oauth_grant'],
    id: `'grant_${kind}-' || n`,
    client_id: `'${clientId}'`,
    team_id: teamId,
    audience: teamId === 'null' ? `'personal'` : `'team'`,
  },
  oauth_token_family: {
    ...TABLES['oauth_token_family'],
    id: `'family_${kind}-' || n`,
    client_id: `'${clientId}'`,
    grant_id: `'grant_${kind}-' || n`,
  },
  oauth_token: {
    ...TABLES['oauth_token'],
    token_hash: `sha256(('${kind}' || n)::bytea)`,
    grant_id: `'grant_${kind}-' || n`,
    family_id: `'family_${kind}-' || n`,
  },
  api_key: {
    ...TABLES['api_key'],
    id: `'key_${kind}-' || n`,
    oauth_grant_id: `'grant_${kind}-' || n`,
    team_id: teamId,
  },
});

const OWNERS = [
  `insert into oauth_client (id, source, name, redirect_uris, created_at, deleted_at) values ('client_large', 'operator', 'L', '{}', now(), now())`,
  `insert into team (id, name, slug, created_at, updated_at) values ('team_large', 'L', 'l', now(), now())`,
  `insert into webhook_endpoint (id, created_at, url, types, secret, deleted_at) values ('endpoint_large', now(), 'https://a.example', '{}', 'x', now())`,
];

type Row = { readonly name: string; readonly read: number; readonly looked_up: number; readonly changed: number };

const COUNTS = `select relname as name, seq_tup_read::int as read, idx_tup_fetch::int as looked_up,
    (n_tup_ins + n_tup_upd + n_tup_del)::int as changed from pg_stat_xact_user_tables`;

let database: TestDatabase;
let db: Database;
let tasks: TaskList;
let large: Set<string>;
/** What each transaction, or each statement of a transaction, did to which table. */
let steps: Row[][];
let isByStatement: boolean;

/** Counts the rows that work reads, looks up and changes, also those of cascades. */
async function counted<Result>(tx: EntityManager, work: () => Promise<Result>): Promise<Result> {
  const count = () => tx.getConnection().execute<Row[]>(COUNTS, [], 'all', tx.getTransactionContext());
  const before = new Map((await count()).map((row) => [row.name, row]));
  const result = await work();
  const rows = (await count()).map(({ name, ...row }) => ({
    name,
    read: row.read - (before.get(name)?.read ?? 0),
    looked_up: row.looked_up - (before.get(name)?.looked_up ?? 0),
    changed: row.changed - (before.get(name)?.changed ?? 0),
  }));
  steps.push(rows);
  return result;
}

const countSteps =
  (transact: Database['transact']): Database['transact'] =>
  (work, teamId) =>
    transact(async (open) => {
      const { em, run, flush } = open;
      if (!isByStatement)
        return counted(em, async () => {
          const result = await work(open);
          await flush();
          return result;
        });
      const execute = em.execute.bind(em);
      Object.assign(em, { execute: (...args: Parameters<typeof execute>) => counted(em, () => execute(...args)) });
      return work(Object.assign(open, { run: (steps: readonly Step[]) => counted(em, () => run(steps)) }));
    }, teamId);

beforeAll(async () => {
  database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const changed = (table: string, columns: Readonly<Record<string, string>>) =>
    longAgo({ ...columns, ...CHANGED[table] });
  const all = Object.entries({ ...TABLES, ...MORE }).map(
    ([table, columns]) => [table, changed(table, columns)] as const,
  );
  await fillTables(client, Object.fromEntries(all), ROWS);
  for (const tables of [
    LARGE,
    grants('client', 'client_large', 'null'),
    grants('team', 'client_other', `'team_large'`),
  ])
    await fillTables(client, tables, BELOW);
  for (const insert of OWNERS) await client.query(insert);
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and reltuples > ${SMALL}`,
  );
  large = new Set(rows.map(({ name }) => name));
  await client.end();

  const config = readConfig({
    BASE_URL: 'https://roster.example',
    DATABASE_URL: database.url,
    SECRET_KEYS: 'test-key-test-key-test-key-test-key',
    KEY_UNUSED_DAYS: '90',
  });
  const opened = await openDatabase(database.url, config.databasePoolMax);
  db = { ...opened, transact: countSteps(opened.transact) };
  const encryption = createEncryption(config.secretKeys ?? []);
  useEventKey(opened, encryption);
  const services = { config, db, tokens: createTokens(config.tokenBrand), encryption, audit: () => undefined };
  const log = openLog('fatal', new PassThrough().resume());
  tasks = {
    ...createTasks(services, { send: () => Promise.reject(new Error('No email is sent.')) } as never, log),
    ...resourceTasks(services, log),
  };
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

/** The rows that a step reads as a whole, looks up or changes beyond what a step may. */
const excess = (step: readonly Row[], rows: number) =>
  step.filter(
    ({ name, read, looked_up: lookedUp, changed }) =>
      (large.has(name) && read > 0) || lookedUp > LOOK_UPS * rows || changed > STEP_ROWS,
  );

const changedBy = (step: readonly Row[]) => step.reduce((sum, { changed }) => sum + changed, 0);

test('each job of the worker works in steps, or is known to be short', () => {
  const cleanups = Object.keys(CLEANUPS);
  expect(Object.keys(tasks).toSorted()).toEqual([...cleanups, ...Object.keys(LONG), ...Object.keys(SHORT)].toSorted());
});

// Guarantees that nobody notices a cleanup or a deletion, however many rows there are.
describe('a job with more rows than ten steps takes changes few rows in each, and finds them by indexes', () => {
  test.for([...Object.keys(CLEANUPS), ...Object.keys(LONG)])('%s', async (name) => {
    [steps, isByStatement] = [[], false];
    const queued: string[] = [];
    const addJob = (task: string) => Promise.resolve(void queued.push(task));
    await tasks[name]?.(LONG[name] ?? {}, { addJob, abortSignal: undefined } as unknown as JobHelpers);

    expect(steps).toHaveLength(STEPS_MAX);
    expect(steps.filter((step) => changedBy(step) === 0)).toEqual([]);
    expect(steps.flatMap((step) => excess(step, STEP_ROWS))).toEqual([]);
  });
});

test('the deletion of a team changes few rows of a table in each statement, and finds them by indexes', async () => {
  [steps, isByStatement] = [[], true];
  await deleteTeam(db, 'system', 'team_large');

  expect(steps.length).toBeGreaterThan((3 * BELOW) / STEP_ROWS);
  // A statement can lock all of them.
  expect(steps.flatMap((step) => excess(step, BELOW))).toEqual([]);
});
