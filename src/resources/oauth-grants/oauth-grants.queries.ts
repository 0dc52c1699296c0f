import { sortScopes, isAccountOnly } from '../../auth/scopes.ts';
import { liveGrant } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { OPENID_SCOPES, type Resource, type Scope } from '../../entities/index.ts';

type GrantRow = {
  id: string;
  client_id: string;
  client_name: string;
  audience: 'personal' | 'team';
  resource: Resource;
  team_id: string | null;
  team_name: string | null;
  scopes: Scope[];
  openid_scopes: string[] | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string;
};

const SELECT_GRANT = `select g.id, g.client_id, c.name as client_name, g.audience,
     coalesce(g.resource, 'api') as resource, g.team_id, t.name as team_name, g.scopes, g.openid_scopes, g.created_at, g.last_used_at, g.expires_at
   from oauth_grant g
   join oauth_client c on c.id = g.client_id
   left join team t on t.id = g.team_id`;
const IS_LIVE = liveGrant('g');

// Includes grants for teams in which the membership is inactive, because it can become active again.
const findLiveGrants = query<GrantRow>(
  'oauth_grant_list_live',
  `${SELECT_GRANT} where g.account_id = $1 and ${IS_LIVE} order by g.created_at desc, g.id desc`,
);

/** Returns the live grants of the account, newest first. */
export const listGrants = async (db: QueryRunner, accountId: string) =>
  (await db.query(findLiveGrants, [accountId])).map(presentGrant);

const findLiveGrant = query<GrantRow>(
  'oauth_grant_find_live',
  `${SELECT_GRANT} where g.account_id = $1 and g.id = $2 and ${IS_LIVE}`,
);

/** Reads a live grant of the account. */
export const liveGrantStep = (accountId: string, id: string) => [findLiveGrant, [accountId, id]] as const;

export type LiveGrant = ReturnType<typeof presentGrant>;

export const presentGrant = (row: GrantRow) => ({
  id: row.id,
  client: { id: row.client_id, name: row.client_name },
  audience: row.audience,
  resource: row.resource,
  team: row.team_id === null ? null : { id: row.team_id, name: row.team_name ?? '' },
  scopes: sortScopes(row.scopes).filter((scope) => row.team_id === null || !isAccountOnly(scope)),
  openidScopes: OPENID_SCOPES.filter((scope) => row.openid_scopes?.includes(scope)),
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
  expiresAt: iso(row.expires_at),
});
