import { withAccount } from '../../transactions/with-account.ts';
import { record } from '../../events/record.ts';
import { endTokens } from './email-link-token.ts';
import { hashPassword, requireUncommon } from '../../crypto/password-hash.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account } from '../../entities/index.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { endSessions, openSession, startSession } from '../sessions/sessions.service.ts';
import { provePassword, requireSame } from './reauthenticate.ts';

type Passwords = { readonly currentPassword: string; readonly newPassword: string };

/** Sets a new password: all other sessions end, and this one goes on under a new token. */
export async function changePassword(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal,
  { currentPassword, newPassword }: Passwords,
): Promise<void> {
  const { db, config } = services;
  const { accountId } = principal;
  const provenHash = await provePassword(services, browserClient, principal, currentPassword);
  const known = await db.em().findOne(Account, accountId);
  requireUncommon(newPassword, known?.email ?? null, '/newPassword');
  const passwordHash = await hashPassword(newPassword, config.passwordCost);

  const session = await withAccount(db, principal, async ({ tx, account }) => {
    requireSame(account, provenHash);
    account.passwordHash = passwordHash;
    record(tx, 'account.password_changed', { accountId });
    // Whoever knew the old password may have asked for these.
    await endTokens(tx, accountId, ['change_email', 'reset_password']);
    await endSessions(tx, { account: accountId }, 'password changed');
    if (account.email) {
      const mail = { kind: 'password_changed' as const, accountId, to: account.email };
      await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
    }
    return startSession(tx, services, { account, authenticationType: 'password', browserClient, replaced: principal });
  });
  openSession(browserClient, session);
}
