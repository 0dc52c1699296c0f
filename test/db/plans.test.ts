import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { declaredStatements } from '../../src/db/query.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const SRC = join(import.meta.dirname, '../../src');
const ROWS = 20_000;
/** What a statement may read as a whole. */
const SMALL = 1000;

/** Rows of every table that grows. `n` is the number of a row. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  account: {
    id: `'acc_' || n`,
    email: `'u' || n || '@example.com'`,
    external_id: `'crm-' || n`,
    first_name: `'First' || n`,
    created_at: 'now()',
    updated_at: 'now()',
    email_verified_at: 'now()',
  },
  team: {
    id: `'team_' || n`,
    external_id: `'tenant-' || n`,
    name: `'Team ' || n`,
    slug: `'team-' || n`,
    created_at: 'now()',
    updated_at: 'now()',
  },
  role: {
    id: `'role_' || n`,
    team_id: `'team_' || n`,
    name: `'Role'`,
    name_skeleton: `'role'`,
    permissions: `'{}'`,
    created_at: 'now()',
  },
  membership: {
    id: `'mem_' || n`,
    team_id: `'team_' || n % 5000`,
    account_id: `'acc_' || n`,
    role_id: `'member'`,
    joined_at: 'now()',
    created_at: 'now()',
  },
  subscription: { team_id: `'team_' || n`, plan_id: `'pro'` },
  ownership_transfer: { team_id: `'team_' || n`, nominee_id: `'acc_' || n`, created_at: 'now()', expires_at: 'now()' },
  invitation: {
    id: `'invt_' || n`,
    team_id: `'team_' || n`,
    email: `'i' || n || '@example.com'`,
    role_id: `'member'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  invitation_link: { token_hash: 'sha256(n::text::bytea)', invitation_id: `'invt_' || n`, created_at: 'now()' },
  session: {
    id: `'ses_' || n`,
    account_id: `'acc_' || n`,
    token_hash: 'sha256(n::text::bytea)',
    expires_at: `now() + n * interval '1 second'`,
    idle_expires_at: `now() + interval '1 day'`,
    created_at: 'now()',
  },
  known_device: {
    id: `'dev_' || n`,
    account_id: `'acc_' || n`,
    token_hash: 'sha256(n::text::bytea)',
    last_seen_at: 'now()',
    created_at: 'now()',
  },
  account_token: {
    token_hash: 'sha256(n::text::bytea)',
    account_id: `'acc_' || n`,
    purpose: `'sign_in'`,
    email: `'e'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  sign_up_attempt: {
    id: `'sua_' || n`,
    account_id: `'acc_x' || n`,
    email: `'s' || n || '@example.com'`,
    password_hash: `'x'`,
    browser_hash: `'x'`,
    token_hash: 'sha256(n::text::bytea)',
    session_token_hash: 'sha256(n::text::bytea)',
    expires_at: 'now()',
    created_at: 'now()',
  },
  idempotency_key: {
    key_hash: 'sha256(n::text::bytea)',
    credential_id: `'key_' || n`,
    operation: `'createTeam'`,
    fingerprint: `'x'`,
    created_at: `now() - n * interval '1 minute'`,
  },
  picture: { name: `'p' || n`, account_id: `'acc_' || n`, content: `'x'`, cleanup_at: 'now()', created_at: 'now()' },
  sent_mail: { id: `'mail_' || n`, recipient: `'u' || n || '@example.com'`, created_at: 'now()' },
  passkey: {
    id: `'pk_' || n`,
    account_id: `'acc_' || n`,
    name: `'Key'`,
    credential_id: `'c' || n`,
    public_key: `'x'`,
    counter: '0',
    transports: `'{}'`,
    created_at: 'now()',
  },
  passkey_challenge: {
    id: `'chl_' || n`,
    challenge: `'c' || n`,
    account_id: `'acc_' || n`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  oauth_client: {
    id: `'client_' || n`,
    source: `'operator'`,
    name: `'App'`,
    redirect_uris: `'{}'`,
    created_at: 'now()',
  },
  oauth_client_secret: {
    secret_hash: 'sha256(n::text::bytea)',
    client_id: `'client_' || n`,
    last4: `'0000'`,
    created_at: 'now()',
  },
  oauth_grant: {
    id: `'grant_' || n`,
    account_id: `'acc_' || n`,
    client_id: `'client_' || n % 100`,
    audience: `'personal'`,
    scopes: `'{teams:read}'`,
    resource: `'api'`,
    expires_at: `now() + interval '1 day'`,
    created_at: 'now()',
  },
  oauth_token_family: {
    id: `'family_' || n`,
    account_id: `'acc_' || n`,
    client_id: `'client_' || n % 100`,
    resource: `'api'`,
    scopes: `'{teams:read}'`,
    grant_id: `'grant_' || n`,
    created_at: 'now()',
  },
  oauth_token: {
    token_hash: 'sha256(n::text::bytea)',
    kind: `'access'`,
    grant_id: `'grant_' || n`,
    family_id: `'family_' || n`,
    scopes: `'{teams:read}'`,
    payload: `'{}'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  oauth_refresh_answer: {
    token_hash: 'sha256(n::text::bytea)',
    answer: `'x'`,
    successors: `'{}'`,
    created_at: 'now()',
  },
  oauth_artifact: { key_hash: 'sha256(n::text::bytea)', model: `'Session'`, payload: `'{}'`, expires_at: 'now()' },
  authorization_request: { id_hash: 'sha256(n::text::bytea)', payload: `'{}'`, expires_at: 'now()' },
  api_key: {
    id: `'key_' || n`,
    account_id: `'acc_' || n`,
    team_id: `case n % 2 when 0 then 'team_' || n end`,
    name: `'Key'`,
    scopes: `'{teams:read}'`,
    key_prefix: `'rst'`,
    last4: `'0000'`,
    created_at: 'now()',
  },
  api_key_use: { api_key_id: `'key_' || n`, day: `current_date - n % 90`, requests: '1' },
  api_key_secret: { secret_hash: 'sha256(n::text::bytea)', api_key_id: `'key_' || n`, created_at: 'now()' },
  audit_event: {
    id: `'evt_' || lpad(n::text, 26, '0')`,
    occurred_at: 'now()',
    event: `'team.created'`,
    actor_kind: `'session'`,
    team_id: `'team_' || n`,
    account_id: `'acc_' || n`,
    details: `'{}'`,
  },
};

/** The statements that list everything by their nature. */
const LISTS_ALL: Readonly<Record<string, string>> = {
  all_oauth_clients: 'the operator lists all clients on the command line',
};

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('set session_replication_role = replica');
  for (const [table, columns] of Object.entries(TABLES)) {
    const [names, values] = [Object.keys(columns).join(', '), Object.values(columns).join(', ')];
    await client.query(`insert into ${table} (${names}) select ${values} from generate_series(1, ${ROWS}) n`);
  }
  await client.query('analyze');
  const declaring = globSync('**/*.ts', { cwd: SRC })
    .filter((file) => !file.startsWith('web/') && file !== 'main.ts')
    .filter((file) => /\b(query|command|recordedCommand)<.*>\(/.test(readFileSync(join(SRC, file), 'utf8')));
  for (const file of declaring) await import(join(SRC, file));
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
};

