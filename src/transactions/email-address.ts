import type { EntityManager } from '@mikro-orm/postgresql';

/** "SIGN" in ASCII: the class of the advisory locks on email addresses. */
const EMAIL_ADDRESS_LOCK = 0x5349474e;

/**
 * Locks an email address, whether or not it has an account, so that sign-ups are counted exactly and one of them
 * becomes the account. It comes before every lock of a row.
 */
export async function lockEmailAddress(tx: EntityManager, email: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(?, hashtext(lower(?)))', [EMAIL_ADDRESS_LOCK, email]);
}
