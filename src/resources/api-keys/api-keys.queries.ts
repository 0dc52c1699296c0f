import { iso, isoOrNull, statement, type Read } from '../../db/query.ts';
import { change, recording } from '../../events/record.ts';
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

const personalKeys = statement<ApiKeyRow>(
  'personal_api_keys',
  `select ${COLUMNS} from api_key
   where account_id = $1 and team_id is null and revoked_at is null
   order by created_at, id`,
);

const teamKeys = statement<ApiKeyRow>(
  'team_api_keys',
  `select ${COLUMNS} from api_key where team_id = $1 and revoked_at is null order by created_at, id`,
);

const revokeKey = recording<{ id: string; team_id: string | null }>(
  'revoke_api_key',
  `update api_key set revoked_at = now() where id = $1 and account_id = $2 and revoked_at is null returning id, team_id`,
  2,
  ['team_id'],
);

export const listPersonalKeys = async (read: Read, accountId: string) =>
  (await read(personalKeys, [accountId])).map(presentRow);

/** All keys of the team, whoever made them. */
export const listTeamKeys = async (read: Read, teamId: string) => (await read(teamKeys, [teamId])).map(presentRow);

/** Ends a key of the account. @returns whether there was one. */
export async function revokeApiKey(read: Read, accountId: string, keyId: string): Promise<boolean> {
  const rows = await change(read, revokeKey, [keyId, accountId], ['api_key.revoked', { accountId, keyId }]);
  return rows.length > 0;
}

type ListedKeyRow = ApiKeyRow & {
  previous_secret_until: string | null;
  account_id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
};

// A secret never outlives its key.
const SELECT_LISTED = `select k.id, k.name, k.key_prefix, k.last4, k.scopes, k.team_id, k.created_at, k.last_used_at,
     k.expires_at, k.account_id, a.email, a.first_name, a.last_name,
     (select max(least(s.expires_at, k.expires_at)) from api_key_secret s
      where s.api_key_id = k.id and least(s.expires_at, k.expires_at) > now() and s.expires_at is not null)
       as previous_secret_until
   from api_key k
   join account a on a.id = k.account_id
   where k.revoked_at is null`;

const listedPersonalKeys = statement<ListedKeyRow>(
  'listed_personal_api_keys',
  `${SELECT_LISTED} and k.account_id = $1 and k.team_id is null order by k.created_at, k.id`,
);

const listedTeamKeys = statement<ListedKeyRow>(
  'listed_team_api_keys',
  `${SELECT_LISTED} and k.team_id = $1 order by k.created_at, k.id`,
);

/** The keys on a page for the account: its personal ones, or all of a team's. */
export async function listKeysForPage(read: Read, accountId: string, teamId: string | undefined) {
  const rows = await (teamId === undefined ? read(listedPersonalKeys, [accountId]) : read(listedTeamKeys, [teamId]));
  return rows.map((row) => ({
    ...presentRow(row),
    previousSecretUntil: isoOrNull(row.previous_secret_until),
    madeBy: { userId: row.account_id, email: row.email, firstName: row.first_name, lastName: row.last_name },
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
