import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { eraseFormerAddress } from '../../events/feed/erase.ts';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { transaction } from '../../transactions/transaction.ts';
import { withAccount } from '../../transactions/with-account.ts';
import { consumeToken, deleteTokens, issueToken } from './email-link-token.ts';
import { withMinimumDuration } from '../../crypto/minimum-duration.ts';
import type { Principal } from '../../auth/principal.ts';
import { addressAttemptLimit, consumeAttempt } from '../../rate-limit/attempts.ts';
import type { Account } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { toLanguageHint } from '../../jobs/email-context.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';

/**
 * Emails a link to the new email address and a notice to the present one. The address changes when the link is used.
 * If another account has the address, no email is sent and the response is the same.
 */
export async function changeEmail(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal,
  newEmail: string,
): Promise<void> {
  const { db, tokens, encryption } = services;
  await requireRecentProof(db, principal);
  await consumeAttempt(addressAttemptLimit(browserClient.attempts, 'mail', browserClient.addressBucket));
  await withMinimumDuration(
    withAccount(db, principal, async ({ tx, account }) => {
      await deleteTokens(tx, account.id, ['change_email']);
      await notify(tx, account.id, { kind: 'email_change_requested', newEmail });
      if (await isTaken(tx, account.id, newEmail)) return;
      const token = issueToken(tx, tokens, account, 'change_email', newEmail);
      record(tx, 'account.email_change_requested', { accountId: account.id });
      await tx.flush();
      const mail = {
        kind: 'change_email' as const,
        accountId: account.id,
        to: newEmail,
        sealedToken: encryption.encrypt(token),
        ...toLanguageHint(browserClient.language),
      };
      await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
    }),
  );
}

/** Changes the email address to the one that the link verified. Notifies the old and the new address. @throws link_invalid */
export const confirmEmailChange = (
  { db, tokens }: Services,
  browserClient: BrowserClient,
  token: string,
): Promise<void> =>
  findLink(
    browserClient,
    transaction(db, async (tx) => {
      const { account, email: newEmail } = await consumeToken(tx, tokens, 'change_email', token);
      if (account.disabledAt) throw new ProblemError('link_invalid');
      await replaceEmail(tx, account, newEmail, new Date());
    }).catch((error: unknown) => {
      // Another account took the address after the link was emailed.
      throw error instanceof UniqueConstraintViolationException ? new ProblemError('link_invalid') : error;
    }),
  );

/** Changes the email address of a locked account. Notifies the old and the new address, as far as they are verified. */
export async function replaceEmail(
  tx: EntityManager,
  account: Account,
  newEmail: string,
  verifiedAt: Date | null,
): Promise<void> {
  const { email: oldEmail = null } = account;
  // An unverified mailbox may belong to someone else, who must not learn the new email address. `notify` skips it.
  await notify(tx, account.id, { kind: 'email_changed', newEmail });
  tx.assign(account, { email: newEmail, emailVerifiedAt: verifiedAt });
  record(tx, 'account.email_changed', { accountId: account.id });
  await tx.flush();
  await notify(tx, account.id, { kind: 'email_changed', newEmail });
  // Links to the old mailbox prove nothing about the new one.
  await deleteTokens(tx, account.id);
  // Delete accepted invitations, because the deletion of the account would not find the old address.
  await tx.execute('delete from invitation where lower(email) = lower(?) and accepted_at is not null', [oldEmail]);
  if (oldEmail !== null) await eraseFormerAddress(tx, oldEmail);
}

async function isTaken(tx: EntityManager, accountId: string, email: string): Promise<boolean> {
  const rows = await tx.execute<unknown[]>('select 1 from account where lower(email) = lower(?) and id <> ?', [
    email,
    accountId,
  ]);
  return rows.length > 0;
}
