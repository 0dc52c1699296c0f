import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';
import { command, query } from '../db/query.ts';
import type { Account } from '../entities/index.ts';
import { lockOne } from './locks.ts';
import type { Change } from './steps.ts';

const lockAddress = command<object>(
  'account_lock_email_address',
  'select from pg_advisory_xact_lock($1::int, hashtext(lower($2)))',
);

/**
 * Locks an email address, whether or not it has an account, so that sign-ups are counted exactly and only one of them
 * creates the account. Before any lock of a row.
 */
export const lockEmailAddressStep = (email: string) => [lockAddress, [ADVISORY_LOCKS.signUp, email]] as const;

const accountByEmail = query<{ id: string }>(
  'account_find_by_email',
  'select id from account where lower(email) = lower($1)',
);

/** Finds the account of an email address, ignoring case. */
export const accountByEmailStep = (email: string) => [accountByEmail, [email]] as const;

/** Locks the account of an email address. @returns null if there is none */
export async function lockAccountByEmail(tx: Change, email: string): Promise<Account | null> {
  const [[row]] = await tx.run([accountByEmailStep(email)]);
  if (row === undefined) return null;
  const account = await lockOne(tx, 'account', row.id);
  // The address can have moved to another account while this waited for the lock.
  return account === null || isSameEmailAddress(account.email, email) ? account : lockAccountByEmail(tx, email);
}

/** Returns whether two spellings are the same email address. Case does not matter. */
export const isSameEmailAddress = (a: string | null | undefined, b: string): boolean =>
  a?.toLowerCase() === b.toLowerCase();

type Addressed = Pick<Account, 'email' | 'emailVerifiedAt' | 'provenEmail'>;

/** Returns the address that an account has proven last; null if it never proved one. */
export const provenAddress = ({ email, emailVerifiedAt, provenEmail }: Addressed): string | null =>
  (emailVerifiedAt ? email : provenEmail) ?? null;

/** Returns whether the operator moved an account that was proven to an address that is not. */
export const isMoved = (account: Addressed): boolean => !account.emailVerifiedAt && provenAddress(account) !== null;
