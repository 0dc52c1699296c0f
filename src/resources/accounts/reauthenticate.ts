import { verifyPassword } from '../../crypto/password-hash.ts';
import type { Principal } from '../../auth/principal.ts';
import { consumeAttempt, refundAttempt, passwordAttemptLimit } from '../../rate-limit/attempts.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';

/**
 * Makes sure that whoever holds the session also knows the password. An account without one has
 * none that is right.
 * @returns the hash it was compared with, for {@link requireSame} under the account's lock
 */
export async function provePassword(
  { db, config }: Services,
  browserClient: BrowserClient,
  { accountId, credentialId }: Principal,
  password: string,
): Promise<string> {
  const window = passwordAttemptLimit(browserClient.attempts, { sessionId: credentialId });
  await consumeAttempt(window);
  const account = await db.em().findOne(Account, accountId);
  const passwordHash = account?.passwordHash ?? null;
  if (!(await verifyPassword(password, passwordHash, config.passwordCost)) || passwordHash === null) {
    throw new ProblemError('password_wrong');
  }
  await refundAttempt(window);
  return passwordHash;
}

/** Refuses where the password has changed since it was compared: whoever did that has ended this session. */
export function requireSame(account: Account, provenHash: string | null): void {
  if ((account.passwordHash ?? null) !== provenHash) throw new ProblemError('password_wrong');
}
