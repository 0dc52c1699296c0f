import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../auth/principal.ts';
import { isSameEmailAddress } from './email-address.ts';
import type { Account } from '../entities/index.ts';
import { invalidInput, ProblemError } from '../errors.ts';
import { callerIsLiveStep } from './live-caller.ts';
import { lockOne, type RowLock } from './locks.ts';
import { runStep } from './steps.ts';
import { transaction, type TransactionScope } from './transaction.ts';

/** Changes the caller's own account: locks it as `lockCaller` does, and only then runs `work`. */
export const withAccount = <R>(
  db: TransactionScope,
  caller: Principal,
  work: (change: { readonly tx: EntityManager; readonly account: Account }) => Promise<R>,
): Promise<R> => transaction(db, async (tx) => work({ tx, account: await lockCaller(tx, caller) }));

/**
 * Locks the caller's account and checks the caller again, because the account can have been deleted or disabled and
 * the credential revoked while the transaction waited for the lock.
 * @throws credential_invalid (401)
 */
export async function lockCaller(tx: EntityManager, caller: Principal, mode?: RowLock): Promise<Account> {
  const account = await lockAccount(tx, caller.accountId, mode);
  // A statement of its own, because the one that waits for the lock does not see what was committed meanwhile.
  const [state] = await runStep(tx, callerIsLiveStep(caller));
  if (state?.is_live !== true) throw new ProblemError('credential_invalid');
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

/**
 * Requires an account that can get a team or membership from the operator. A disabled one keeps what it has.
 * @throws validation_failed (400)
 */
export function requireEnabled({ disabledAt }: Account, pointer: string): void {
  if (disabledAt) throw invalidInput(pointer, 'The account is disabled.');
}

/**
 * Requires an account that the operator can make the owner of a team.
 * @throws validation_failed (400), email_not_verified (403)
 */
export function requireNewOwner(account: Account, pointer: string): void {
  requireEnabled(account, pointer);
  if (!account.emailVerifiedAt)
    throw new ProblemError('email_not_verified', 'The email address of the new owner is not verified.', {
      errors: [{ in: 'body', pointer, code: 'invalid_value' }],
    });
}

/** Locks the account of an email address. @returns null if there is none */
export async function lockAccountByEmail(tx: EntityManager, email: string): Promise<Account | null> {
  const [row] = await tx.execute<{ id: string }[]>('select id from account where lower(email) = lower(?)', [email]);
  if (row === undefined) return null;
  const account = await lockOne(tx, 'account', row.id);
  // The address can have moved to another account while this waited for the lock.
  return account === null || isSameEmailAddress(account.email, email) ? account : lockAccountByEmail(tx, email);
}
