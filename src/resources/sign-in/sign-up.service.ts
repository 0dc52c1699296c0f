import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireUncommon } from '../../crypto/common-passwords.ts';
import { hashPassword } from '../../crypto/password-hash.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { ProblemError } from '../../problems/error.ts';
import type { AuthenticatingBrowser, BrowserClient } from '../../procedures/browser-client.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { findInvitationByToken } from '../invitations/acceptance.service.ts';
import { findContinuation, keepForLink, type Continuation } from '../oauth-consent/continuation.ts';
import { getDeviceToken } from '../sessions/known-devices.ts';
import { setSessionCookies } from '../sessions/start-session.ts';
import { registerFromInvitation, requireInvited, retryOnUniqueViolation } from './invited-sign-up.service.ts';
import { enqueueRequest } from './requested-link.ts';
import type { SignUp } from './sign-in.schema.ts';
import { createAttempt, startSignUpSession } from './sign-up-attempts.ts';
import { change } from '../../transactions/change.ts';

/**
 * Signs up, if SIGNUP allows it. An emailed invitation proves the mailbox, so it creates the account immediately.
 * Otherwise the sign-up is an attempt, which changes nothing until its emailed link is opened.
 * @returns whether an account with a session was created, and then the application to which its invitation leads
 */
export async function signUp(
  services: Services,
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  input: SignUp,
): Promise<{ signedIn: boolean; continueTo?: Continuation }> {
  const { signup, passwordCost, brand } = services.config;
  const { invitationToken } = input;
  if (signup === 'closed' || (signup === 'invited' && invitationToken === undefined)) {
    throw new ProblemError('sign_up_closed');
  }
  // Check before hashing, and again under the locks.
  const invitationId = await findProvingInvitation(services, browserClient, input);
  await countAttempt(browserClient, { kind: 'sign-up', invitationId });
  requireUncommon(input.password, { email: input.email, brandName: brand.name }, '/password');
  const passwordHash = await hashPassword(input.password, passwordCost);
  if (invitationToken !== undefined && invitationId !== null) {
    const session = await retryOnUniqueViolation(() =>
      registerFromInvitation(services, browserClient, replaced, { ...input, invitationToken, passwordHash }),
    );
    setSessionCookies(browserClient, session);
    const continueTo = await findContinuation(services, session.clientId, browserClient, session.accountId);
    return { signedIn: true, ...(continueTo && { continueTo }) };
  }
  // A copied link satisfies SIGNUP=invited, but does not prove the mailbox.
  await attemptSignUp(services, browserClient, replaced, { ...input, passwordHash });
  return { signedIn: false };
}

/**
 * Returns the id of the invitation whose emailed link proves the mailbox; null without a link, or with a copied one.
 * @throws link_invalid, invitation_for_another
 */
async function findProvingInvitation(
  services: Services,
  browserClient: BrowserClient,
  input: SignUp,
): Promise<string | null> {
  const { invitationToken } = input;
  if (invitationToken === undefined) return null;
  const found = findInvitationByToken(services.db, services, invitationToken);
  const { id, proves_mailbox: provesMailbox } = await findLink(
    browserClient,
    found.then((linked) => requireInvited(linked, input)),
  );
  return provesMailbox ? id : null;
}

/** Creates a sign-up attempt in the same way whether or not an account exists. */
async function attemptSignUp(
  services: Services,
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  { email, passwordHash, firstName, lastName, authorizationId: id }: SignUp & { readonly passwordHash: string },
): Promise<void> {
  const deviceToken = getDeviceToken(browserClient);
  const session = await change(services.db, 'visitor', { on: { email }, requires: 'nothing' }, async (tx) => {
    const browserHash = hashSecret(deviceToken);
    const clientId = await keepForLink(tx, browserClient, id);
    const attempt = await createAttempt(tx, services, {
      email,
      passwordHash,
      firstName: firstName ?? null,
      lastName: lastName ?? null,
      browserHash,
      clientId,
    });
    if (attempt === null) return null;
    await enqueueRequest(tx, services, browserClient, { kind: 'verify_email', email, attemptId: attempt.id });
    // A signed-in browser keeps its session.
    return replaced !== null ? null : startSignUpSession(tx, services, attempt.id);
  });
  browserClient.setDevice(deviceToken);
  if (session !== null) browserClient.setSession(session.token, session.expiresAt);
}
