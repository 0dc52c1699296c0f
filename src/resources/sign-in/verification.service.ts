import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import { hashPassword, requireUncommon, verifyPassword } from '../../crypto/password-hash.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { type Account, SignUpAttempt } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { consumeAttempt, passwordAttemptLimit, refundAttempt } from '../../rate-limit/attempts.ts';
import { lockEmailAddress } from '../../transactions/email-address.ts';
import { lockAccountByEmail } from '../../transactions/with-account.ts';
import { consumeToken } from '../accounts/email-link-token.ts';
import { revokeReplacedSession, openSession, startSession } from '../sessions/sessions.service.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { consumeMailAttempt, enqueueLink } from './email-link.ts';
import { registerVerified, retryOnUniqueViolation } from './invited-sign-up.service.ts';
import type { Verification } from './sign-in.schema.ts';
import { createAttempt, findAttemptOfBrowser } from './sign-up-attempts.ts';
import { findVerificationTarget, type VerificationTarget } from './verification-target.ts';
import { transaction } from '../../transactions/transaction.ts';

/** Returns the email address of a verification link without consuming it, because mail scanners open links. */
export async function readVerification(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  token: string,
): Promise<{ email: string; needsPassword: boolean }> {
  const target = await findLink(browserClient, findVerificationTarget(services, browserClient, principal, token));
  return { email: target.email, needsPassword: !target.isSameBrowser };
}

/**
 * Verifies an email address, and signs in. The browser that signed up needs only the link. Other browsers also need the
 * password of the sign-up, or set a new one.
 * @throws link_invalid, password_required, password_wrong
 */
export async function verifyEmail(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  { token, password, newPassword }: Verification,
): Promise<void> {
  const { db, config } = services;
  const target = await findLink(browserClient, findVerificationTarget(services, browserClient, principal, token));
  let newHash: string | null = null;
  if (newPassword !== undefined) {
    requireUncommon(newPassword, target.email, '/newPassword');
    newHash = await hashPassword(newPassword, config.passwordCost);
  } else if (!target.isSameBrowser) {
    await requirePassword(services, browserClient, target, password);
  }
  const session = await retryOnUniqueViolation(() =>
    transaction(db, async (tx) => {
      await lockEmailAddress(tx, target.email);
      const account =
        target.attemptId === null
          ? await verifyAccount(tx, services, principal, target, newHash ?? target.passwordHash, token)
          : await createSignedUpAccount(tx, principal, target, newHash, token);
      return startSession(tx, services, {
        account,
        authenticationType: 'email_link',
        browserClient,
        replaced: null,
      });
    }),
  );
  openSession(browserClient, session);
}

async function requirePassword(
  { config }: Services,
  { attempts }: BrowserClient,
  { attemptId, accountId, passwordHash }: VerificationTarget,
  password: string | undefined,
): Promise<void> {
  if (password === undefined) throw new ProblemError('password_required');
  const limit = passwordAttemptLimit(attempts, { signUpId: attemptId ?? accountId });
  await consumeAttempt(limit);
  if (!(await verifyPassword(password, passwordHash, config.passwordCost))) throw new ProblemError('password_wrong');
  await refundAttempt(limit);
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

/**
 * Sends a new link to an account whose email address is not verified, or for the sign-up of this browser. Earlier
 * links stay valid.
 */
export async function resendVerification(
  services: Services,
  browserClient: BrowserClient,
  email: string,
): Promise<void> {
  await consumeMailAttempt(services, browserClient, email);
  await withMinimumDuration(
    transaction(services.db, async (tx) => {
      await lockEmailAddress(tx, email);
      const attempt = await findAttemptOfBrowser(tx, email, browserClient.deviceToken);
      if (attempt !== null) {
        const { accountId, passwordHash, firstName = null, lastName = null, browserHash } = attempt;
        const copied = {
          accountId,
          email: attempt.email,
          passwordHash,
          firstName,
          lastName,
          browserHash,
          language: browserClient.language,
        };
        await createAttempt(tx, services, copied);
        return;
      }
      const account = await lockAccountByEmail(tx, email);
      if (!account?.email || account.emailVerifiedAt || account.disabledAt) return;
      await enqueueLink(tx, services, account, 'verify_email', account.email, browserClient);
    }),
  );
}
