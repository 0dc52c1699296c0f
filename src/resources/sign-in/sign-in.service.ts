import type { Services } from '../../app-services.ts';
import type { Authentication } from '../../auth/authenticate.ts';
import type { Principal } from '../../auth/principal.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import { hashPassword, needsRehash, verifyPassword } from '../../crypto/password-hash.ts';
import { SignUpAttempt } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { ProblemCode } from '../../problems.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { addressAttemptLimit, consumeAttempt, passwordAttemptLimit, refundAttempt } from '../../rate-limit/attempts.ts';
import { revokeReplacedSession, revokeSessions, openSession, startSession } from '../sessions/sessions.service.ts';
import { findSignIn, type SignInTarget } from './sign-in.queries.ts';
import type { SignIn } from './sign-in.schema.ts';
import { startSignUpSession } from './sign-up-attempts.ts';
import { lockOne } from '../../transactions/locks.ts';
import { transaction } from '../../transactions/transaction.ts';

/** Signs in with a password to the account of the email address, or to the pending sign-up of this browser. */
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

/** Verifies the password. Every failure is the same error after the same work, so that it does not reveal accounts. */
async function signInToAccount(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  { email, password }: SignIn,
  { accountId, passwordHash, deviceId, schemes }: SignInTarget,
): Promise<void> {
  const { db, config } = services;
  const { attempts, addressBucket } = browserClient;
  // A known browser has a separate limit, which attackers cannot exhaust.
  const limits =
    deviceId === null
      ? [addressAttemptLimit(attempts, 'sign-in', addressBucket), passwordAttemptLimit(attempts, { email })]
      : [passwordAttemptLimit(attempts, { deviceId })];
  for (const limit of limits) await consumeAttempt(limit);

  const isRight = await verifyPassword(password, passwordHash, config.passwordCost, schemes);
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
 * Signs in to the pending sign-up of this browser. Its attempts are counted separately, because attackers can exhaust
 * those of the email address. The attempt at the account stays counted, so that a sign-up gives no free guesses.
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

/** Revokes the caller's session, if there is one, and always clears its cookie. */
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
