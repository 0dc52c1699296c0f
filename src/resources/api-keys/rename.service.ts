import { record } from '../../events/record.ts';
import { lockMany } from '../../transactions/locks.ts';
import { withAccount } from '../../transactions/with-account.ts';
import type { Principal } from '../../auth/principal.ts';
import type { ApiKey } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { toEventFields } from './api-keys.service.ts';

/** Renames an API key that the account created. @throws api_key_not_found */
export const renameApiKey = ({ db }: Services, caller: Principal, keyId: string, name: string): Promise<ApiKey> =>
  withAccount(db, caller, async ({ tx }) => {
    const [key] = await lockMany(tx, 'api_key', { id: keyId, account: caller.accountId, revokedAt: null });
    if (key === undefined) throw new ProblemError('api_key_not_found');
    if (key.name === name) return key;
    key.name = name;
    record(tx, 'api_key.updated', { ...toEventFields(key), scopes: key.scopes });
    return key;
  });
