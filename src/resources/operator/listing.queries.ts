import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { Scope } from '../../entities/index.ts';
import { ACCOUNT_COLUMNS, presentAccount, type AccountRow } from '../me/me.queries.ts';

/** Rows per page, so that a list of any length needs bounded memory. */
const PAGE_ROWS = 500;

const accountPage = query<AccountRow & { is_disabled: boolean }>(
  'account_list_page',
  `select ${ACCOUNT_COLUMNS}, disabled_at is not null as is_disabled
   from account where id > $1 order by id limit ${PAGE_ROWS}`,
  { rows: 'many' },
);

type TeamRow = {
  id: string;
  name: string;
  slug: string;
  created_at: string;
  owner_email: string | null;
  members: number;
  plan_id: string | null;
};

const teamPage = query<TeamRow>(
  'team_list_page',
  `select t.id, t.name, t.slug, t.created_at, s.plan_id,
     (select a.email from account a where a.id = o.account_id) as owner_email,
     (select count(*)::int from membership m where m.team_id = t.id) as members
   from team t
   left join membership o on o.team_id = t.id and o.role_id = 'owner'
   left join subscription s on s.team_id = t.id
   where t.id > $1 order by t.id limit ${PAGE_ROWS}`,
  { rows: 'many' },
);

type KeyRow = {
  id: string;
  name: string;
  key_prefix: string;
  last4: string;
  scopes: Scope[];
  account_id: string;
  email: string | null;
  team_id: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
};

const keyPage = query<KeyRow>(
  'api_key_list_page',
  `select k.id, k.name, k.key_prefix, k.last4, k.scopes, k.account_id, a.email, k.team_id, k.created_at,
     k.last_used_at, k.expires_at
   from api_key k join account a on a.id = k.account_id
   where k.id > $1 and k.revoked_at is null
     and ($2 = '' or k.account_id = $2) and ($3 = '' or k.team_id = $3)
   order by k.id limit ${PAGE_ROWS}`,
  { rows: 'many' },
);

/** Lists all accounts, the oldest first. */
export async function* listAllAccounts(db: QueryRunner) {
  for await (const row of eachRow((after) => db.query(accountPage, [after]))) {
    yield { ...presentAccount([row]), disabled: row.is_disabled };
  }
}

export type ListedAccount = ReturnType<typeof listAllAccounts> extends AsyncGenerator<infer Row> ? Row : never;

/** Lists all teams, the oldest first. */
export async function* listAllTeams(db: QueryRunner) {
  for await (const row of eachRow((after) => db.query(teamPage, [after]))) {
    yield {
      id: row.id,
      name: row.name,
      slug: row.slug,
      ownerEmail: row.owner_email,
      members: row.members,
      planId: row.plan_id ?? 'free',
      createdAt: iso(row.created_at),
    };
  }
}

type KeyFilter = { readonly accountId?: string | undefined; readonly teamId?: string | undefined };

/** Lists the keys that are not revoked, the oldest first. */
export async function* listAllKeys(db: QueryRunner, { accountId = '', teamId = '' }: KeyFilter) {
  for await (const row of eachRow((after) => db.query(keyPage, [after, accountId, teamId]))) {
    yield {
      id: row.id,
      name: row.name,
      keyPrefix: row.key_prefix,
      last4: row.last4,
      scopes: row.scopes,
      accountId: row.account_id,
      email: row.email,
      teamId: row.team_id,
      createdAt: iso(row.created_at),
      lastUsedAt: isoOrNull(row.last_used_at),
      expiresAt: isoOrNull(row.expires_at),
    };
  }
}

/** Yields rows page by page, in the order of their ids. */
async function* eachRow<Row extends { readonly id: string }>(
  read: (after: string) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let page = await read(''); page.length > 0; page = await read(page.at(-1)?.id ?? '')) yield* page;
}
