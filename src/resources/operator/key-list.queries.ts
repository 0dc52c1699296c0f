import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { Scope } from '../../entities/index.ts';
import { START, readCursor, toPage } from './paging.ts';

/** As many active keys as an account or a team can have by default, so that a list is one page. */
export const KEYS_MAX = 1000;

type KeyRow = {
  id: string;
  name: string;
  key_prefix: string;
  last4: string;
  scopes: Scope[];
  team_id: string | null;
  team_name: string | null;
  account_id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  sort: string;
};

/** Pages of the keys of one account or team, oldest first, in the order of an index. */
const keysOf = (name: string, column: string) =>
  query<KeyRow>(
    name,
    `select k.id, k.name, k.key_prefix, k.last4, k.scopes, k.team_id, t.name as team_name, k.account_id, a.email,
       a.first_name, a.last_name, k.created_at, k.last_used_at, k.expires_at, k.created_at::text as sort
     from (
       select * from api_key
       where ${column} = $1 and revoked_at is null
         and (created_at, id) > (coalesce(nullif($2, ''), '-infinity')::timestamptz, $3)
       order by created_at, id limit ${KEYS_MAX + 1}
     ) k
     join account a on a.id = k.account_id left join team t on t.id = k.team_id
     order by k.created_at, k.id`,
    { rows: 'many' },
  );

const ofAccount = keysOf('operator_keys_of_account', 'account_id');
const ofTeam = keysOf('operator_keys_of_team', 'team_id');

export type KeySearch = { readonly of: 'account' | 'team'; readonly id: string };

/** Lists the API keys of an account, with those that it made for teams, or of a team. Revoked ones are left out. */
export async function listKeysOf(db: QueryRunner, { of, id }: KeySearch, cursor: string | undefined, limit: number) {
  const search = JSON.stringify(['keys', of, id]);
  const { sort, id: after } = readCursor(search, cursor) ?? START;
  const rows = await db.query(of === 'account' ? ofAccount : ofTeam, [id, sort, after]);
  const { page, nextCursor } = toPage(search, rows, limit);
  return { keys: page.map(present), nextCursor };
}

const present = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  keyPrefix: row.key_prefix,
  last4: row.last4,
  scopes: row.scopes,
  team: row.team_id === null ? null : { id: row.team_id, name: row.team_name ?? row.team_id },
  account: { id: row.account_id, email: row.email, firstName: row.first_name, lastName: row.last_name },
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
  expiresAt: isoOrNull(row.expires_at),
});
