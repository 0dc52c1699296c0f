import type { Services } from '../../service/services.ts';
import { hashSecret, type SecretKind } from '../../crypto/tokens.ts';
import type { Leak, LeakReport, RevokeLeaks } from './leak.ts';
import { revokeLeakedKeys } from './leaked-keys.service.ts';
import { revokeLeakedOperatorKeys } from './leaked-operator-keys.service.ts';
import { revokeLeakedTokens } from './leaked-tokens.service.ts';

/** How the secrets of each kind are revoked. Those of other kinds are ignored. */
const REVOKERS: Partial<Record<SecretKind, RevokeLeaks>> = {
  personalKey: revokeLeakedKeys,
  teamKey: revokeLeakedKeys,
  operatorKey: revokeLeakedOperatorKeys,
  accessToken: revokeLeakedTokens,
  refreshToken: revokeLeakedTokens,
};

/** The secrets that are looked up together. */
const AT_ONCE = 500;

/** Revokes leaked secrets. Each statement and transaction is bounded. @returns for each report whether its secret is known */
export async function revokeLeaked(services: Services, reports: readonly LeakReport[]): Promise<boolean[]> {
  const known = new Set<string>();
  const hashes = reports.map(({ secret }) => hashSecret(secret));
  const byRevoker = new Map<RevokeLeaks, Map<string, Leak>>();
  for (const [i, { secret, leak, foundAt }] of reports.entries()) {
    const revoke = REVOKERS[services.tokens.parseKind(secret) ?? 'session'];
    const hash = hashes[i];
    if (revoke === undefined || hash === undefined) continue;
    const leaks = byRevoker.get(revoke) ?? new Map<string, Leak>();
    byRevoker.set(revoke, leaks.set(hash.toString('hex'), { hash, leak, foundAt }));
  }
  for (const [revoke, leaks] of byRevoker) {
    const all = [...leaks.values()];
    for (let from = 0; from < all.length; from += AT_ONCE)
      for (const hash of await revoke(services.db, all.slice(from, from + AT_ONCE))) known.add(hash);
  }
  return hashes.map((hash) => known.has(hash.toString('hex')));
}
