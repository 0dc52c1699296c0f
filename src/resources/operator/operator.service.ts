import type { EntityManager } from '@mikro-orm/postgresql';
import { invalidInput, ProblemError } from '../../errors.ts';
import { lockMany } from '../../transactions/locks.ts';
import { transaction, within, type TransactionScope } from '../../transactions/transaction.ts';
import { disableAccount as disable, enableAccount as enable } from '../accounts/accounts.service.ts';

/** Disables an account. Its credentials are rejected from the next request on. */
export async function disableAccount(db: TransactionScope, operatorId: string, accountId: string): Promise<void> {
  if (operatorId === accountId) {
    throw invalidInput('/accountId', 'An operator cannot disable their own account.');
  }
  await transaction(db, async (tx) => {
    await lockBoth(tx, operatorId, accountId);
    await disable(within(tx), accountId);
  });
}

/** Enables an account. Its keys and grants work again; its sessions stay revoked. */
export async function enableAccount(db: TransactionScope, operatorId: string, accountId: string): Promise<void> {
  await transaction(db, async (tx) => {
    await lockBoth(tx, operatorId, accountId);
    await enable(within(tx), accountId);
  });
}

/** Locks both accounts, so that two operators cannot disable each other concurrently. */
async function lockBoth(tx: EntityManager, operatorId: string, accountId: string): Promise<void> {
  const accounts = await lockMany(tx, 'account', { id: { $in: [operatorId, accountId] } });
  const isOperator = accounts.some(({ id, role, disabledAt }) => id === operatorId && role === 'admin' && !disabledAt);
  if (!isOperator) throw new ProblemError('route_not_found');
  if (!accounts.some(({ id }) => id === accountId)) throw new ProblemError('account_not_found');
}
