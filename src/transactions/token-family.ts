import type { EntityManager } from '@mikro-orm/postgresql';
import { OAuthTokenFamily } from '../entities/index.ts';
import { record } from '../events/record.ts';
import { lockOne } from './locks.ts';
import { revokeApiKeys, revokeGrants } from './revocation.ts';

/**
 * Deletes a family with its code and tokens, and revokes the API keys that were created through it. A grant with no
 * usable token or key left is revoked too.
 * @returns false if the family was deleted before
 */
export async function endTokenFamily(tx: EntityManager, familyId: string, reason: string): Promise<boolean> {
  const [found] = await tx.execute<{ grant_id: string | null }[]>(
    'select grant_id from oauth_token_family where id = ?',
    [familyId],
  );
  const grantId = found?.grant_id ?? null;
  if (grantId !== null) await lockOne(tx, 'oauth_grant', grantId);
  const family = await lockOne(tx, 'oauth_token_family', familyId);
  if (family === null) return false;
  await revokeApiKeys(tx, { family: familyId }, reason);
  await tx.nativeDelete(OAuthTokenFamily, { id: familyId });
  if (grantId === null) return true;
  if (await isUsable(tx, grantId)) {
    const ids = { accountId: family.account.id, clientId: family.client.id, grantId, teamId: family.team?.id ?? null };
    record(tx, 'oauth_token.revoked', { ...ids, reason });
  } else {
    await revokeGrants(tx, { id: grantId }, reason);
  }
  return true;
}

async function isUsable(tx: EntityManager, grantId: string): Promise<boolean> {
  const [row] = await tx.execute<unknown[]>(
    `select 1 from oauth_token where grant_id = ? and consumed_at is null and expires_at > now()
     union all
     select 1 from api_key where oauth_grant_id = ? and revoked_at is null and (expires_at is null or expires_at > now())
     limit 1`,
    [grantId, grantId],
  );
  return row !== undefined;
}
