import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { ProblemError } from '../../errors.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { isSameEmailAddress, lockEmailAddress } from '../../transactions/email-address.ts';
import { consumeToken, peekToken } from '../accounts/email-link-token.ts';
import { revokeReplacedSession, openSession, startSession } from '../sessions/sessions.service.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { proveMailbox } from './prove-mailbox.ts';
import { transaction } from '../../transactions/transaction.ts';

/** Returns the email address of a sign-in link without consuming it, because mail scanners open links. */
export async function readSignInLink(
  { db, tokens }: Services,
  browserClient: BrowserClient,
  token: string,
): Promise<{ email: string }> {
  const { accountEmail } = await findLink(browserClient, peekToken(db.em(), tokens, 'sign_in', token));
  if (accountEmail === null) throw new ProblemError('link_invalid');
  return { email: accountEmail };
}

/** Signs in by an emailed link, which works once and proves the mailbox. */
export async function signInWithLink(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  token: string,
): Promise<void> {
  const { db, tokens } = services;
  const { accountEmail } = await findLink(browserClient, peekToken(db.em(), tokens, 'sign_in', token));
  const session = await transaction(db, async (tx) => {
    await lockEmailAddress(tx, accountEmail ?? '');
    const { account, email } = await consumeToken(tx, tokens, 'sign_in', token);
    if (!isSameEmailAddress(account.email, email) || account.disabledAt) throw new ProblemError('link_invalid');
    await revokeReplacedSession(tx, replaced);
    await proveMailbox(tx, account, email);
    return startSession(tx, services, { account, authenticationType: 'email_link', browserClient, replaced: null });
  });
  openSession(browserClient, session);
}
