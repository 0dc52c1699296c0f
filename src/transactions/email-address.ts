import type { EntityManager } from '@mikro-orm/postgresql';
import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';

/**
 * Locks an email address, whether or not it has an account, so that sign-ups are counted exactly and only one of them
 * creates the account. Call it before any lock of a row.
 */
export async function lockEmailAddress(tx: EntityManager, email: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(?, hashtext(lower(?)))', [ADVISORY_LOCKS.signUp, email]);
}

/** Returns whether two spellings are the same email address. Case does not matter. */
export const isSameEmailAddress = (a: string | null | undefined, b: string): boolean =>
  a?.toLowerCase() === b.toLowerCase();
