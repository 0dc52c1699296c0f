import type { Database } from '../../db/database.ts';
import type { Services } from '../../service/services.ts';
import type { Authentication } from '../../auth/authenticate.ts';
import type { Principal } from '../../auth/principal.ts';
import { hashPassword, needsRehash, schemeOf, verifyPassword } from '../../crypto/password-hash.ts';
import { chooseScheme } from '../../crypto/scheme-choice.ts';
import { command } from '../../db/query.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { ProblemCode } from '../../problems/catalogue.ts';
import type { AuthenticatingBrowser, BrowserClient } from '../../procedures/browser-client.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { revokeReplacedSession, revokeSessions } from '../sessions/sessions.service.ts';
import { setSessionCookies, startSession } from '../sessions/start-session.ts';
import { findSignIn, type SignInTarget } from './sign-in.queries.ts';
import type { SignIn } from './sign-in.schema.ts';
import { startSignUpSession } from './sign-up-attempts.ts';
import { change } from '../../transactions/change.ts';

/** Signs in with a password to the account of the email address, or to the pending sign-up of this browser. */
export async function signIn(
  services: Services,
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  input: SignIn,
): Promise<void> {
  const target = await findSignIn(services.db, input.email, browserClient.deviceToken);
  try {
    await signInToAccount(services, browserClient, replaced, input, target);
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
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  { email, password }: SignIn,
  { accountId, passwordHash, isDisabled, deviceId, schemes }: SignInTarget,
): Promise<void> {
  const { db, config } = services;
  const counted = await countAttempt(browserClient, { kind: 'password', email, deviceId });

  const scheme = chooseScheme(services.encryption, email, schemes) ?? schemeOf(config.passwordCost);
  const isRight = await verifyPassword(password, passwordHash, scheme);
  if (!isRight || isDisabled || accountId === null || passwordHash === null) {
    throw new ProblemError('sign_in_failed', undefined, accountId === null ? {} : { accountId });
  }
  const currentHash = needsRehash(passwordHash, config.passwordCost)
    ? await hashPassword(password, config.passwordCost)
    : passwordHash;

  const spec = { on: { account: accountId }, requires: 'nothing' } as const;
  const session = await change(db, 'visitor', spec, async (tx) => {
    // The account may have been disabled, deleted or given another password since it was looked up.
    const account = await tx.em.findOne(Account, accountId);
    if (account === null || account.disabledAt || account.passwordHash !== passwordHash) {
      throw new ProblemError('sign_in_failed', undefined, { accountId });
    }
    account.passwordHash = currentHash;
    return startSession(tx, services, {
      account,
      authenticationType: 'password',
      proved: ['password'],
      browserClient,
      continued: await revokeReplacedSession(tx, replaced),
    });
  });
  setSessionCookies(browserClient, session);
  await counted.refund();
}

/**
 * Signs in to the pending sign-up of this browser. Its attempts are counted separately, because attackers can exhaust
 * those of the email address. The attempt at the account stays counted, so that a sign-up gives no free guesses.
 */
async function signInToAttempt(
  services: Services,
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  { password }: SignIn,
  { attempt }: SignInTarget,
): Promise<boolean> {
  if (attempt === null) return false;
  const counted = await countAttempt(browserClient, { kind: 'sign-up-password', signUpId: attempt.id });
  if (!(await verifyPassword(password, attempt.passwordHash))) return false;
  const session = await change(services.db, 'visitor', { on: 'installation', requires: 'nothing' }, async (tx) => {
    await revokeReplacedSession(tx, replaced);
    return startSignUpSession(tx, services, attempt.id);
  });
  if (session === null) return false;
  browserClient.setSession(session.token, session.expiresAt);
  await counted.refund();
  return true;
}

const endSignUpSession = command<never>(
  'sign_up_attempt_update_session_ended',
  'update sign_up_attempt set session_token_hash = null where id = $1',
);

/** Revokes the caller's session, if there is one, and always clears its cookie. */
export async function signOut(
  db: Database,
  browserClient: BrowserClient,
  authentication: Authentication,
): Promise<void> {
  const { principal } = authentication;
  if (principal?.kind === 'session') {
    await change(db, 'visitor', { on: 'installation', requires: 'nothing' }, (tx) =>
      revokeSessions(tx, { id: principal.credentialId }, 'signed out'),
    );
  } else if (principal === null && authentication.signUp !== undefined) {
    await db.run(endSignUpSession, [authentication.signUp.id]);
  }
  browserClient.clearSession();
}
