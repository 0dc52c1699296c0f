import { hashPassword, needsRehash, verifyPassword } from '../../crypto/password-hash.ts';
import type { Principal } from '../../auth/principal.ts';
import { addressAttemptLimit, consumeAttempt, refundAttempt, passwordAttemptLimit } from '../../rate-limit/attempts.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { endSessions, openSession, startSession } from '../sessions/sessions.service.ts';
import type { SignIn } from './sign-in.schema.ts';
import { findSignIn } from './sign-in.queries.ts';
import { lockOne } from '../../transactions/locks.ts';
import { transaction } from '../../transactions/transaction.ts';

/** Signs in with a password. Whatever is wrong, it is one refusal, after the same work. */
export async function signIn(
  { db, config, ...rest }: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  { email, password }: SignIn,
): Promise<void> {
  const { accountId, passwordHash, deviceId } = await findSignIn(db, email, browserClient.deviceToken);
  const { attempts, addressBucket } = browserClient;
  // A browser of the owner's is bound by its own window alone, whatever strangers do at the account or beside it.
  const windows =
    deviceId === null
      ? [addressAttemptLimit(attempts, 'sign-in', addressBucket), passwordAttemptLimit(attempts, { email })]
      : [passwordAttemptLimit(attempts, { deviceId })];
  for (const window of windows) await consumeAttempt(window);

  const isRight = await verifyPassword(password, passwordHash, config.passwordCost);
  if (!isRight || accountId === null || passwordHash === null) {
    throw new ProblemError('sign_in_failed', undefined, accountId === null ? {} : { accountId });
  }
  const currentHash = needsRehash(passwordHash, config.passwordCost)
    ? await hashPassword(password, config.passwordCost)
    : passwordHash;

  const session = await transaction(db, async (tx) => {
    // Under the lock: the account may be disabled, deleted, or have another password since it was looked up.
    const account = await lockOne(tx, 'account', accountId);
    if (account === null || account.disabledAt || account.passwordHash !== passwordHash) {
      throw new ProblemError('sign_in_failed', undefined, { accountId });
    }
    account.passwordHash = currentHash;
    const services = { db, config, ...rest };
    return startSession(tx, services, { account, authenticationType: 'password', browserClient, replaced });
  });
  openSession(browserClient, session);
  for (const window of windows) await refundAttempt(window);
}

/** Ends the session of the call, if there is one, and forgets its cookie in any case. */
export async function signOut(
  { db }: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
): Promise<void> {
  if (principal?.kind === 'session') {
    await transaction(db, (tx) => endSessions(tx, { id: principal.credentialId }, 'signed out'));
  }
  browserClient.clearSession();
}
