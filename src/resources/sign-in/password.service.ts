import type { Services } from '../../app-services.ts';
import { hashPassword, requireUncommon } from '../../crypto/password-hash.ts';
import { ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { notify } from '../../jobs/notify.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { isSameEmailAddress, lockEmailAddress } from '../../transactions/email-address.ts';
import { deletePendingConsents } from '../../transactions/revocation.ts';
import { consumeToken, deleteTokens, peekToken } from '../accounts/email-link-token.ts';
import { forgetDevices, rememberDevice } from '../sessions/known-devices.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';
import { proveMailbox } from './prove-mailbox.ts';
import { transaction } from '../../transactions/transaction.ts';

type Reset = { readonly token: string; readonly password: string };

/**
 * Sets a new password. The link proves the mailbox. Revokes all sessions, and makes the browser the only known one.
 * @returns the id of the account
 */
export async function resetPassword(
  { db, tokens, config }: Services,
  browserClient: BrowserClient,
  { token, password }: Reset,
): Promise<string> {
  // Check before hashing, and without consuming the link if the password is rejected.
  const { accountEmail } = await findLink(browserClient, peekToken(db.em(), tokens, 'reset_password', token));
  requireUncommon(password, accountEmail, '/password');
  const passwordHash = await hashPassword(password, config.passwordCost);

  const { device, accountId } = await transaction(db, async (tx) => {
    await lockEmailAddress(tx, accountEmail ?? '');
    const { account, email } = await consumeToken(tx, tokens, 'reset_password', token);
    if (!isSameEmailAddress(account.email, email) || account.disabledAt) throw new ProblemError('link_invalid');
    await proveMailbox(tx, account, email);
    account.passwordHash = passwordHash;
    record(tx, 'account.password_reset', { accountId: account.id });
    // Someone who knew the old password may have requested links.
    await deleteTokens(tx, account.id);
    await revokeSessions(tx, { account: account.id }, 'password reset');
    await forgetDevices(tx, account.id, browserClient);
    // The list of remaining access does not show consents whose codes were not exchanged.
    await deletePendingConsents(tx, { account: account.id });
    await notify(tx, account.id, { kind: 'password_reset' });
    return { device: await rememberDevice(tx, account, browserClient), accountId: account.id };
  });
  browserClient.setDevice(device.token);
  return accountId;
}
