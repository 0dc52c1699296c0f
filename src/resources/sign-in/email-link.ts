import type { Principal } from '../../auth/principal.ts';
import type { Change } from '../../transactions/steps.ts';
import type { Services } from '../../service/services.ts';
import { Account, type TokenPurpose } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { toLanguageHint } from '../../jobs/email-context.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { isMoved } from '../../transactions/email-address.ts';
import { findChangedAddress, issueToken, peekToken } from '../accounts/email-link-token.ts';
import { findContinuation } from '../oauth-consent/continuation.ts';
import { findKnownDevice } from '../sessions/known-devices.ts';
import { change } from '../../transactions/change.ts';

/**
 * Creates a link and enqueues the email that carries it, in one transaction. The mailbox to which the operator moved an
 * account gets links that verify it and no others: by itself, it does not give access to the account.
 */
export async function enqueueLink(
  tx: Change,
  { tokens, encryption }: Services,
  account: Account,
  asked: TokenPurpose,
  to: string,
  { language, clientId = null }: Pick<BrowserClient, 'language'> & { readonly clientId?: string | null },
): Promise<void> {
  const kind = isMoved(account) ? 'verify_email' : asked;
  const token = issueToken(tx, tokens, account, kind, to, clientId);
  tx.record('account.link_emailed', { accountId: account.id, reason: kind });
  const mail = { kind, accountId: account.id, to, sealedToken: encryption.encrypt(token), ...toLanguageHint(language) };
  await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
}

/** The kinds of links that the operator can send. */
export const LINK_KINDS = ['verify_email', 'reset_password', 'sign_in'] as const;
type LinkKind = (typeof LINK_KINDS)[number];

/**
 * Emails a link to the owner of an account for the operator. The limits of emails to one mailbox apply.
 * @throws account_not_found, invalid `kind` if the account has no use for such a link
 */
export const sendLink = (
  services: Services,
  caller: OperatorCaller | 'system',
  accountId: string,
  kind: LinkKind,
): Promise<void> =>
  change(services.db, caller, { on: { account: accountId }, requires: 'operator' }, async (tx) => {
    const account = await tx.em.findOneOrFail(Account, accountId);
    if (account.disabledAt) throw invalidInput('/kind', 'The account is disabled.');
    if (!account.email) throw invalidInput('/kind', 'The account has no email address.');
    if (kind === 'verify_email' && account.emailVerifiedAt)
      throw invalidInput('/kind', 'The email address is verified already.');
    await enqueueLink(tx, services, account, kind, account.email, { language: null });
  });

/** Counts a request for an emailed link. */
export async function consumeMailAttempt({ db }: Services, browserClient: BrowserClient, email: string): Promise<void> {
  const deviceId = await findKnownDevice(db, email, browserClient);
  await countAttempt(browserClient, { kind: 'mail', deviceId });
}

/**
 * Returns whether a link could be used now, without consuming it and without saying whose it is, and the application to
 * which it leads. Pages ask before they show a form. Links that cannot be used count as those that were tried, except a used
 * change of address that a session of its account opens again.
 */
export async function checkLink(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  { purpose, token }: { readonly purpose: TokenPurpose; readonly token: string },
): Promise<{ isUsable: boolean; application?: string; verified?: string }> {
  const { db, tokens } = services;
  const found = peekToken(db, tokens, purpose, token).catch(async (error: unknown) => {
    const verified = purpose === 'change_email' ? await findChangedAddress(services, principal, token) : null;
    if (verified === null) throw error;
    return { verified };
  });
  try {
    const target = await findLink(browserClient, found);
    if ('verified' in target) return { isUsable: false, verified: target.verified };
    const { clientId } = target;
    const next = await findContinuation(services, clientId, browserClient);
    return { isUsable: true, ...(next && { application: next.name }) };
  } catch (error) {
    if (error instanceof ProblemError && error.problem === 'link_invalid') return { isUsable: false };
    throw error;
  }
}
