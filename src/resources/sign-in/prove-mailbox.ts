import type { Account } from '../../entities/index.ts';
import { command } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import { isMoved } from '../../transactions/email-address.ts';
import type { Change } from '../../transactions/steps.ts';
import { revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import { deleteTokens } from '../accounts/email-link-token.ts';
import { forgetDevices } from '../sessions/known-devices.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';

const REASON = 'account reclaimed by its mailbox';

const deletePasskeys = command<never>('passkey_delete_of_account', 'delete from passkey where account_id = $1');
const deleteChallenges = command<never>(
  'passkey_challenge_delete_of_account',
  'delete from passkey_challenge where account_id = $1',
);

/**
 * Verifies the email address of an account after its owner has proven the mailbox. Revokes all earlier access, because
 * someone else may have obtained it (account pre-hijacking). Accounts that the operator created keep their password and
 * API keys. Lock the email address and the account first.
 */
export async function proveMailbox(tx: Change, account: Account, email: string): Promise<void> {
  deleteSignUpAttempts(tx, email);
  if (account.emailVerifiedAt) return;
  // The mailbox alone proves nothing about an account that was proven with another one.
  if (isMoved(account)) throw new ProblemError('link_invalid');
  deleteTokens(tx, account.id);
  await revokeSessions(tx, { account: account.id }, REASON);
  tx.later([deletePasskeys, [account.id]]);
  tx.later([deleteChallenges, [account.id]]);
  forgetDevices(tx, account.id, { deviceToken: undefined });
  await revokeGrants(tx, { account: account.id }, REASON);
  if (account.createdBy !== 'operator') {
    tx.record('account.reclaimed', { accountId: account.id });
    await revokeApiKeys(tx, { account: account.id }, REASON);
    Object.assign(account, { passwordHash: null, avatar: null, preferredLocale: null });
  }
  account.emailVerifiedAt = new Date();
  tx.record('account.email_verified', { accountId: account.id });
}

const deleteAttempts = command<never>(
  'sign_up_attempt_delete_of_address',
  'delete from sign_up_attempt where lower(email) = lower($1)',
);

/** Deletes all sign-up attempts with an email address. */
export const deleteSignUpAttempts = (tx: Change, email: string): void => tx.later([deleteAttempts, [email]]);

/**
 * Returns whether nobody can sign up with the address of an account: it is proven, or the account disabled. A moved account
 * goes back to its last proven address instead.
 */
export const isClosedToSignUp = (account: Account): boolean =>
  !isMoved(account) && Boolean(account.emailVerifiedAt || account.disabledAt);
