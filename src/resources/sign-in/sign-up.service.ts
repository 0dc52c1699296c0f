import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockMany, lockOne } from '../../transactions/locks.ts';
import { lockMembership } from '../../transactions/with-team.ts';
import { transaction } from '../../transactions/transaction.ts';
import { isSameAddress, lockAccountByEmail } from '../../transactions/with-account.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import { hashPassword, requireUncommon } from '../../crypto/password-hash.ts';
import type { Principal } from '../../auth/principal.ts';
import { addressAttemptLimit, consumeAttempt } from '../../rate-limit/attempts.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { acceptInvitation, findInvitationByToken, type LinkedInvitation } from '../invitations/acceptance.service.ts';
import { endSessions, openSession, startSession } from '../sessions/sessions.service.ts';
import type { SignUp } from './sign-in.schema.ts';
import { mailLink } from './link-mail.ts';
import { endPrepared, isInUse } from './reclaim-account.ts';

/** Makes an account, as far as the installation lets anybody. @returns whether a session has begun */
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

  // Before the work of the hash; it is looked at again under the locks.
  const isProven =
    invitationToken !== undefined &&
    requireInvited(await findInvitationByToken(services.db.em(), services, invitationToken, false), input)
      .provesMailbox;
  const passwordHash = await hashPassword(input.password, passwordCost);
  if (isProven) {
    const session = await onceMore(() =>
      joinAs(services, browserClient, replaced, { ...input, invitationToken, passwordHash }),
    );
    openSession(browserClient, session);
    return true;
  }
  // A copied link lets in, as SIGNUP may demand, and says no more about who opened it.
  await withMinimumDuration(onceMore(() => applyAs(services, { ...input, passwordHash })));
  return false;
}

type Hashed = SignUp & { readonly passwordHash: string };

/** The answer and the time are the same for every address; only its mailbox learns which it is. */
async function applyAs(services: Services, input: Hashed): Promise<void> {
  await transaction(services.db, async (tx) => {
    const known = await lockAccountByEmail(tx, input.email);
    if (known?.disabledAt) return;
    if (known?.email && (known.emailVerifiedAt || (await isInUse(tx, known)))) {
      const mail = { kind: 'already_registered' as const, accountId: known.id, to: known.email };
      await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
      return;
    }
    const account = await accountFor(tx, known, input, input.email);
    await mailLink(tx, services, account, 'verify_email', input.email);
  });
}

/** The link of the invitation has proven the mailbox, so the account is verified, a member and signed in at once. */
async function joinAs(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  input: Hashed & { readonly invitationToken: string },
) {
  return transaction(services.db, async (tx) => {
    const { team } = requireInvited(
      await findInvitationByToken(tx, services, input.invitationToken, false),
      input,
    ).invitation;
    // Team, account, session, invitation: the order in which everybody locks them.
    await lockOne(tx, 'team', team.id);
    const known = await lockAccountByEmail(tx, input.email);
    // What is ended below is locked before the invitation.
    if (known !== null) await lockMany(tx, 'session', { account: known.id });
    if (replaced?.kind === 'session') await endSessions(tx, { id: replaced.credentialId }, 'signed in again');
    const { invitation } = requireInvited(
      await findInvitationByToken(tx, services, input.invitationToken, true),
      input,
    );
    if (known?.emailVerifiedAt || known?.disabledAt) throw new ProblemError('account_exists');
    if (known !== null) await lockMembership(tx, team.id, known.id);

    const account = await accountFor(tx, known, input, invitation.email);
    account.emailVerifiedAt = new Date();
    await tx.flush();
    await acceptInvitation(tx, services, invitation.id, account);
    return startSession(tx, services, { account, authenticationType: 'invitation', browserClient, replaced: null });
  });
}

function requireInvited(linked: LinkedInvitation | null, { email }: SignUp): LinkedInvitation {
  if (linked === null) throw new ProblemError('link_invalid');
  if (!isSameAddress(email, linked.invitation.email)) throw new ProblemError('invitation_for_another');
  return linked;
}

/** A new account, or the one that somebody prepared for an address that nobody has proven: nothing of it stays. */
async function accountFor(tx: EntityManager, known: Account | null, input: Hashed, email: string): Promise<Account> {
  if (known !== null) await endPrepared(tx, known);
  const fields = {
    email,
    firstName: input.firstName ?? null,
    lastName: input.lastName ?? null,
    passwordHash: input.passwordHash,
  };
  const account = known === null ? tx.create(Account, fields) : tx.assign(known, fields);
  // One that was taken over has an event of its own.
  if (known === null) record(tx, 'account.created', { accountId: account.id });
  return account;
}

/** Of two that sign up at once with one new address, the second finds the account of the first. */
async function onceMore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    return work();
  }
}
