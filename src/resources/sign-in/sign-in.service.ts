import type { Services } from '../../app-services.ts';
import type { Authentication } from '../../auth/authenticate.ts';
import type { Principal } from '../../auth/principal.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import { hashPassword, needsRehash, verifyPassword } from '../../crypto/password-hash.ts';
import { SignUpAttempt } from '../../entities/index.ts';
import { ProblemError, type ProblemCode } from '../../errors.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { addressAttemptLimit, consumeAttempt, passwordAttemptLimit, refundAttempt } from '../../rate-limit/attempts.ts';
import { revokeReplacedSession, revokeSessions, openSession, startSession } from '../sessions/sessions.service.ts';
import { findSignIn, type SignInTarget } from './sign-in.queries.ts';
import type { SignIn } from './sign-in.schema.ts';
import { startSignUpSession } from './sign-up-attempts.ts';
import { lockOne } from '../../transactions/locks.ts';
import { transaction } from '../../transactions/transaction.ts';

/** Signs in with a password: to the account of the address or, in the browser of a sign-up, to the sign-up. */
export async function signIn(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  input: SignIn,
): Promise<void> {
  const target = await findSignIn(services.db, input.email, browserClient.deviceToken);
  try {
    await withMinimumDuration(signInToAccount(services, browserClient, replaced, input, target));
  } catch (error) {
    if (!isOneOf(error, ['sign_in_failed', 'rate_limited'])) throw error;
    if (!(await signInToAttempt(services, browserClient, replaced, input, target))) throw error;
  }
}

const isOneOf = (error: unknown, codes: readonly ProblemCode[]): boolean =>
  error instanceof ProblemError && codes.includes(error.problem);

/** Every failure is the same error, after the same work. */
async function signInToAccount(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  { email, password }: SignIn,
  { accountId, passwordHash, deviceId }: SignInTarget,
): Promise<void> {
  const { db, config } = services;
  const { attempts, addressBucket } = browserClient;
  // A known browser has a limit of its own, which strangers cannot use up.
  const limits =
    deviceId === null
      ? [addressAttemptLimit(attempts, 'sign-in', addressBucket), passwordAttemptLimit(attempts, { email })]
      : [passwordAttemptLimit(attempts, { deviceId })];
  for (const limit of limits) await consumeAttempt(limit);

  const isRight = await verifyPassword(password, passwordHash, config.passwordCost);
  if (!isRight || accountId === null || passwordHash === null) {
    throw new ProblemError('sign_in_failed', undefined, accountId === null ? {} : { accountId });
  }
  const currentHash = needsRehash(passwordHash, config.passwordCost)
    ? await hashPassword(password, config.passwordCost)
    : passwordHash;

  const session = await transaction(db, async (tx) => {
    // The account may have been disabled, deleted or given another password since it was looked up.
    const account = await lockOne(tx, 'account', accountId);
    if (account === null || account.disabledAt || account.passwordHash !== passwordHash) {
      throw new ProblemError('sign_in_failed', undefined, { accountId });
    }
    account.passwordHash = currentHash;
    return startSession(tx, services, { account, authenticationType: 'password', browserClient, replaced });
  });
  openSession(browserClient, session);
  for (const limit of limits) await refundAttempt(limit);
}

/**
 * Signs in to the sign-up that this browser made. Its attempts are counted on their own, because strangers can use
 * up those of the address. The attempt at the account stays counted, so that a sign-up gives no free guesses.
 */
async function signInToAttempt(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  { password }: SignIn,
  { attempt }: SignInTarget,
): Promise<boolean> {
  if (attempt === null) return false;
  const limit = passwordAttemptLimit(browserClient.attempts, { signUpId: attempt.id });
  await consumeAttempt(limit);
  if (!(await verifyPassword(password, attempt.passwordHash, services.config.passwordCost))) return false;
  const session = await transaction(services.db, async (tx) => {
    await revokeReplacedSession(tx, replaced);
    return startSignUpSession(tx, services, attempt.id);
  });
  if (session === null) return false;
  browserClient.setSession(session.token, session.expiresAt);
  await refundAttempt(limit);
  return true;
}

/** Ends the session of the call, if there is one, and clears its cookie in any case. */
export async function signOut(
  { db }: Services,
  browserClient: BrowserClient,
  authentication: Authentication,
): Promise<void> {
  const { principal } = authentication;
  if (principal?.kind === 'session') {
    await transaction(db, (tx) => revokeSessions(tx, { id: principal.credentialId }, 'signed out'));
  } else if (principal === null && authentication.signUp !== undefined) {
    await db.em().nativeUpdate(SignUpAttempt, { id: authentication.signUp.id }, { sessionTokenHash: null });
  }
  browserClient.clearSession();
}
