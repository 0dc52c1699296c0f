import { iso, isoOrNull, statement, type Read } from '../../db/read.ts';
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

const revokeKey = statement<{ id: string }>(
  'revoke_api_key',
  `update api_key set revoked_at = now() where id = $1 and account_id = $2 and revoked_at is null returning id`,
);

export const listPersonalKeys = async (read: Read, accountId: string) =>
  (await read(personalKeys, [accountId])).map(presentRow);

/** All keys of the team, whoever made them. */
export const listTeamKeys = async (read: Read, teamId: string) => (await read(teamKeys, [teamId])).map(presentRow);

/** Ends a key of the account. @returns whether there was one. */
export async function revokeApiKey(read: Read, accountId: string, keyId: string): Promise<boolean> {
  const rows = await read(revokeKey, [keyId, accountId]);
  return rows.length > 0;
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
