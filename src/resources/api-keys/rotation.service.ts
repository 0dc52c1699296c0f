import { secretsOf } from '../../transactions/expire-secrets.ts';
import { lockMany } from '../../transactions/locks.ts';
import { change } from '../../transactions/change.ts';
import type { Principal } from '../../auth/principal.ts';
import { type ApiKey, ApiKeySecret } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import { toEventFields } from './api-keys.service.ts';
import { lockCredentialSteps } from './held-scopes.ts';
import { notify } from '../../jobs/notify.ts';

const expireSecrets = secretsOf('api_key_secret', 'api_key_id');

/**
 * Creates a new secret for an API key of the account. The previous one stays valid for `overlapHours`; older ones are
 * deleted.
 */
export async function rotateApiKey(
  { db, tokens }: Services,
  caller: Principal,
  keyId: string,
  overlapHours: number,
): Promise<{ key: ApiKey; secret: string }> {
  const { accountId } = caller;
  const spec = { on: { account: accountId }, requires: 'self', reads: lockCredentialSteps(caller) } as const;
  return change(db, caller, spec, async (tx) => {
    const [key] = await lockMany(tx, 'api_key', { id: keyId, account: accountId, revokedAt: null });
    if (key === undefined || key.isExpired) throw new ProblemError('api_key_not_found');

    expireSecrets(tx, key.id, overlapHours);
    const { secret, hash, keyPrefix, last4 } = tokens.generate(key.team ? 'teamKey' : 'personalKey');
    tx.em.create(ApiKeySecret, { secretHash: hash, apiKey: key });
    key.keyPrefix = keyPrefix;
    key.last4 = last4;
    tx.record('api_key.rotated', { ...toEventFields(key), accountId });
    await notify(tx, accountId, { kind: 'api_key_rotated', thing: key.name, teamId: key.team?.id });
    return { key, secret };
  });
}
