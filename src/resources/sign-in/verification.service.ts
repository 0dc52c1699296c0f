import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireUncommon } from '../../crypto/common-passwords.ts';
import { hashPassword, verifyPassword } from '../../crypto/password-hash.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { type Account, type ProofMethod, SignUpAttempt } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { AuthenticatingBrowser, BrowserClient } from '../../procedures/browser-client.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { lockAccountByEmail } from '../../transactions/email-address.ts';
import { consumeToken } from '../accounts/email-link-token.ts';
import { findContinuation, type Continuation } from '../oauth-consent/continuation.ts';
import { revokeReplacedSession } from '../sessions/sessions.service.ts';
import { openSession, startSession } from '../sessions/start-session.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { registerVerified, retryOnUniqueViolation } from './invited-sign-up.service.ts';
import type { Verification } from './sign-in.schema.ts';
import { findVerificationTarget, type VerificationTarget } from './verification-target.ts';
import { change } from '../../transactions/change.ts';

/** Returns the email address of a verification link without consuming it, because mail scanners open links. */
export async function readVerification(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  token: string,
): Promise<{ email: string; needsPassword: boolean; application?: string }> {
  const target = await findLink(browserClient, findVerificationTarget(services, browserClient, principal, token));
  const next = await findContinuation(services, target.clientId, browserClient);
  return { email: target.email, needsPassword: !target.isSameBrowser, ...(next && { application: next.name }) };
}

/**
 * Verifies an email address, and signs in. The browser that signed up needs only the link. Other browsers also need the
 * password of the sign-up, or set a new one.
 * @returns the application to which the link leads
 * @throws link_invalid, password_required, password_wrong
 */
export async function verifyEmail(
  services: Services,
  browserClient: AuthenticatingBrowser,
  principal: Principal | null,
  { token, password, newPassword }: Verification,
): Promise<Continuation | undefined> {
  const { db, config } = services;
  const target = await findLink(browserClient, findVerificationTarget(services, browserClient, principal, token));
  let newHash: string | null = null;
  const proved: ProofMethod[] = ['link'];
  if (newPassword !== undefined) {
    requireUncommon(newPassword, { email: target.email, brandName: config.brand.name }, '/newPassword');
    newHash = await hashPassword(newPassword, config.passwordCost);
  } else if (!target.isSameBrowser) {
    await requirePassword(browserClient, target, password);
    proved.push('password');
  }
  const session = await retryOnUniqueViolation(() =>
    change(db, 'visitor', { on: { email: target.email }, requires: 'nothing' }, async ({ em: tx }) => {
      const account =
        target.attemptId === null
          ? await verifyAccount(tx, services, principal, target, newHash ?? target.passwordHash, token)
          : await createSignedUpAccount(tx, principal, target, newHash, token);
      const started = await startSession(tx, services, {
        account,
        authenticationType: 'email_link',
        proved,
        browserClient,
        continued: null,
      });
      return { ...started, accountId: account.id };
    }),
  );
  openSession(browserClient, session);
  return findContinuation(services, target.clientId, browserClient, session.accountId);
}

async function requirePassword(
  browserClient: BrowserClient,
  { attemptId, accountId, passwordHash }: VerificationTarget,
  password: string | undefined,
): Promise<void> {
  if (password === undefined) throw new ProblemError('password_required');
  const counted = await countAttempt(browserClient, { kind: 'sign-up-password', signUpId: attemptId ?? accountId });
  if (!(await verifyPassword(password, passwordHash))) throw new ProblemError('password_wrong');
  await counted.refund();
}

/** Creates the account of a sign-up, or reclaims an unverified one. Of concurrent calls only one succeeds. */
async function createSignedUpAccount(
  tx: EntityManager,
  replaced: Principal | null,
  { attemptId, email }: VerificationTarget,
  newHash: string | null,
  token: string,
): Promise<Account> {
  const known = await lockAccountByEmail(tx, email);
  await revokeReplacedSession(tx, replaced);
  const attempt = await tx.findOne(SignUpAttempt, { id: attemptId ?? '', tokenHash: hashSecret(token) });
  if (attempt === null || known?.disabledAt || known?.emailVerifiedAt) throw new ProblemError('link_invalid');
  // Drop the names if the password of the sign-up was not proven, because someone else may have entered them.
  const names = newHash === null ? { firstName: attempt.firstName, lastName: attempt.lastName } : {};
  return registerVerified(tx, known, {
    id: attempt.accountId,
    email: attempt.email,
    passwordHash: newHash ?? attempt.passwordHash,
    ...names,
  });
}

/** Verifies an account without a sign-up attempt: the operator or an earlier version created it. */
async function verifyAccount(
  tx: EntityManager,
  { tokens }: Services,
  replaced: Principal | null,
  { email, passwordHash }: VerificationTarget,
  provenHash: string | null,
  token: string,
): Promise<Account> {
  const { account } = await consumeToken(tx, tokens, 'verify_email', token);
  await revokeReplacedSession(tx, replaced);
  // The account can have been verified or got another password since the link was looked up.
  if (account.emailVerifiedAt || account.disabledAt || provenHash === null) throw new ProblemError('link_invalid');
  if ((account.passwordHash ?? null) !== passwordHash) throw new ProblemError('link_invalid');
  const { firstName, lastName } = account;
  return registerVerified(tx, account, { email, passwordHash: provenHash, firstName, lastName });
}
