import type { Change } from '../../transactions/steps.ts';
import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireUncommon } from '../../crypto/common-passwords.ts';
import { hashPassword, verifyPassword } from '../../crypto/password-hash.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { type Account, type ProofMethod, SignUpAttempt } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { AuthenticatingBrowser, BrowserClient } from '../../procedures/browser-client.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { isMoved, lockAccountByEmail } from '../../transactions/email-address.ts';
import { consumeToken } from '../accounts/email-link-token.ts';
import { confirmMove } from '../accounts/email.service.ts';
import { findContinuation, type Continuation } from '../oauth-consent/continuation.ts';
import { isKnownDevice } from '../sessions/known-devices.ts';
import { type EndedSession, revokeReplacedSession } from '../sessions/sessions.service.ts';
import { setSessionCookies, startSession } from '../sessions/start-session.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { registerVerified, retryOnUniqueViolation } from './invited-sign-up.service.ts';
import { deleteSignUpAttempts, isClosedToSignUp } from './prove-mailbox.ts';
import { offerRevocation, type RemainingAccess } from './remaining-access.ts';
import type { Verification } from './sign-in.schema.ts';
import { findVerificationTarget, findVerifiedAddress, type VerificationTarget } from './verification-target.ts';
import { change } from '../../transactions/change.ts';

/**
 * Returns the email address of a verification link without consuming it, because mail scanners open links. To a session
 * whose address is verified, a link that cannot be used is one that was used.
 */
export async function readVerification(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  token: string,
): Promise<{ email: string; needsPassword: boolean; isMoved?: true; isVerified?: true; application?: string }> {
  const found = findVerificationTarget(services, browserClient, principal, token).catch(async (error: unknown) => {
    const email = await findVerifiedAddress(services, principal, token);
    if (email === null) throw error;
    return { verified: email };
  });
  const target = await findLink(browserClient, found);
  if ('verified' in target) return { email: target.verified, needsPassword: false, isVerified: true };
  const next = await findContinuation(services, target.clientId, browserClient);
  return {
    email: target.email,
    needsPassword: !target.isSameBrowser,
    ...(target.isMoved && { isMoved: true }),
    ...(next && { application: next.name }),
  };
}

/**
 * Verifies an email address, and signs in. The browser that signed up needs only the link. Other browsers also need the
 * password of the sign-up, or set a new one. Of an account that the operator moved to the address, they need its password,
 * a browser that is signed in to it or known to it; `ownAccountPassword` leaves it alone and creates another account.
 * @returns the application to which the link leads, and of a moved account what else gives access to it
 * @throws link_invalid, password_required, password_wrong, sign_up_closed
 */
export async function verifyEmail(
  services: Services,
  browserClient: AuthenticatingBrowser,
  principal: Principal | null,
  { token, password, newPassword, ownAccountPassword }: Verification,
): Promise<{ continueTo: Continuation | undefined; remaining: RemainingAccess | undefined }> {
  const { db, config } = services;
  const target = await findLink(browserClient, findVerificationTarget(services, browserClient, principal, token));
  // The passwords to set are for different links: neither may do what the other one asks for.
  if (target.isMoved ? newPassword !== undefined : ownAccountPassword !== undefined)
    throw new ProblemError('password_required');
  if (ownAccountPassword !== undefined && config.signup !== 'open') throw new ProblemError('sign_up_closed');
  const chosen = newPassword ?? ownAccountPassword;
  let newHash: string | null = null;
  const proved: ProofMethod[] = ['link'];
  if (chosen !== undefined) {
    const field = newPassword === undefined ? '/ownAccountPassword' : '/newPassword';
    requireUncommon(chosen, { email: target.email, brandName: config.brand.name }, field);
    newHash = await hashPassword(chosen, config.passwordCost);
  } else if (!target.isSameBrowser) {
    await requirePassword(browserClient, target, password);
    proved.push('password');
  }
  const isConfirmed = target.isMoved && newHash === null;
  const session = await retryOnUniqueViolation(() =>
    change(db, 'visitor', { on: { email: target.email }, requires: 'nothing' }, async (tx) => {
      const proof = { target, newHash, token, replaced: principal };
      const { account, continued } =
        target.attemptId === null
          ? await verifyAccount(tx, services, browserClient, { ...proof, isProven: proved.includes('password') })
          : { account: await createSignedUpAccount(tx, proof), continued: null };
      const started = await startSession(tx, services, {
        account,
        authenticationType: 'email_link',
        proved,
        browserClient,
        continued,
      });
      return { ...started, accountId: account.id };
    }),
  );
  setSessionCookies(browserClient, session);
  const { accountId } = session;
  return {
    continueTo: await findContinuation(services, target.clientId, browserClient, accountId),
    remaining: isConfirmed ? await offerRevocation(services, accountId, 'email verified') : undefined,
  };
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

type Proof = {
  readonly target: VerificationTarget;
  /** Of the password that is set with the link. */
  readonly newHash: string | null;
  readonly token: string;
  /** The session of the browser. */
  readonly replaced: Principal | null;
};

/** Creates the account of a sign-up, or reclaims an unverified one. Of concurrent calls only one succeeds. */
async function createSignedUpAccount(tx: Change, { target, newHash, token, replaced }: Proof): Promise<Account> {
  const known = await lockAccountByEmail(tx, target.email);
  await revokeReplacedSession(tx, replaced);
  const attempt = await tx.em.findOne(SignUpAttempt, { id: target.attemptId ?? '', tokenHash: hashSecret(token) });
  if (attempt === null || (known !== null && isClosedToSignUp(known))) throw new ProblemError('link_invalid');
  // Drop the names if the password of the sign-up was not proven, because someone else may have entered them.
  const names = newHash === null ? { firstName: attempt.firstName, lastName: attempt.lastName } : {};
  return registerVerified(tx, known, {
    id: attempt.accountId,
    email: attempt.email,
    passwordHash: newHash ?? attempt.passwordHash,
    ...names,
  });
}

type AccountProof = Proof & { readonly isProven: boolean };

/**
 * Verifies an account without a sign-up attempt: the operator or an earlier version created it, or the operator moved it.
 */
async function verifyAccount(
  tx: Change,
  { tokens }: Services,
  browserClient: BrowserClient,
  { target, newHash, token, replaced, isProven }: AccountProof,
): Promise<{ account: Account; continued: EndedSession | null }> {
  const { email, passwordHash } = target;
  const { account } = await consumeToken(tx, tokens, 'verify_email', token);
  const ended = await revokeReplacedSession(tx, replaced);
  // The account can have been verified, moved or got another password since the link was looked up.
  if (account.emailVerifiedAt || account.disabledAt || isMoved(account) !== target.isMoved)
    throw new ProblemError('link_invalid');
  if ((account.passwordHash ?? null) !== passwordHash) throw new ProblemError('link_invalid');
  if (target.isMoved && newHash === null) {
    const isOwn = isProven || ended?.accountId === account.id || (await isKnownDevice(tx, account, browserClient));
    if (!isOwn) throw new ProblemError('password_required');
    deleteSignUpAttempts(tx, email);
    await confirmMove(tx, account);
    return { account, continued: ended };
  }
  const provenHash = newHash ?? passwordHash;
  if (provenHash === null) throw new ProblemError('link_invalid');
  const names = target.isMoved ? {} : { firstName: account.firstName, lastName: account.lastName };
  return {
    account: await registerVerified(tx, account, { email, passwordHash: provenHash, ...names }),
    continued: null,
  };
}
