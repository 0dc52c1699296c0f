import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';

/** Locks the caller's account. Whoever locks a team or several does so before. */
export async function lockAccount(tx: EntityManager, accountId: string): Promise<Account> {
  const account = await tx.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  // Deleted since the call was authenticated.
  if (account === null) throw new ProblemError('credential_invalid');
  return account;
}

/** Locks the account of an address, whatever its case. */
export async function lockAccountByEmail(tx: EntityManager, email: string): Promise<Account | null> {
  const [row] = await tx.execute<{ id: string }[]>('select id from account where lower(email) = lower(?) for update', [
    email,
  ]);
  return row === undefined ? null : tx.findOne(Account, row.id);
}

/** Whether two spellings are one address. */
export const isSameAddress = (a: string | null | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();
