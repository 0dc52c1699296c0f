import { transaction } from '../../transactions/transaction.ts';
import { isSameAddress, lockAccountByEmail } from '../../transactions/with-account.ts';
import { record } from '../../events/record.ts';
import { consumeToken, endTokens, peekToken } from '../accounts/email-link-token.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import { hashPassword, requireUncommon } from '../../crypto/password-hash.ts';
import { addressAttemptLimit, consumeAttempt, refundAttempt } from '../../rate-limit/attempts.ts';
import { ProblemError } from '../../errors.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { endSessions } from '../sessions/sessions.service.ts';
import { mailLink } from './link-mail.ts';
import { endPrepared } from './reclaim-account.ts';

/**
 * Mails a link to set a new password, where there is an account. Links that were mailed before go on
 * working, so that nobody can take them away from the owner by asking again and again.
 */
export async function forgotPassword(services: Services, browserClient: BrowserClient, email: string): Promise<void> {
  await consumeAttempt(addressAttemptLimit(browserClient.attempts, 'mail', browserClient.addressBucket));
  await withMinimumDuration(
    transaction(services.db, async (tx) => {
      const account = await lockAccountByEmail(tx, email);
      if (!account?.email || account.disabledAt) return;
      await mailLink(tx, services, account, 'reset_password', account.email);
    }),
  );
}

type Reset = { readonly token: string; readonly password: string };

/** Sets a new password. The link has proven the mailbox; whoever was in the account is out. */
export async function resetPassword(
  { db, secrets, config }: Services,
  browserClient: BrowserClient,
  { token, password }: Reset,
): Promise<void> {
  const window = addressAttemptLimit(browserClient.attempts, 'link', browserClient.addressBucket);
  await consumeAttempt(window);
  // Before the work of the hash, and without using the link up for a password that is refused.
  const { accountEmail } = await peekToken(db.em(), secrets, 'reset_password', token);
  requireUncommon(password, accountEmail, '/password');
  const passwordHash = await hashPassword(password, config.passwordCost);

  await transaction(db, async (tx) => {
    const { account, email } = await consumeToken(tx, secrets, 'reset_password', token);
    if (!isSameAddress(account.email, email) || account.disabledAt) throw new ProblemError('link_invalid');
    if (!account.emailVerifiedAt) await endPrepared(tx, account);
    account.emailVerifiedAt ??= new Date();
    account.passwordHash = passwordHash;
    record(tx, 'account.password_reset', { accountId: account.id });
    // Also the links that somebody asked for who knew the old password.
    await endTokens(tx, account.id);
    await endSessions(tx, { account: account.id }, 'password reset');
    const mail = { kind: 'password_changed' as const, accountId: account.id, to: email };
    await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
  });
  await refundAttempt(window);
}
