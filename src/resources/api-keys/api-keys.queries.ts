import { activeMembership } from '../../db/predicates.ts';
import { instant, list, type ListRunner } from '../../db/lists/list.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { Scope } from '../../entities/index.ts';
import { apiKeyOutput, listedKeyOutput } from './api-keys.schema.ts';

const KEY = `k.id, k.name, k.key_prefix as "keyPrefix", k.last4, k.scopes, k.team_id as "teamId",
     ${instant('k.created_at')} as "createdAt", ${instant('k.last_used_at')} as "lastUsedAt",
     ${instant('k.expires_at')} as "expiresAt"`;

const PERSONAL = 'account_id = $1 and team_id is null and revoked_at is null';
const OF_TEAM = 'team_id = $1 and revoked_at is null';

const keysWith = (columns: string, which: string, join = '') => ({
  select: `select ${columns} from (select * from api_key where ${which}) k ${join} order by k.created_at, k.id`,
  from: `api_key where ${which}`,
  rows: 'many' as const,
});

const personalKeys = list('api_key_list_personal', apiKeyOutput, keysWith(KEY, PERSONAL));
const teamKeys = list('api_key_list_of_team', apiKeyOutput, keysWith(KEY, OF_TEAM));

type OwnKeyRow = { id: string; name: string; scopes: Scope[]; team: { id: string; name: string | null } | null };

const ownKey = query<OwnKeyRow>(
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

export const listPersonalKeys = (db: ListRunner, accountId: string) => db.list(personalKeys, [accountId]);

/** Lists all API keys of a team, whichever members created them. */
export const listTeamKeys = (db: ListRunner, teamId: string) => db.list(teamKeys, [teamId]);

// A secret is not valid longer than its key.
const LISTED = `${KEY}, k.product_permissions as permissions,
     (select ${instant('max(least(s.expires_at, k.expires_at))')} from api_key_secret s
      where s.api_key_id = k.id and least(s.expires_at, k.expires_at) > now() and s.expires_at is not null)
       as "previousSecretUntil",
     (select row_to_json(maker) from (
       select a.id as "accountId", a.id as "userId", a.email, a.first_name as "firstName", a.last_name as "lastName") maker)
       as "madeBy",`;

const MAKER = 'join account a on a.id = k.account_id';

const personalKeysWithUse = list(
  'api_key_list_personal_with_use',
  listedKeyOutput,
  keysWith(`${LISTED} true as "isOwn"`, PERSONAL, MAKER),
);

const teamKeysWithUse = list(
  'api_key_list_of_team_with_use',
  listedKeyOutput,
  keysWith(`${LISTED} k.account_id = $2 as "isOwn"`, OF_TEAM, MAKER),
);

/** Lists the API keys of a console page: the account's personal ones, or all of a team. */
export const listKeysForPage = (db: ListRunner, accountId: string, teamId: string | undefined) =>
  teamId === undefined ? db.list(personalKeysWithUse, [accountId]) : db.list(teamKeysWithUse, [teamId, accountId]);
