import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { allStatements } from '../support/statements.ts';
import { fillTables, TABLES } from './large-tables.ts';

const ROWS = 20_000;
/** What a statement may read as a whole. */
const SMALL = 1000;

const statements = await allStatements();

const BY_CATALOGUE =
  'another catalogue changes all that hold its permissions: docs/decisions/0037-product-permissions.md';
const BY_ADDRESS =
  'once for an account, with its deletion or another address: invitations have no index by address alone';

/** The statements that read everything, and why they may. */
const READ_ALL: Readonly<Record<string, string>> = {
  oauth_client_list: 'the operator lists all clients on the command line',
  oauth_client_list_of_operator: 'the operator lists their clients',
  declared_permission_count_holders: BY_CATALOGUE,
  role_update_permissions: BY_CATALOGUE,
  oauth_client_update_permissions: BY_CATALOGUE,
  oauth_grant_update_permissions: BY_CATALOGUE,
  oauth_token_family_update_permissions: BY_CATALOGUE,
  api_key_update_permissions: BY_CATALOGUE,
  role_update_sensitive: BY_CATALOGUE,
  api_key_update_for_catalogue: BY_CATALOGUE,
  invitation_list_of_address: BY_ADDRESS,
  invitation_delete_accepted: BY_ADDRESS,
  database_check_filled: 'whether there is any row: it ends at the first',
  account_check_none: 'whether there is any row: it ends at the first',
};

/**
 * The statements that have to find rows by indexes alone: those of transactions that say so (`planByIndexes`), and the
 * batch of unused keys, whose 200 rows are dear only among as few as here.
 */
const BY_INDEXES: ReadonlySet<string> = new Set([
  'oauth_client_update_deleted',
  'oauth_grant_lock_of_clients',
  'api_key_update_unused',
]);

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await fillTables(client, TABLES, ROWS);
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
  for (const { name, text } of statements) {
    if (BY_INDEXES.has(name)) await client.query('set enable_seqscan = off');
    const tables = readsAll(await planOf(text)).filter((table) => large.has(table));
    await client.query('reset enable_seqscan');
    if (tables.length > 0) found[name] = tables;
  }
  expect(
    Object.keys(found)
      .filter((name) => READ_ALL[name] === undefined)
      .map((name) => [name, found[name]]),
  ).toEqual([]);
  expect(Object.keys(READ_ALL).filter((name) => found[name] === undefined)).toEqual([]);
});

/** The conditions by which a plan finds rows of a table. */
const conditionsOn = (table: string, { Plans: plans = [], ...plan }: Plan): string[] => [
  ...(plan['Relation Name'] === table ? [plan['Index Cond'] ?? ''] : []),
  ...plans.flatMap((part) => conditionsOn(table, part)),
];

test('the look-up of a credential finds its membership of a team by both, however many teams its account has', async () => {
  const lookups = statements.filter(({ name }) =>
    /^(api_key|oauth_token|session)_(authenticate|describe|verify)_in_team$/.test(name),
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
  const lists = statements.filter(({ name }) => /^membership_list_of_team(_with_terms)?$/.test(name));
  expect(lists).toHaveLength(2);
  for (const { name, text } of lists)
    expect([name, indexesOn('account', await planOf(text))]).toEqual([name, ['account_id_hash_index']]);
});

const nodesOf = ({ Plans: plans = [], ...plan }: Plan): string[] => [plan['Node Type'], ...plans.flatMap(nodesOf)];

test('each order of the lists of the operator is that of an index', async () => {
  const lists = statements.filter(({ name }) =>
    /^(account|team)_list(?!_(?:search|page|owned|notices|to_grant|of_account(?:_in_parts)?|remaining_access|metadata)$)/.test(
      name,
    ),
  );
  expect(lists.length).toBeGreaterThan(40);
  // Few rows are sorted even if an index has their order.
  await client.query('set enable_sort = off; set enable_bitmapscan = off; set enable_seqscan = off');
  const sorted: string[] = [];
  for (const { name, text } of lists)
    if (nodesOf(await planOf(text)).some((node) => /Sort/.test(node))) sorted.push(name);
  await client.query('reset enable_sort; reset enable_bitmapscan; reset enable_seqscan');
  // The page that is found is put in order after the join with its edge.
  expect(sorted).toEqual(['team_list_of_default_plan', 'team_list_of_default_plan_desc']);
});

test('such a plan is found', async () => {
  expect(readsAll(await planOf('select from account where first_name = $1'))).toEqual(['account']);
});
