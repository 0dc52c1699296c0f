import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import type { Account, TokenPurpose } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { toLanguageHint } from '../../jobs/email-context.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { consumeAttempt, mailAttemptLimit } from '../../rate-limit/attempts.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { lockOne } from '../../transactions/locks.ts';
import { lockAccountByEmail } from '../../transactions/with-account.ts';
import { issueToken, peekToken } from '../accounts/email-link-token.ts';
import { findKnownDevice } from '../sessions/known-devices.ts';
import { transaction } from '../../transactions/transaction.ts';

/** Creates a link and enqueues the email that carries it, in one transaction. */
export async function enqueueLink(
  tx: EntityManager,
  { tokens, encryption }: Services,
  account: Account,
  kind: TokenPurpose,
  to: string,
  { language }: Pick<BrowserClient, 'language'>,
): Promise<void> {
  const token = issueToken(tx, tokens, account, kind, to);
  record(tx, 'account.link_emailed', { accountId: account.id, reason: kind });
  await tx.flush();
  const mail = { kind, accountId: account.id, to, sealedToken: encryption.encrypt(token), ...toLanguageHint(language) };
  await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
}

/**
 * Emails a link to the owner of an address, if it has an account. Earlier links stay valid, so that an
 * attacker cannot invalidate them by requesting more. The response and its duration do not reveal whether an account exists.
 */
export async function requestLink(
  services: Services,
  browserClient: BrowserClient,
  email: string,
  kind: 'reset_password' | 'sign_in',
): Promise<void> {
  await consumeMailAttempt(services, browserClient, email);
  await withMinimumDuration(
    transaction(services.db, async (tx) => {
      const account = await lockAccountByEmail(tx, email);
      if (!account?.email || account.disabledAt) return;
      await enqueueLink(tx, services, account, kind, account.email, browserClient);
    }),
  );
}

/** The kinds of links that the operator can send. */
export const LINK_KINDS = ['verify_email', 'reset_password', 'sign_in'] as const;
type LinkKind = (typeof LINK_KINDS)[number];

/**
 * Emails a link to the owner of an account for the operator. The limits of emails to one mailbox apply.
 * @throws account_not_found, invalid `kind` if the account has no use for such a link
 */
export async function sendLinkAsOperator(services: Services, accountId: string, kind: LinkKind): Promise<void> {
  await transaction(services.db, async (tx) => {
    const account = await lockOne(tx, 'account', accountId);
    if (account === null) throw new ProblemError('account_not_found');
    if (account.disabledAt) throw invalidInput('/kind', 'The account is disabled.');
    if (!account.email) throw invalidInput('/kind', 'The account has no email address.');
    if (kind === 'verify_email' && account.emailVerifiedAt)
      throw invalidInput('/kind', 'The email address is verified already.');
    await enqueueLink(tx, services, account, kind, account.email, { language: null });
  });
}

/** Counts a request for an emailed link. */
export async function consumeMailAttempt({ db }: Services, browserClient: BrowserClient, email: string): Promise<void> {
  const deviceId = await findKnownDevice(db, email, browserClient);
  await consumeAttempt(mailAttemptLimit(browserClient.attempts, browserClient.addressBucket, deviceId));
}

/**
 * Returns whether a link could be used now, without consuming it and without saying whose it is. Pages ask before they
 * show a form. Links that cannot be used count as those that were tried.
 */
export async function isLinkUsable(
  { db, tokens }: Services,
  browserClient: BrowserClient,
  { purpose, token }: { readonly purpose: TokenPurpose; readonly token: string },
): Promise<boolean> {
  try {
    await findLink(browserClient, peekToken(db.em(), tokens, purpose, token));
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.problem === 'link_invalid') return false;
    throw error;
  }
}
