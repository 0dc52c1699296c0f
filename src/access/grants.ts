import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey, OAuthGrant } from '../entities/index.ts';

/**
 * Ends grants, and with each the API keys that were made through it. Locks the grants in the order
 * of their ids, after any team, account and membership and before any key.
 * @returns those that were still alive
 */
export async function revokeGrants(tx: EntityManager, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx.execute<{ id: string }[]>(
    `select id from oauth_grant where id in (${placesOf(ids)}) and revoked_at is null order by id for update`,
    [...ids],
  );
  const live = rows.map(({ id }) => id);
  if (live.length === 0) return [];
  await tx.nativeUpdate(OAuthGrant, { id: { $in: live } }, { revokedAt: new Date() });
  // Under the lock: a key that is being made through one of them is made by now, or never will be.
  await tx.execute(
    `select id from api_key where oauth_grant_id in (${placesOf(live)}) and revoked_at is null order by id for update`,
    live,
  );
  await tx.nativeUpdate(ApiKey, { oauthGrant: { $in: live }, revokedAt: null }, { revokedAt: new Date() });
  return live;
}

const placesOf = (ids: readonly string[]): string => ids.map(() => '?').join(', ');
