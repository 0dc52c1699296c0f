import type { EntityManager } from '@mikro-orm/postgresql';
import type { OperatorPrincipal } from '../auth/principal.ts';
import { isPast } from '../auth/active-membership.ts';
import { OperatorKey } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { lockShared } from './locks.ts';
import { transaction, type TransactionScope } from './transaction.ts';

/**
 * Runs a change of the operator API in a transaction. Locks the operator key first, so that a change that has begun
 * ends before the revocation of its key is committed, and none begins afterwards.
 * @throws credential_invalid (401) if the key was revoked or has expired since the request was authenticated
 */
export const withOperator = <R>(
  db: TransactionScope,
  operator: OperatorPrincipal,
  work: (tx: EntityManager) => Promise<R>,
): Promise<R> =>
  transaction(db, async (tx) => {
    await lockShared(tx, 'operator_key', [operator.credentialId]);
    requireLive(await tx.findOne(OperatorKey, { id: operator.credentialId }));
    return work(tx);
  });

/** Requires a key that was read under its lock. @throws credential_invalid (401) */
export function requireLive(key: OperatorKey | null | undefined): asserts key is OperatorKey {
  if (!key || key.revokedAt || isPast(key.expiresAt)) throw new ProblemError('credential_invalid');
}
