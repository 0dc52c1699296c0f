import { command, query } from '../../db/query.ts';
import { lockOne } from '../../transactions/locks.ts';
import { revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import type { Change } from '../../transactions/steps.ts';

const grantOfFamily = query<{ grant_id: string | null }>(
  'oauth_token_family_find_grant',
  'select grant_id from oauth_token_family where id = $1',
);

const deleteFamily = command<never>('oauth_token_family_delete', 'delete from oauth_token_family where id = $1');

const usableOfGrant = query<object>(
  'oauth_grant_check_usable',
  `select from oauth_token where grant_id = $1 and consumed_at is null and expires_at > now()
   union all
   select from api_key where oauth_grant_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
   limit 1`,
);

/**
 * Deletes a family with its code and tokens, and revokes the API keys that were created through it. A grant with no
 * usable token or key left is revoked too.
 * @returns false if the family was deleted before
 */
export async function endTokenFamily(tx: Change, familyId: string, reason: string): Promise<boolean> {
  const [[found]] = await tx.run([[grantOfFamily, [familyId]]]);
  const grantId = found?.grant_id ?? null;
  if (grantId !== null) await lockOne(tx, 'oauth_grant', grantId);
  const family = await lockOne(tx, 'oauth_token_family', familyId);
  if (family === null) return false;
  await revokeApiKeys(tx, { family: familyId }, reason);
  tx.later([deleteFamily, [familyId]]);
  if (grantId === null) return true;
  if ((await tx.run([[usableOfGrant, [grantId]]]))[0].length > 0) {
    const ids = { accountId: family.account.id, clientId: family.client.id, grantId, teamId: family.team?.id ?? null };
    tx.record('oauth_token.revoked', { ...ids, reason });
  } else {
    await revokeGrants(tx, { id: grantId }, reason);
  }
  return true;
}
