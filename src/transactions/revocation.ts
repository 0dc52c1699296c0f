import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey, Membership, OAuthGrant, OAuthTokenFamily, OwnershipTransfer } from '../entities/index.ts';
import { record } from '../events/record.ts';
import { lockMany } from './locks.ts';

/** Revokes the grants that match and the API keys that were created through them. Records each. */
export async function revokeGrants(
  tx: EntityManager,
  where: FilterQuery<OAuthGrant>,
  reason: string | ((grant: OAuthGrant) => string),
): Promise<void> {
  const grants = await lockMany(tx, 'oauth_grant', { $and: [where, { revokedAt: null }] });
  if (grants.length === 0) return;
  const ids = grants.map(({ id }) => id);
  await tx.nativeUpdate(OAuthGrant, { id: { $in: ids } }, { revokedAt: new Date() });
  // Read the keys after locking the grants, so that no key is created through a grant while it is revoked.
  await revokeApiKeys(tx, { oauthGrant: { $in: ids } }, 'its grant ended');
  for (const grant of grants) {
    const { id: grantId, account, client, team } = grant;
    record(tx, 'oauth_grant.revoked', {
      accountId: account.id,
      clientId: client.id,
      grantId,
      teamId: team?.id ?? null,
      reason: typeof reason === 'string' ? reason : reason(grant),
    });
  }
}

/** Revokes the API keys that match. Records each. @returns the number of revoked keys */
export async function revokeApiKeys(tx: EntityManager, where: FilterQuery<ApiKey>, reason?: string): Promise<number> {
  const keys = await lockMany(tx, 'api_key', { $and: [where, { revokedAt: null }] });
  if (keys.length === 0) return 0;
  await tx.nativeUpdate(ApiKey, { id: { $in: keys.map(({ id }) => id) } }, { revokedAt: new Date() });
  for (const { id: keyId, account, team } of keys) {
    record(tx, 'api_key.revoked', {
      accountId: account.id,
      keyId,
      teamId: team?.id ?? null,
      ...(reason === undefined ? {} : { reason }),
    });
  }
  return keys.length;
}

/** Deletes consents whose codes were not exchanged yet, so that an exchange does not restore access. */
export async function deletePendingConsents(tx: EntityManager, where: FilterQuery<OAuthTokenFamily>): Promise<void> {
  await tx.nativeDelete(OAuthTokenFamily, { $and: [where, { grant: null }] });
}

/** Deletes a locked membership. Also revokes the account's grants and keys for the team and an offer of ownership. */
export async function endMembership(tx: EntityManager, membership: Membership): Promise<void> {
  const team = membership.team.id;
  const account = membership.account.id;
  await tx.nativeDelete(OwnershipTransfer, { team, nominee: account });
  await tx.nativeDelete(Membership, { id: membership.id });
  await revokeGrants(tx, { team, account }, 'membership ended');
  await deletePendingConsents(tx, { team, account });
  await revokeApiKeys(tx, { team, account }, 'membership ended');
}
