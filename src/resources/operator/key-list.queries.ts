import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { ProductPermission, Scope } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { START, toPage } from './paging.ts';

/** As many active keys as an account or a team can have by default, so that a list is one page. */
export const KEYS_MAX = 1000;

type KeyRow = {
  id: string;
  name: string;
  key_prefix: string;
  last4: string;
  scopes: Scope[];
  product_permissions: ProductPermission[];
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

const COLUMNS = `k.id, k.name, k.key_prefix, k.last4, k.scopes, k.product_permissions, k.team_id, t.name as team_name,
       k.account_id, a.email, a.first_name, a.last_name, k.created_at, k.last_used_at, k.expires_at,
       k.created_at::text as sort`;

/** Pages of the keys of one account or team, oldest first, in the order of an index. */
const keysOf = (name: string, column: string) =>
  query<KeyRow>(
    name,
    `select ${COLUMNS}
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

const ofAccount = keysOf('api_key_list_page_of_account', 'account_id');
const ofTeam = keysOf('api_key_list_page_of_team', 'team_id');

export type KeySearch = { readonly of: 'account' | 'team'; readonly id: string };

/** Lists the API keys of an account, with those that it made for teams, or of a team. Revoked ones are left out. */
export async function listKeysOf(
  db: QueryRunner,
  cursors: Cursors,
  { of, id }: KeySearch,
  cursor: string | undefined,
  limit: number,
) {
  const list = ['keys', of, id] as const;
  const { sort, id: after } = cursors.read(list, cursor) ?? START;
  const rows = await db.query(of === 'account' ? ofAccount : ofTeam, [id, sort, after]);
  const { page, nextCursor } = toPage(cursors, list, rows, limit);
  return { keys: page.map(present), nextCursor };
}

const keyOf = query<KeyRow>(
  'api_key_find_with_maker',
  `select ${COLUMNS}
   from api_key k join account a on a.id = k.account_id left join team t on t.id = k.team_id
   where k.id = $1 and k.revoked_at is null`,
);

/** Reads a key that is not revoked. @throws api_key_not_found (404) */
export async function readKey(db: QueryRunner, keyId: string) {
  const [row] = await db.query(keyOf, [keyId]);
  if (row === undefined) throw new ProblemError('api_key_not_found');
  return present(row);
}

export type OperatorKeyView = ReturnType<typeof present>;

const present = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  keyPrefix: row.key_prefix,
  last4: row.last4,
  scopes: row.scopes,
  permissions: row.product_permissions,
  team: row.team_id === null ? null : { id: row.team_id, name: row.team_name ?? row.team_id },
  account: { id: row.account_id, email: row.email, firstName: row.first_name, lastName: row.last_name },
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
  expiresAt: isoOrNull(row.expires_at),
});
