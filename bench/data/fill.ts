import { readFileSync } from 'node:fs';
import pg from 'pg';
import { createTokens } from '../../src/crypto/tokens.ts';
import { newId, SCOPES } from '../../src/entities/index.ts';
import { migrate } from '../../src/db/migrate.ts';
import { chainFirstMonth, partitionPastMonths } from './past-months.ts';

export type DataSet = 'small' | 'large' | 'ten-million';

/** Somebody who calls: their credentials, and a team they own. */
export type Caller = {
  readonly key: string;
  /** An OAuth access token of the same account, where the service has such. */
  readonly token?: string;
  /** For operations of the operator API. */
  readonly operatorKey?: string;
  readonly teamId: string;
  readonly teamName: string;
  /** Accounts that can be removed from the team. */
  readonly removable?: readonly string[];
};

export type Filled = { readonly callers: readonly Caller[]; readonly giant: Caller };

const sqlOf = (name: string): string => readFileSync(new URL(`./${name}.sql`, import.meta.url), 'utf8');

/**
 * Makes the tables of Roster and a data set. In a database where it was interrupted, it goes on with what is missing.
 * @param scale divides the rows of `ten-million`
 */
export async function fill(databaseUrl: string, dataSet: DataSet, scale = 1): Promise<Filled> {
  await migrate(databaseUrl);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const run = async (name: string, sql: string) => {
    for (const [index, statement] of statementsOf(sql).entries())
      await once(client, `${name} ${index}`, () => client.query(statement).then(() => null));
  };
  try {
    await client.query(
      `create schema if not exists bench; create table if not exists bench.step (name text primary key, result jsonb)`,
    );
    // Foreign keys hold by construction; checking millions of rows one by one would take most of the time.
    await client.query(`set session_replication_role = replica; set maintenance_work_mem = '1GB'`);
    const indexes = await once(client, 'drop indexes', () => dropIndexes(client, LARGE));
    if (dataSet === 'ten-million') await once(client, 'partitions', () => partitionPastMonths(client));
    // One by one, so that what one wrote can be flushed while the next one writes.
    await run('rows', sqlOf(dataSet).replaceAll('{scale}', String(scale)));
    if (dataSet === 'ten-million') await once(client, 'chain', () => chainFirstMonth(client));
    await run('giants', sqlOf('giants'));
    await run('indexes', indexes.join(';\n'));
    await run('writes', sqlOf('writes'));
    const filled = await once(client, 'credentials', () => addAllCredentials(client));
    if ((await resultOf(client, 'vacuum')) === undefined) await client.query('vacuum (freeze, analyze)');
    await once(client, 'vacuum', () => Promise.resolve(null));
    return filled;
  } finally {
    await client.end();
  }
}

/** Does one step in a transaction, unless it was done before. @returns its result, or that of the earlier time */
async function once<Result>(client: pg.Client, name: string, step: () => Promise<Result>): Promise<Result> {
  const done = await resultOf<Result>(client, name);
  if (done !== undefined) return done;
  await client.query('begin');
  const result = await step();
  await client.query('insert into bench.step values ($1, $2)', [name, JSON.stringify(result)]);
  await client.query('commit');
  return result;
}

async function resultOf<Result>(client: pg.Client, name: string): Promise<Result | undefined> {
  const { rows } = await client.query<{ result: Result }>('select result from bench.step where name = $1', [name]);
  return rows[0]?.result;
}

async function addAllCredentials(client: pg.Client): Promise<Filled> {
  const callers = await addCredentials(
    client,
    `select c.account_id, c.team_id, t.name as team_name,
       array(select r.account_id from bench.removable r where r.team_id = c.team_id order by 1) as removable
     from bench.caller c join team t on t.id = c.team_id order by 1`,
  );
  const [giant] = await addCredentials(
    client,
    `select account_id, team_id, 'Giant 1001' as team_name, '{}'::text[] as removable from membership where id = 'mem_giant-1001-10001'`,
  );
  if (giant === undefined) throw new Error('The account with many teams is missing.');
  return { callers, giant };
}

