import { withAccount } from '../../transactions/with-account.ts';
import { record } from '../../events/record.ts';
import { deleteTokens } from './email-link-token.ts';
import { hashPassword, requireUncommon } from '../../crypto/password-hash.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account } from '../../entities/index.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { revokeSessions, openSession, startSession } from '../sessions/sessions.service.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';

/** Sets a new password, revokes all other sessions and continues this one under a new token. */
export async function changePassword(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal,
  newPassword: string,
): Promise<void> {
  const { db, config } = services;
  const { accountId } = principal;
  await requireRecentProof(db, principal);
  const known = await db.em().findOne(Account, accountId);
  requireUncommon(newPassword, known?.email ?? null, '/newPassword');
  const passwordHash = await hashPassword(newPassword, config.passwordCost);

  const session = await withAccount(db, principal, async ({ tx, account }) => {
    account.passwordHash = passwordHash;
    record(tx, 'account.password_changed', { accountId });
    // Someone who knew the old password may have requested these.
    await deleteTokens(tx, accountId, ['change_email', 'reset_password']);
    await revokeSessions(tx, { account: accountId }, 'password changed');
    await notify(tx, accountId, { kind: 'password_changed' });
    return startSession(tx, services, { account, authenticationType: 'password', browserClient, replaced: principal });
  });
  openSession(browserClient, session);
}
