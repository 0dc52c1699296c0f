import type { EntityManager } from '@mikro-orm/postgresql';
import { invalidInput, ProblemError } from '../../errors.ts';
import { disableAccount as disable, enableAccount as enable } from '../accounts/accounts.service.ts';

/** Refuses an account's credentials from the next request on. */
export async function disableAccount(em: EntityManager, operatorId: string, accountId: string): Promise<void> {
  if (operatorId === accountId) {
    throw invalidInput('/accountId', 'An operator cannot disable their own account.');
  }
  await em.transactional(async (tx) => {
    await lockBoth(tx, operatorId, accountId);
    await disable(tx, accountId);
  });
}

/** Takes its keys and grants again. Its sessions have ended. */
export async function enableAccount(em: EntityManager, operatorId: string, accountId: string): Promise<void> {
  await em.transactional(async (tx) => {
    await lockBoth(tx, operatorId, accountId);
    await enable(tx, accountId);
  });
}

/** Locks both accounts, so that of two operators who disable each other one is left. */
async function lockBoth(tx: EntityManager, operatorId: string, accountId: string): Promise<void> {
  const rows = await tx.execute<{ id: string; is_operator: boolean }[]>(
    `select id, role = 'admin' and disabled_at is null as is_operator from account where id in (?, ?) order by id for update`,
    [operatorId, accountId],
  );
  if (!rows.some(({ id, is_operator }) => id === operatorId && is_operator)) throw new ProblemError('route_not_found');
  if (!rows.some(({ id }) => id === accountId)) throw new ProblemError('account_not_found');
}
