import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { ProblemError } from '../../problems/error.ts';
import type { AuthenticatingBrowser, BrowserClient } from '../../procedures/browser-client.ts';
import { isSameEmailAddress } from '../../transactions/email-address.ts';
import { consumeToken, peekToken } from '../accounts/email-link-token.ts';
import { findContinuation, type Continuation } from '../oauth-consent/continuation.ts';
import { revokeReplacedSession } from '../sessions/sessions.service.ts';
import { setSessionCookies, startSession } from '../sessions/start-session.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { proveMailbox } from './prove-mailbox.ts';
import { change } from '../../transactions/change.ts';

/** Returns the email address of a sign-in link without consuming it, because mail scanners open links. */
export async function readSignInLink(
  services: Services,
  browserClient: BrowserClient,
  token: string,
): Promise<{ email: string; application?: string }> {
  const { db, tokens } = services;
  const { accountEmail, clientId } = await findLink(browserClient, peekToken(db, tokens, 'sign_in', token));
  if (accountEmail === null) throw new ProblemError('link_invalid');
  const next = await findContinuation(services, clientId, browserClient);
  return { email: accountEmail, ...(next && { application: next.name }) };
}

/** Signs in by an emailed link, which works once and proves the mailbox. @returns the application to which it leads */
export async function signInWithLink(
  services: Services,
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  token: string,
): Promise<Continuation | undefined> {
  const { db, tokens } = services;
  const { accountEmail, accountId, clientId } = await findLink(browserClient, peekToken(db, tokens, 'sign_in', token));
  const spec = { on: { email: accountEmail ?? '' }, requires: 'nothing' } as const;
  const session = await change(db, 'visitor', spec, async (tx) => {
    const { account, email } = await consumeToken(tx, tokens, 'sign_in', token);
    if (!isSameEmailAddress(account.email, email) || account.disabledAt) throw new ProblemError('link_invalid');
    const ended = await revokeReplacedSession(tx, replaced);
    // Nothing that was obtained before the mailbox was proven outlives it.
    const continued = account.emailVerifiedAt ? ended : null;
    await proveMailbox(tx, account, email);
    return startSession(tx, services, {
      account,
      authenticationType: 'email_link',
      proved: ['link'],
      browserClient,
      continued,
    });
  });
  setSessionCookies(browserClient, session);
  return findContinuation(services, clientId, browserClient, accountId);
}
