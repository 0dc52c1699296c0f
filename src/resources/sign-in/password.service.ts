import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireUncommon } from '../../crypto/common-passwords.ts';
import { hashPassword } from '../../crypto/password-hash.ts';
import { ProblemError } from '../../problems/error.ts';
import { notify } from '../../jobs/notify.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { isSameEmailAddress } from '../../transactions/email-address.ts';
import { deletePendingConsents } from '../../transactions/revocation.ts';
import { consumeToken, deleteTokens, peekToken } from '../accounts/email-link-token.ts';
import { findContinuation, type Continuation } from '../oauth-consent/continuation.ts';
import { forgetDevices, rememberDevice } from '../sessions/known-devices.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { proveMailbox } from './prove-mailbox.ts';
import { change } from '../../transactions/change.ts';

type Reset = { readonly token: string; readonly password: string };

/**
 * Sets a new password. The link proves the mailbox. Revokes all sessions, and makes the browser the only known one.
 * @returns the id of the account, and the application to which the link leads
 */
export async function resetPassword(
  services: Services,
  browserClient: BrowserClient,
  signedIn: Principal | null,
  { token, password }: Reset,
): Promise<{ accountId: string; continueTo: Continuation | undefined }> {
  const { db, tokens, config } = services;
  // Check before hashing, and without consuming the link if the password is rejected.
  const { accountEmail, clientId } = await findLink(browserClient, peekToken(db, tokens, 'reset_password', token));
  requireUncommon(password, { email: accountEmail, brandName: config.brand.name }, '/password');
  const passwordHash = await hashPassword(password, config.passwordCost);

  const spec = { on: { email: accountEmail ?? '' }, requires: 'nothing' } as const;
  const { device, accountId } = await change(db, 'visitor', spec, async (tx) => {
    const { account, email } = await consumeToken(tx, tokens, 'reset_password', token);
    if (!isSameEmailAddress(account.email, email) || account.disabledAt) throw new ProblemError('link_invalid');
    await proveMailbox(tx, account, email);
    account.passwordHash = passwordHash;
    tx.record('account.password_reset', { accountId: account.id });
    // Someone who knew the old password may have requested links.
    deleteTokens(tx, account.id);
    await revokeSessions(tx, { account: account.id }, 'password reset');
    forgetDevices(tx, account.id, browserClient);
    // The list of remaining access does not show consents whose codes were not exchanged.
    deletePendingConsents(tx, { account: account.id });
    await notify(tx, account.id, { kind: 'password_reset' });
    return { device: await rememberDevice(tx, account, browserClient), accountId: account.id };
  });
  browserClient.setDevice(device.token);
  // Its waiting request would continue as somebody else, who is signed in here.
  const isOfAnother = signedIn !== null && signedIn.accountId !== accountId;
  const browser = isOfAnother ? {} : browserClient;
  return { accountId, continueTo: await findContinuation(services, clientId, browser, accountId) };
}
