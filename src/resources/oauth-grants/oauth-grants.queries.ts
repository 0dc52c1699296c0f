import type { EntityManager } from '@mikro-orm/postgresql';
import { sortScopes, isAccountOnly } from '../../auth/scopes.ts';
import { liveGrant } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { Resource, Scope } from '../../entities/index.ts';
import { lockMany } from '../../transactions/locks.ts';

type GrantRow = {
  id: string;
  client_id: string;
  client_name: string;
  audience: 'personal' | 'team';
  resource: Resource;
  team_id: string | null;
  team_name: string | null;
  scopes: Scope[];
  created_at: string;
  last_used_at: string | null;
  expires_at: string;
};

const SELECT_GRANT = `select g.id, g.client_id, c.name as client_name, g.audience,
     coalesce(g.resource, 'api') as resource, g.team_id, t.name as team_name, g.scopes, g.created_at, g.last_used_at, g.expires_at
   from oauth_grant g
   join oauth_client c on c.id = g.client_id
   left join team t on t.id = g.team_id`;
const IS_LIVE = liveGrant('g');

// Includes grants for teams in which the membership is inactive, because it can become active again.
const findLiveGrants = query<GrantRow>(
  'live_grants',
  `${SELECT_GRANT} where g.account_id = $1 and ${IS_LIVE} order by g.created_at desc, g.id desc`,
);

/** Returns the live grants of the account, newest first. */
export const listGrants = async (db: QueryRunner, accountId: string) =>
  (await db.query(findLiveGrants, [accountId])).map(presentGrant);

/** Locks a live grant of the account. @returns null if the account has none with this id */
export async function lockGrant(tx: EntityManager, accountId: string, id: string) {
  await lockMany(tx, 'oauth_grant', { id, account: accountId });
  const [row] = await tx.execute<GrantRow[]>(`${SELECT_GRANT} where g.id = ? and g.account_id = ? and ${IS_LIVE}`, [
    id,
    accountId,
  ]);
  return row === undefined ? null : presentGrant(row);
}

const presentGrant = (row: GrantRow) => ({
  id: row.id,
  client: { id: row.client_id, name: row.client_name },
  audience: row.audience,
  resource: row.resource,
  team: row.team_id === null ? null : { id: row.team_id, name: row.team_name ?? '' },
  scopes: sortScopes(row.scopes).filter((scope) => row.team_id === null || !isAccountOnly(scope)),
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
  expiresAt: iso(row.expires_at),
});
