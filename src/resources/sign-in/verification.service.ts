import { transaction } from '../../transactions/transaction.ts';
import { isSameAddress, lockAccountByEmail } from '../../transactions/with-account.ts';
import { record } from '../../events/record.ts';
import { consumeToken, endTokens } from '../accounts/email-link-token.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import type { Principal } from '../../auth/principal.ts';
import { addressAttemptLimit, consumeAttempt, refundAttempt } from '../../rate-limit/attempts.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { endSessions } from '../sessions/sessions.service.ts';
import { mailLink } from './link-mail.ts';

/**
 * Takes a mailbox as proven. Sessions that began before end, unless it is one of them that brings
 * the link: whoever prepared the account for somebody else's mailbox must not stay in it.
 */
export async function verifyEmail(
  { db, secrets }: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  token: string,
): Promise<void> {
  const window = addressAttemptLimit(browserClient.attempts, 'link', browserClient.addressBucket);
  await consumeAttempt(window);
  await transaction(db, async (tx) => {
    const { account, email } = await consumeToken(tx, secrets, 'verify_email', token);
    if (!isSameAddress(account.email, email)) throw new ProblemError('link_invalid');
    account.emailVerifiedAt ??= new Date();
    record(tx, 'account.email_verified', { accountId: account.id });
    await endTokens(tx, account.id, ['verify_email']);
    const isOwn = principal?.kind === 'session' && principal.accountId === account.id;
    const except = isOwn ? { except: principal.credentialId } : {};
    await endSessions(tx, { account: account.id, ...except }, 'mailbox proven');
  });
  await refundAttempt(window);
}

/** Sends a new link to an account whose mailbox is not proven. Links that were mailed before go on working. */
export async function resendVerification(
  services: Services,
  browserClient: BrowserClient,
  email: string,
): Promise<void> {
  await consumeAttempt(addressAttemptLimit(browserClient.attempts, 'mail', browserClient.addressBucket));
  await withMinimumDuration(
    transaction(services.db, async (tx) => {
      const account = await lockAccountByEmail(tx, email);
      if (!account?.email || account.emailVerifiedAt || account.disabledAt) return;
      await mailLink(tx, services, account, 'verify_email', account.email);
    }),
  );
}
