import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey, OAuthGrant, type Scope } from '../entities/index.ts';
import { record } from '../events/record.ts';
import { lockMany } from './locks.ts';

/**
 * Removes all but the given scopes from a locked grant, its tokens and its API keys. The rows lose the scopes, so that
 * a later consent to more scopes does not restore them. Keys without remaining scopes are revoked.
 */
export async function reduceGrant(tx: EntityManager, grantId: string, kept: readonly Scope[]): Promise<void> {
  // Uses the clock of the database, because refresh tokens record their consumption by it.
  await tx.nativeUpdate(OAuthGrant, { id: grantId }, { scopes: [...kept], narrowedAt: raw('clock_timestamp()') });
  const list = kept.join(' ');
  await tx.execute(
    `update oauth_token set scopes = array(
       select s from unnest(scopes) with ordinality u(s, i) where s = any(string_to_array(?, ' ')) order by i)
     where grant_id = ? and not scopes <@ string_to_array(?, ' ')`,
    [list, grantId, list],
  );
  const keys = await lockMany(tx, 'api_key', { oauthGrant: grantId, revokedAt: null });
  for (const { id: keyId, account, team, name, scopes } of keys) {
    const left = scopes.filter((scope) => kept.includes(scope));
    if (left.length === scopes.length) continue;
    const ids = { accountId: account.id, keyId, teamId: team?.id ?? null, ...(team && { name }) };
    if (left.length === 0) {
      await tx.nativeUpdate(ApiKey, { id: keyId }, { revokedAt: new Date() });
      record(tx, 'api_key.revoked', { ...ids, reason: 'its grant has none of its scopes' });
    } else {
      await tx.nativeUpdate(ApiKey, { id: keyId }, { scopes: left });
      record(tx, 'api_key.updated', { ...ids, scopes: left, reason: 'its grant was reduced' });
    }
  }
}