/** The tables of which a plan reads every row. */
const readsAll = ({ 'Node Type': type, 'Relation Name': table, Plans: plans = [] }: Plan): string[] => [
  ...(type === 'Seq Scan' && table !== undefined ? [table] : []),
  ...plans.flatMap(readsAll),
];

async function planOf(text: string): Promise<Plan> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (generic_plan, format json) ${text}`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('There is no plan.');
  return row['QUERY PLAN'][0].Plan;
}

test('no named statement reads the whole of a table that grows', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and reltuples > ${SMALL}`,
  );
  const large = new Set(rows.map(({ name }) => name));
  expect(Object.keys(TABLES).filter((table) => !large.has(table))).toEqual([]);

  const found: Record<string, string[]> = {};
  for (const { name, text } of declaredStatements()) {
    const tables = readsAll(await planOf(text)).filter((table) => large.has(table));
    if (tables.length > 0) found[name] = tables;
  }
  expect(
    Object.keys(found)
      .filter((name) => LISTS_ALL[name] === undefined)
      .map((name) => [name, found[name]]),
  ).toEqual([]);
  expect(Object.keys(LISTS_ALL).filter((name) => found[name] === undefined)).toEqual([]);
});

/** The conditions by which a plan finds rows of a table. */
const conditionsOn = (table: string, { Plans: plans = [], ...plan }: Plan): string[] => [
  ...(plan['Relation Name'] === table ? [plan['Index Cond'] ?? ''] : []),
  ...plans.flatMap((part) => conditionsOn(table, part)),
];

test('the look-up of a credential finds its membership of a team by both, however many teams its account has', async () => {
  const lookups = declaredStatements().filter(({ name }) =>
    /^(authenticate|describe|verify)_(api_key|access_token|session)_in_team$/.test(name),
  );
  expect(lookups).toHaveLength(9);
  for (const { name, text } of lookups)
    expect([name, conditionsOn('membership', await planOf(text))]).toEqual([
      name,
      [expect.stringMatching(/account_id = .* AND \(team_id = /)],
    ]);
});

/** The indexes by which a plan finds rows of a table. */
const indexesOn = (table: string, { Plans: plans = [], ...plan }: Plan): string[] => [
  ...(plan['Relation Name'] === table ? [plan['Index Name'] ?? 'none'] : []),
  ...plans.flatMap((part) => indexesOn(table, part)),
];

// Guarantees that a list reads two pages for each member in the table of accounts, however many accounts there are.
test('the lists of the members of a team find each account by the hash of its id', async () => {
  const lists = declaredStatements().filter(({ name }) => /^members_of_team(_with_terms)?$/.test(name));
  expect(lists).toHaveLength(2);
  for (const { name, text } of lists)
    expect([name, indexesOn('account', await planOf(text))]).toEqual([name, ['account_id_hash_index']]);
});

const nodesOf = ({ Plans: plans = [], ...plan }: Plan): string[] => [plan['Node Type'], ...plans.flatMap(nodesOf)];

test('each order of the lists of the operator is that of an index', async () => {
  const lists = declaredStatements().filter(({ name }) => /^operator_(accounts|teams)(_|$)/.test(name));
  expect(lists.length).toBeGreaterThan(40);
  // Few rows are sorted even if an index has their order.
  await client.query('set enable_sort = off; set enable_bitmapscan = off; set enable_seqscan = off');
  const sorted: string[] = [];
  for (const { name, text } of lists)
    if (nodesOf(await planOf(text)).some((node) => /Sort/.test(node))) sorted.push(name);
  await client.query('reset enable_sort; reset enable_bitmapscan; reset enable_seqscan');
  // The page that is found is put in order after the join with its edge.
  expect(sorted).toEqual(['operator_teams_of_default_plan', 'operator_teams_of_default_plan_desc']);
});

test('such a plan is found', async () => {
  expect(readsAll(await planOf('select from account where first_name = $1'))).toEqual(['account']);
});
