import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import { hashPassword, requireUncommon } from '../../crypto/password-hash.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { ProblemError } from '../../errors.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { addressAttemptLimit, consumeAttempt } from '../../rate-limit/attempts.ts';
import { findInvitationByToken } from '../invitations/acceptance.service.ts';
import { getDeviceToken } from '../sessions/known-devices.ts';
import { openSession } from '../sessions/sessions.service.ts';
import { registerFromInvitation, requireInvited, retryOnUniqueViolation } from './invited-sign-up.service.ts';
import type { SignUp } from './sign-in.schema.ts';
import { createAttempt, startSignUpSession } from './sign-up-attempts.ts';
import { transaction } from '../../transactions/transaction.ts';

/**
 * Signs up, if SIGNUP allows it. An emailed invitation proves the mailbox, so it creates the account immediately.
 * Otherwise the sign-up is an attempt, which changes nothing until its emailed link is opened.
 * @returns whether an account with a session was created
 */
export async function signUp(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  input: SignUp,
): Promise<boolean> {
  const { signup, passwordCost } = services.config;
  const { invitationToken } = input;
  if (signup === 'closed' || (signup === 'invited' && invitationToken === undefined)) {
    throw new ProblemError('sign_up_closed');
  }
  await consumeAttempt(addressAttemptLimit(browserClient.attempts, 'sign-up', browserClient.addressBucket));
  requireUncommon(input.password, input.email, '/password');

  // Check before hashing, and again under the locks.
  const provesMailbox =
    invitationToken !== undefined &&
    requireInvited(await findInvitationByToken(services.db.em(), services, invitationToken, false), input)
      .provesMailbox;
  const passwordHash = await hashPassword(input.password, passwordCost);
  if (provesMailbox) {
    const session = await retryOnUniqueViolation(() =>
      registerFromInvitation(services, browserClient, replaced, { ...input, invitationToken, passwordHash }),
    );
    openSession(browserClient, session);
    return true;
  }
  // A copied link satisfies SIGNUP=invited, but does not prove the mailbox.
  await withMinimumDuration(attemptSignUp(services, browserClient, replaced, { ...input, passwordHash }));
  return false;
}

/** Creates a sign-up attempt. The response and its duration do not reveal whether an account exists. */
async function attemptSignUp(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  { email, passwordHash, firstName, lastName }: SignUp & { readonly passwordHash: string },
): Promise<void> {
  const deviceToken = getDeviceToken(browserClient);
  const session = await transaction(services.db, async (tx) => {
    const browserHash = hashSecret(deviceToken);
    const attempt = await createAttempt(tx, services, {
      email,
      passwordHash,
      firstName: firstName ?? null,
      lastName: lastName ?? null,
      browserHash,
      language: browserClient.language,
    });
    // A signed-in browser keeps its session.
    return attempt === null || replaced !== null ? null : startSignUpSession(tx, services, attempt.id);
  });
  browserClient.setDevice(deviceToken);
  if (session !== null) browserClient.setSession(session.token, session.expiresAt);
}
