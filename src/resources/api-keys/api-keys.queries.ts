import { activeMembership } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { toAccountIds } from '../members/member-id.ts';
import type { Scope } from '../../entities/index.ts';

type ApiKeyRow = {
  id: string;
  name: string;
  key_prefix: string;
  last4: string;
  scopes: Scope[];
  team_id: string | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
};

const COLUMNS = 'id, name, key_prefix, last4, scopes, team_id, created_at, last_used_at, expires_at';

const personalKeys = query<ApiKeyRow>(
  'api_key_list_personal',
  `select ${COLUMNS} from api_key
   where account_id = $1 and team_id is null and revoked_at is null
   order by created_at, id`,
  { rows: 'many' },
);

const teamKeys = query<ApiKeyRow>(
  'api_key_list_of_team',
  `select ${COLUMNS} from api_key where team_id = $1 and revoked_at is null order by created_at, id`,
  { rows: 'many' },
);

const ownKey = query<Pick<ApiKeyRow, 'id' | 'name' | 'scopes'> & { team: { id: string; name: string | null } | null }>(
  'api_key_find_own',
  `select k.id, k.name, k.scopes,
     case when k.team_id is not null then json_build_object('id', k.team_id, 'name',
       (select t.name from membership m join team t on t.id = m.team_id
        where m.team_id = k.team_id and m.account_id = k.account_id and ${activeMembership('m')})) end as team
   from api_key k where k.id = $1 and k.account_id = $2 and k.revoked_at is null`,
);

/** Finds a key that the account created and that is not revoked. Only active members see the name of its team. */
export async function findOwnKey(db: QueryRunner, accountId: string, keyId: string) {
  const [key] = await db.query(ownKey, [keyId, accountId]);
  return key ?? null;
}

export const listPersonalKeys = async (db: QueryRunner, accountId: string) =>
  (await db.query(personalKeys, [accountId])).map(presentRow);

/** Lists all API keys of a team, whichever members created them. */
export const listTeamKeys = async (db: QueryRunner, teamId: string) =>
  (await db.query(teamKeys, [teamId])).map(presentRow);

type ListedKeyRow = ApiKeyRow & {
  product_permissions: string[];
  previous_secret_until: string | null;
  account_id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
};

// A secret is not valid longer than its key.
const SELECT_LISTED = `select k.id, k.name, k.key_prefix, k.last4, k.scopes, k.product_permissions, k.team_id, k.created_at, k.last_used_at,
     k.expires_at, k.account_id, a.email, a.first_name, a.last_name,
     (select max(least(s.expires_at, k.expires_at)) from api_key_secret s
      where s.api_key_id = k.id and least(s.expires_at, k.expires_at) > now() and s.expires_at is not null)
       as previous_secret_until
   from api_key k
   join account a on a.id = k.account_id
   where k.revoked_at is null`;

const listedPersonalKeys = query<ListedKeyRow>(
  'api_key_list_personal_with_use',
  `${SELECT_LISTED} and k.account_id = $1 and k.team_id is null order by k.created_at, k.id`,
  { rows: 'many' },
);

const listedTeamKeys = query<ListedKeyRow>(
  'api_key_list_of_team_with_use',
  `${SELECT_LISTED} and k.team_id = $1 order by k.created_at, k.id`,
  { rows: 'many' },
);

/** Lists the API keys of a console page: the account's personal ones, or all of a team. */
export async function listKeysForPage(db: QueryRunner, accountId: string, teamId: string | undefined) {
  const rows = await (teamId === undefined
    ? db.query(listedPersonalKeys, [accountId])
    : db.query(listedTeamKeys, [teamId]));
  return rows.map((row) => ({
    ...presentRow(row),
    permissions: row.product_permissions,
    previousSecretUntil: isoOrNull(row.previous_secret_until),
    madeBy: { ...toAccountIds(row.account_id), email: row.email, firstName: row.first_name, lastName: row.last_name },
    isOwn: row.account_id === accountId,
  }));
}

const presentRow = (row: ApiKeyRow) => ({
  id: row.id,
  name: row.name,
  keyPrefix: row.key_prefix,
  last4: row.last4,
  scopes: row.scopes,
  teamId: row.team_id,
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
  expiresAt: isoOrNull(row.expires_at),
});
