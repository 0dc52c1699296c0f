import type { EntityManager } from '@mikro-orm/postgresql';
import type { Operator } from '../../auth/principal.ts';
import type { Account } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { lockMany } from '../../transactions/locks.ts';

/**
 * Requires that a signed-in operator does not change their own account, which could leave the installation without
 * an operator.
 */
export function requireForeign(operator: Operator, accountId: string): void {
  if (operator.kind !== 'operator-key' && operator.accountId === accountId)
    throw invalidInput('/accountId', 'An operator cannot do this to their own account.');
}

/**
 * Locks an account that an operator changes. A signed-in operator's own is locked with it, so that two operators cannot
 * end each other. An operator key changes no operator: it could end the last one, or become one by a new email address.
 * @throws account_not_found
 * @throws session_required (403) if an operator key calls, and the account is an operator's
 */
export async function lockSubject(tx: EntityManager, operator: Operator, accountId: string): Promise<Account> {
  const isKey = operator.kind === 'operator-key';
  const ids = isKey ? [accountId] : [accountId, operator.accountId];
  const account = (await lockMany(tx, 'account', { id: { $in: ids } })).find(({ id }) => id === accountId);
  if (account === undefined) throw new ProblemError('account_not_found');
  if (isKey && account.role === 'admin')
    throw new ProblemError('session_required', 'An operator key cannot do this to the account of an operator.');
  return account;
}
