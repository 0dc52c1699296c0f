import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { lockOne, type RowLock } from './locks.ts';
import { transaction, type TransactionScope } from './transaction.ts';

/** Changes the caller's own account: locks it, and answers 401 if it was deleted since the call was authenticated. */
export const withAccount = <R>(
  db: TransactionScope,
  { accountId }: { readonly accountId: string },
  work: (change: { readonly tx: EntityManager; readonly account: Account }) => Promise<R>,
): Promise<R> => transaction(db, async (tx) => work({ tx, account: await lockAccount(tx, accountId) }));

/** The same inside of a transaction that is open already. */
export async function lockAccount(tx: EntityManager, accountId: string, mode?: RowLock): Promise<Account> {
  const account = await lockOne(tx, 'account', accountId, mode);
  if (account === null) throw new ProblemError('credential_invalid');
  return account;
}

/** @throws email_not_verified (403) for an account whose email address is not verified */
export function requireVerifiedEmail({ emailVerifiedAt }: Account): void {
  if (!emailVerifiedAt) throw new ProblemError('email_not_verified');
}

/** Locks the account of an email address, whatever its case. */
export async function lockAccountByEmail(tx: EntityManager, email: string): Promise<Account | null> {
  const [row] = await tx.execute<{ id: string }[]>('select id from account where lower(email) = lower(?)', [email]);
  if (row === undefined) return null;
  const account = await lockOne(tx, 'account', row.id);
  // While this waited, the account may have changed its address, and another one may have taken it.
  return account === null || isSameAddress(account.email, email) ? account : lockAccountByEmail(tx, email);
}

/** Whether two spellings are one address. */
export const isSameAddress = (a: string | null | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();