/**
 * Makes the tables of Roster if they are missing, and runs a script of statements that needs no checks.
 * @param large the tables that get so many rows that their indexes are built afterwards
 */
export async function runScript(databaseUrl: string, sql: string, large: readonly string[] = []): Promise<void> {
  await migrate(databaseUrl);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`set session_replication_role = replica; set maintenance_work_mem = '1GB'`);
    const indexes = await dropIndexes(client, large);
    for (const statement of [...statementsOf(sql), ...indexes, 'vacuum (analyze)']) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Inserts the members again that "remove" has removed. */
export async function restoreMembers(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`set session_replication_role = replica`);
    await client.query('insert into membership select * from bench.removable on conflict do nothing');
  } finally {
    await client.end();
  }
}

const statementsOf = (sql: string): string[] => sql.split(/;\s*$/m).filter((text) => text.trim() !== '');

const LARGE = ['account', 'team', 'membership', 'api_key', 'api_key_secret', 'audit_event'];

/** Drops what is quicker to build at once afterwards. @returns the statements to do so */
async function dropIndexes(client: pg.Client, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index
     where indrelid = any ($1::text[]::regclass[]) and not exists (select from pg_constraint where conindid = indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  // Those of the partitions as well.
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '));
}

type CallerRow = { account_id: string; team_id: string; team_name: string; removable: string[] };

/** Gives every account of the query a key and an OAuth access token with all scopes. */
async function addCredentials(client: pg.Client, query: string): Promise<Caller[]> {
  const { rows } = await client.query<CallerRow>(query);
  const tokens = createTokens('rst');
  const made = rows.map((row) => ({
    ...row,
    key: tokens.generate('personalKey'),
    token: tokens.generate('accessToken'),
  }));
  const clientId = newId('client');
  await client.query(
    `insert into oauth_client (id, source, name, redirect_uris, created_at)
     values ($1, 'operator', 'Benchmark', array['https://client.example/callback'], now())`,
    [clientId],
  );
  await client.query(
    `with caller as (
       select 'key_' || $5 || n as key_id, 'grant_' || $5 || n as grant_id, account_id, key_hash, token_hash
       from unnest($1::text[], $2::bytea[], $3::bytea[]) with ordinality as c(account_id, key_hash, token_hash, n)
     ), key as (
       insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at)
       select key_id, account_id, 'Benchmark', $4, 'rst_pk_000000', '0000', now() from caller
     ), secret as (
       insert into api_key_secret (secret_hash, api_key_id, created_at) select key_hash, key_id, now() from caller
     ), access as (
       insert into oauth_grant (id, account_id, client_id, audience, scopes, created_at, expires_at)
       select grant_id, account_id, $5, 'personal', $4, now(), now() + interval '90 days' from caller
     )
     insert into oauth_token (token_hash, kind, grant_id, scopes, payload, created_at, expires_at)
     select token_hash, 'access', grant_id, $4, '{}', now(), now() + interval '1 day' from caller`,
    [
      rows.map((row) => row.account_id),
      made.map(({ key }) => key.hash),
      made.map(({ token }) => token.hash),
      SCOPES,
      clientId,
    ],
  );
  const operatorKey = await addOperatorKey(client);
  return made.map(({ key, token, team_id, team_name, removable }) => ({
    operatorKey,
    key: key.secret,
    token: token.secret,
    teamId: team_id,
    teamName: team_name,
    removable,
  }));
}

async function addOperatorKey(client: pg.Client): Promise<string> {
  const { secret, hash } = createTokens('rst').generate('operatorKey');
  const id = newId('opk');
  await client.query(
    `insert into operator_key (id, name, scopes, addresses, key_prefix, last4, created_at)
     values ($1, 'Benchmark', array['credentials:verify'], '{}', 'rst_ok_000000', '0000', now())`,
    [id],
  );
  await client.query(
    'insert into operator_key_secret (secret_hash, operator_key_id, created_at) values ($1, $2, now())',
    [hash, id],
  );
  return secret;
}
