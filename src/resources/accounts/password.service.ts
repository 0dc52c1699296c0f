import { change } from '../../transactions/change.ts';
import { readEmail } from './accounts.queries.ts';
import { deleteTokens } from './email-link-token.ts';
import { requireUncommon } from '../../crypto/common-passwords.ts';
import { hashPassword } from '../../crypto/password-hash.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account } from '../../entities/index.ts';
import { deletePendingConsents } from '../../transactions/revocation.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../service/services.ts';
import type { AuthenticatingBrowser } from '../../procedures/browser-client.ts';
import { endSessions } from '../sessions/sessions.service.ts';
import { setSessionCookies, startSession } from '../sessions/start-session.ts';

/** Sets a new password, revokes all other sessions and continues this one under a new token. */
export async function changePassword(
  services: Services,
  browserClient: AuthenticatingBrowser,
  principal: Principal,
  newPassword: string,
): Promise<void> {
  const { db, config } = services;
  const { accountId } = principal;
  const email = await readEmail(db, accountId);
  requireUncommon(newPassword, { email, brandName: config.brand.name }, '/newPassword');
  const passwordHash = await hashPassword(newPassword, config.passwordCost);

  const spec = { on: { account: accountId }, requires: 'self' } as const;
  const session = await change(db, principal, spec, async (tx) => {
    const account = await tx.em.findOneOrFail(Account, accountId);
    account.passwordHash = passwordHash;
    tx.record('account.password_changed', { accountId });
    // Someone who knew the old password may have requested these.
    deleteTokens(tx, accountId, ['change_email', 'reset_password']);
    const ended = await endSessions(tx, { account: accountId }, 'password changed');
    // The list of remaining access does not show consents whose codes were not exchanged.
    deletePendingConsents(tx, { account: accountId });
    await notify(tx, accountId, { kind: 'password_changed' });
    const continued = ended.find(({ id }) => id === principal.credentialId) ?? null;
    // A new password proves nothing: the session proves what it did, from the same times.
    return startSession(tx, services, { account, authenticationType: null, proved: [], browserClient, continued });
  });
  setSessionCookies(browserClient, session);
}
