import type { Principal } from '../../auth/principal.ts';
import { ProblemError } from '../../problems/error.ts';
import type { OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { lockKey, lockKeyOfTeam, lockKeysOfAccount } from '../../transactions/lock-credentials.ts';
import { keyFields, revokeKeysStep } from '../../transactions/revocation.ts';
import type { TransactionScope } from '../../transactions/steps.ts';

/** Revokes an API key that the account created. @throws api_key_not_found (404) */
export function revokeOwnKey(db: TransactionScope, caller: Principal, keyId: string): Promise<void> {
  const { accountId } = caller;
  const reads = [[lockKeysOfAccount, [accountId, keyId, null]]] as const;
  return change(db, caller, { on: { account: accountId }, requires: 'self', reads }, ({ later, record }, [[key]]) => {
    if (key === undefined) throw new ProblemError('api_key_not_found');
    later(revokeKeysStep([key]));
    record('api_key.revoked', keyFields(key));
  });
}

/** Revokes an API key of the caller's team, whichever member created it. */
export function revokeKeyInTeam(db: TransactionScope, caller: TeamCaller, keyId: string): Promise<void> {
  const { teamId } = caller;
  const reads = [[lockKeyOfTeam, [teamId, keyId]]] as const;
  const spec = { on: { team: teamId }, requires: 'manage_api_keys', reads } as const;
  return change(db, caller, spec, ({ later, record }, [[key]]) => {
    if (key === undefined) throw new ProblemError('api_key_not_found');
    later(revokeKeysStep([key]));
    record('api_key.revoked', { ...keyFields(key), makerId: key.account_id });
  });
}

/** Revokes any API key for the operator. */
export function revokeKey(db: TransactionScope, caller: OperatorCaller | 'system', keyId: string): Promise<void> {
  const reads = [[lockKey, [keyId]]] as const;
  return change(db, caller, { on: 'installation', requires: 'operator', reads }, ({ later, record }, [[key]]) => {
    if (key === undefined) throw new ProblemError('api_key_not_found');
    later(revokeKeysStep([key]));
    record('api_key.revoked', keyFields(key));
  });
}
