import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../auth/principal.ts';
import { isSameEmailAddress } from '../email/email-address.ts';
import { type Account, Session } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { lockOne, type RowLock } from './locks.ts';
import { transaction, type TransactionScope } from './transaction.ts';

/** Changes the caller's own account: locks it as `lockCaller` does, and only then runs `work`. */
export const withAccount = <R>(
  db: TransactionScope,
  caller: Principal,
  work: (change: { readonly tx: EntityManager; readonly account: Account }) => Promise<R>,
): Promise<R> => transaction(db, async (tx) => work({ tx, account: await lockCaller(tx, caller) }));

/**
 * Locks the caller's account and checks the caller again, because the account can have been deleted or disabled and
 * the session revoked while the transaction waited for the lock.
 * @throws credential_invalid (401)
 */
export async function lockCaller(tx: EntityManager, caller: Principal, mode?: RowLock): Promise<Account> {
  const { accountId, kind, credentialId } = caller;
  const account = await lockAccount(tx, accountId, mode);
  const isRevoked = kind === 'session' && (await tx.count(Session, { id: credentialId, revokedAt: null })) === 0;
  if (account.disabledAt || isRevoked) throw new ProblemError('credential_invalid');
  return account;
}

/** Locks an account without any check of the caller. @throws credential_invalid (401) if it no longer exists */
export async function lockAccount(tx: EntityManager, accountId: string, mode?: RowLock): Promise<Account> {
  const account = await lockOne(tx, 'account', accountId, mode);
  if (account === null) throw new ProblemError('credential_invalid');
  return account;
}

/** @throws email_not_verified (403) for an account whose email address is not verified */
export function requireVerifiedEmail({ emailVerifiedAt }: Account): void {
  if (!emailVerifiedAt) throw new ProblemError('email_not_verified');
}

/** Locks the account of an email address. @returns null if there is none */
export async function lockAccountByEmail(tx: EntityManager, email: string): Promise<Account | null> {
  const [row] = await tx.execute<{ id: string }[]>('select id from account where lower(email) = lower(?)', [email]);
  if (row === undefined) return null;
  const account = await lockOne(tx, 'account', row.id);
  // The address can have moved to another account while this waited for the lock.
  return account === null || isSameEmailAddress(account.email, email) ? account : lockAccountByEmail(tx, email);
}
