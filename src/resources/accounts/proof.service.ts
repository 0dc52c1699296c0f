import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { verifyPassword } from '../../crypto/password-hash.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { setProven } from '../sessions/sessions.service.ts';
import { consumeAttempt, passwordAttemptLimit, refundAttempt } from '../../rate-limit/attempts.ts';

/** Re-authenticates the user of a session by password. Wrong passwords are counted per session. @throws password_wrong */
export async function proveByPassword(
  { db, config }: Services,
  browserClient: BrowserClient,
  principal: Principal,
  password: string,
): Promise<void> {
  const limit = passwordAttemptLimit(browserClient.attempts, { sessionId: principal.credentialId });
  await consumeAttempt(limit);
  const account = await db.em().findOne(Account, principal.accountId);
  const passwordHash = account?.passwordHash ?? null;
  if (!(await verifyPassword(password, passwordHash, config.passwordCost)) || passwordHash === null) {
    throw new ProblemError('password_wrong');
  }
  await refundAttempt(limit);
  await setProven(db, principal, 'password');
}
