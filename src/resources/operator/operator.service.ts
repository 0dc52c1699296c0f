import type { Operator } from '../../auth/principal.ts';
import { invalidInput } from '../../errors.ts';
import { lockMany } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';

/**
 * Requires that a signed-in operator does not change their own account, which could leave the installation without
 * an operator.
 */
export function requireForeign(operator: Operator, accountId: string): void {
  if (operator.kind !== 'operator-key' && operator.accountId === accountId)
    throw invalidInput('/accountId', 'An operator cannot do this to their own account.');
}

/** Returns the ids of an account and of the operator, to lock both, so that two operators cannot end each other. */
export const withSelf = (operator: Operator, accountId: string): string[] =>
  operator.kind === 'operator-key' ? [accountId] : [accountId, operator.accountId];

/** Locks the accounts that `withSelf` returns, in one order. */
export async function lockForeign(db: TransactionScope, operator: Operator, accountId: string): Promise<void> {
  requireForeign(operator, accountId);
  await transaction(db, (tx) => lockMany(tx, 'account', { id: { $in: withSelf(operator, accountId) } }));
}
