import type { EntityManager } from '@mikro-orm/postgresql';
import type { Operator, Principal } from '../auth/principal.ts';
import { isPast } from '../auth/active-membership.ts';
import { OperatorKey } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { operatorIsLiveStep } from './live-caller.ts';
import { lockShared } from './locks.ts';
import { runStep } from './steps.ts';
import { transaction, type TransactionScope } from './transaction.ts';

/**
 * Runs a change of an operator in a transaction. Locks an operator key first, so that a change that has begun ends
 * before the revocation of its key is committed, and none begins afterwards. The account of an operator who is signed
 * in cannot be locked before the teams, so it is read again once the change has waited for all of its locks.
 * @throws credential_invalid (401) if the key or session has ended since the request was authenticated
 * @throws route_not_found (404) if the account is no longer an operator
 */
export const withOperator = <R>(
  db: TransactionScope,
  operator: Operator,
  work: (tx: EntityManager) => Promise<R>,
): Promise<R> =>
  transaction(db, async (tx) => {
    if (operator.kind !== 'operator-key') {
      const result = await work(tx);
      await requireSignedIn(tx, operator);
      return result;
    }
    await lockShared(tx, 'operator_key', [operator.credentialId]);
    requireLive(await tx.findOne(OperatorKey, { id: operator.credentialId }));
    return work(tx);
  });

async function requireSignedIn(tx: EntityManager, operator: Principal): Promise<void> {
  const [state] = await runStep(tx, operatorIsLiveStep(operator));
  if (state?.is_live !== true) throw new ProblemError('credential_invalid');
  if (!state.is_operator) throw new ProblemError('route_not_found');
}

/** Requires a key that was read under its lock. @throws credential_invalid (401) */
export function requireLive(key: OperatorKey | null | undefined): asserts key is OperatorKey {
  if (!key || key.revokedAt || isPast(key.expiresAt)) throw new ProblemError('credential_invalid');
}
