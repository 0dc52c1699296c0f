import type { Principal } from '../../auth/principal.ts';
import { command } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import { change } from '../../transactions/change.ts';
import { lockKeysOfAccount } from '../../transactions/lock-credentials.ts';
import { toKey, toEventFields } from './api-keys.service.ts';
import type { TransactionScope } from '../../transactions/steps.ts';

const renameKey = command<never>('api_key_update_name', 'update api_key set name = $2 where id = $1');

/** Renames an API key that the account created. @throws api_key_not_found */
export function renameApiKey(db: TransactionScope, caller: Principal, keyId: string, name: string) {
  const { accountId } = caller;
  const reads = [[lockKeysOfAccount, [accountId, keyId, null]]] as const;
  return change(db, caller, { on: { account: accountId }, requires: 'self', reads }, ({ later, record }, [[row]]) => {
    if (row === undefined) throw new ProblemError('api_key_not_found');
    const key = { ...toKey(row), name };
    if (row.name === name) return key;
    later([renameKey, [keyId, name]]);
    record('api_key.updated', { ...toEventFields(key), scopes: key.scopes });
    return key;
  });
}
