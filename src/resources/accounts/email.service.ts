import { eraseFormerAddress } from '../../events/feed/erase.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { command } from '../../db/query.ts';
import { accountByEmailStep, isSameEmailAddress, provenAddress } from '../../transactions/email-address.ts';
import type { Change } from '../../transactions/steps.ts';
import { change } from '../../transactions/change.ts';
import { consumeToken, deleteTokens, findChangedAddress, issueToken, keepUsedChange } from './email-link-token.ts';
import type { Principal } from '../../auth/principal.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { REQUESTED_LINK_SECONDS, toLanguageHint } from '../../jobs/email-context.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../service/services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';

/**
 * Emails a link to the new email address and a notice to the present one. The address changes when the link is used.
 * If another account has the address, the job sends no email: everything before it is the same.
 */
export async function changeEmail(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal,
  newEmail: string,
): Promise<void> {
  const { db, tokens, encryption } = services;
  await countAttempt(browserClient, { kind: 'email-change', accountId: principal.accountId });
  await change(db, principal, { on: { account: principal.accountId }, requires: 'self' }, async (tx) => {
    const account = await tx.em.findOneOrFail(Account, principal.accountId);
    deleteTokens(tx, account.id, ['change_email']);
    await notify(tx, account.id, { kind: 'email_change_requested', thing: newEmail });
    const token = issueToken(tx, tokens, account, 'change_email', newEmail);
    tx.record('account.email_change_requested', { accountId: account.id });
    const mail = {
      kind: 'change_email' as const,
      accountId: account.id,
      to: newEmail,
      sealedToken: encryption.encrypt(token),
      ...toLanguageHint(browserClient.language),
    };
    await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail), REQUESTED_LINK_SECONDS);
  });
}

/**
 * Changes the email address to the one that the link verified. Notifies the old and the new address. Repeating it in a
 * session of the account has the same result. @throws link_invalid
 */
export const confirmEmailChange = (
  { db, tokens }: Services,
  browserClient: BrowserClient,
  principal: Principal | null,
  token: string,
): Promise<void> =>
  findLink(
    browserClient,
    change(db, 'visitor', { on: 'installation', requires: 'nothing' }, async (tx) => {
      const consumed = await consumeToken(tx, tokens, 'change_email', token);
      const { account, email: newEmail } = consumed;
      if (account.disabledAt) throw new ProblemError('link_invalid');
      await replaceEmail(tx, account, newEmail, new Date());
      tx.later(keepUsedChange(token, consumed));
    }).catch(async (error: unknown) => {
      if ((await findChangedAddress({ db, tokens }, principal, token)) !== null) return;
      // Another account took the address after the link was emailed.
      throw isUniqueViolation(error) ? new ProblemError('link_invalid') : error;
    }),
  );

const deleteAcceptedInvitations = command<never>(
  'invitation_delete_accepted',
  'delete from invitation where lower(email) = lower($1) and accepted_at is not null',
);

/**
 * Changes the email address of a locked account. Notifies the address that was proven before, and the new one if it is.
 * Without a proof, the account stays as it is until somebody shows that the new mailbox is that of its user.
 */
export async function replaceEmail(
  tx: Change,
  account: Account,
  newEmail: string,
  verifiedAt: Date | null,
): Promise<void> {
  const { email: oldEmail = null } = account;
  const provenEmail = provenAddress(account);
  const isPutBack = provenEmail !== null && isSameEmailAddress(provenEmail, newEmail);
  // An unverified mailbox may belong to someone else, who must not learn the new email address. `notify` skips it.
  await notify(tx, account.id, { kind: 'email_changed', thing: newEmail });
  const emailVerifiedAt = verifiedAt ?? (isPutBack ? new Date() : null);
  tx.em.assign(account, {
    email: newEmail,
    emailVerifiedAt,
    provenEmail: emailVerifiedAt === null ? provenEmail : null,
  });
  tx.record('account.email_changed', { accountId: account.id });
  if (emailVerifiedAt !== null && !isPutBack) await notify(tx, account.id, { kind: 'email_changed', thing: newEmail });
  // Links to the old mailbox prove nothing about the new one.
  deleteTokens(tx, account.id);
  // Delete accepted invitations, because the deletion of the account would not find the old address.
  await tx.run([[deleteAcceptedInvitations, [oldEmail]]]);
  if (oldEmail !== null) await eraseFormerAddress(tx.em, oldEmail);
}

/** Verifies the address to which the operator moved a locked account. Nothing of the account ends. */
export async function confirmMove(tx: Change, account: Account): Promise<void> {
  const notice = { kind: 'email_changed', thing: account.email ?? '' } as const;
  await notify(tx, account.id, notice);
  tx.em.assign(account, { emailVerifiedAt: new Date(), provenEmail: null });
  tx.record('account.email_verified', { accountId: account.id });
  await notify(tx, account.id, notice);
  deleteTokens(tx, account.id);
}

/**
 * Gives a moved account its last proven address back, because its new mailbox belongs to somebody else: none, if another
 * account has it by now. Nothing else of the account changes.
 */
export async function returnToProvenAddress(tx: Change, account: Account): Promise<void> {
  const email = provenAddress(account) ?? '';
  const [[other]] = await tx.run([accountByEmailStep(email)]);
  if (other === undefined) return replaceEmail(tx, account, email, null);
  tx.em.assign(account, { email: null });
  tx.record('account.email_changed', { accountId: account.id });
  await notify(tx, account.id, { kind: 'email_removed' });
  deleteTokens(tx, account.id);
}
