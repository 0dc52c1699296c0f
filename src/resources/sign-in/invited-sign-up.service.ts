import type { Change } from '../../transactions/steps.ts';
import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { AuthenticatingBrowser } from '../../procedures/browser-client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { isMoved, isSameEmailAddress, lockAccountByEmail } from '../../transactions/email-address.ts';
import { returnToProvenAddress } from '../accounts/email.service.ts';
import { acceptInvitation, findInvitationByToken, type LinkedInvitation } from '../invitations/acceptance.service.ts';
import { revokeReplacedSession } from '../sessions/sessions.service.ts';
import { startSession } from '../sessions/start-session.ts';
import { deleteSignUpAttempts, isClosedToSignUp, proveMailbox } from './prove-mailbox.ts';
import type { SignUp } from './sign-in.schema.ts';
import { lockMany, lockMembership, lockOne } from '../../transactions/locks.ts';
import { change } from '../../transactions/change.ts';

type Registration = SignUp & { readonly passwordHash: string };

/** Creates a verified account, accepts the invitation and signs in. The emailed link has verified the mailbox. */
export async function registerFromInvitation(
  services: Services,
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  input: Registration & { readonly invitationToken: string },
) {
  const spec = { on: { email: input.email }, requires: 'nothing' } as const;
  return change(services.db, 'visitor', spec, async (tx) => {
    const { id, team_id: teamId } = requireInvited(
      await findInvitationByToken(tx, services, input.invitationToken),
      input,
    );
    await lockOne(tx, 'team', teamId);
    const known = await lockAccountByEmail(tx, input.email);
    // LOCK_ORDER: sessions come before the invitation.
    if (known !== null) await lockMany(tx, 'session', { account: known.id });
    await revokeReplacedSession(tx, replaced);
    const invitation = await lockOne(tx, 'invitation', id);
    requireInvited(await findInvitationByToken(tx, services, input.invitationToken), input);
    if (invitation === null) throw new ProblemError('link_invalid');
    if (known !== null && isClosedToSignUp(known))
      throw new ProblemError(known.disabledAt ? 'account_disabled' : 'account_exists');
    if (known !== null) await lockMembership(tx, teamId, known.id);

    const account = await registerVerified(tx, known, { ...input, email: invitation.email });
    await acceptInvitation(tx, invitation, account);
    const session = await startSession(tx, services, {
      account,
      authenticationType: 'invitation',
      proved: ['link'],
      browserClient,
      continued: null,
    });
    return { ...session, accountId: account.id, clientId: invitation.clientId ?? null };
  });
}

export function requireInvited(linked: LinkedInvitation | null, { email }: SignUp): LinkedInvitation {
  if (linked === null) throw new ProblemError('link_invalid');
  if (!isSameEmailAddress(email, linked.email)) throw new ProblemError('invitation_for_another');
  return linked;
}

/** A sign-up with a proven mailbox. Without names, an account that the operator created keeps its names. */
export type VerifiedSignUp = {
  /** The id of a new account. */
  readonly id?: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
};

/**
 * Creates the account of a proven mailbox, or reclaims the unverified account of its email address. One that the operator
 * moved to the address leaves it. Lock the email address and the account first.
 */
export async function registerVerified(
  tx: Change,
  known: Account | null,
  { id, email, passwordHash, firstName, lastName }: VerifiedSignUp,
): Promise<Account> {
  if (known !== null && isMoved(known)) await returnToProvenAddress(tx, known);
  else if (known !== null) {
    await proveMailbox(tx, known, email);
    const names = known.createdBy === 'operator' ? known : { firstName: null, lastName: null };
    tx.em.assign(known, {
      passwordHash,
      firstName: firstName ?? names.firstName ?? null,
      lastName: lastName ?? names.lastName ?? null,
    });
    return known;
  }
  deleteSignUpAttempts(tx, email);
  const account = tx.em.create(Account, {
    ...(id !== undefined && { id }),
    email,
    passwordHash,
    firstName: firstName ?? null,
    lastName: lastName ?? null,
    emailVerifiedAt: new Date(),
  });
  tx.record('account.created', { accountId: account.id });
  tx.record('account.email_verified', { accountId: account.id });
  return account;
}

/** Retries once: a concurrent change may have given the address to another account. */
export async function retryOnUniqueViolation<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return work();
  }
}
