import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { type Account, newId, SignUpAttempt } from '../../entities/index.ts';
import { record } from '../../events/record.ts';
import { toLanguageHint } from '../../jobs/email-context.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { Language } from '../../messages/languages.ts';
import { DAY_MS } from '../../time.ts';
import { lockEmailAddress } from '../../transactions/email-address.ts';
import { lockAccountByEmail } from '../../transactions/with-account.ts';

/** A sign-up attempt to store until its link is opened. */
export type NewAttempt = {
  readonly email: string;
  readonly passwordHash: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly browserHash: Uint8Array;
  /** The language of the browser, for the email. */
  readonly language: Language | null;
  /** The account id of an attempt whose link is sent again. */
  readonly accountId?: string;
};

/**
 * Creates a sign-up attempt and emails its link. The owner of a verified account is notified instead. The attempts of
 * an email address per hour are limited to its number of links, so that every attempt has an emailed link.
 * @returns null if the limit is reached
 */
export async function createAttempt(
  tx: EntityManager,
  services: Services,
  { accountId = newId('acc'), language, ...attempt }: NewAttempt,
): Promise<SignUpAttempt | null> {
  const { config, tokens, encryption } = services;
  await lockEmailAddress(tx, attempt.email);
  const [recent] = await tx.execute<{ count: number }[]>(
    `select count(*)::int as count from sign_up_attempt
     where lower(email) = lower(?) and created_at > now() - interval '1 hour'`,
    [attempt.email],
  );
  if ((recent?.count ?? 0) >= config.linkMailsPerHour) return null;

  const account = await lockAccountByEmail(tx, attempt.email);
  const isOpen = !account?.emailVerifiedAt && !account?.disabledAt;
  const { secret: token, hash: tokenHash } = tokens.generate('emailVerification');
  const created = tx.create(SignUpAttempt, {
    ...attempt,
    accountId,
    tokenHash: isOpen ? tokenHash : null,
    expiresAt: new Date(Date.now() + DAY_MS),
  });
  record(tx, 'account.sign_up_attempted', { accountId });
  if (isOpen) record(tx, 'account.link_emailed', { accountId, reason: 'verify_email' });
  await tx.flush();
  if (isOpen) {
    const mail = {
      kind: 'verify_email' as const,
      accountId,
      to: attempt.email,
      sealedToken: encryption.encrypt(token),
      ...toLanguageHint(language),
    };
    await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
  } else {
    await notifyOwner(tx, account, language);
  }
  return created;
}

async function notifyOwner(tx: EntityManager, account: Account | null, language: Language | null): Promise<void> {
  if (!account?.email || account.disabledAt) return;
  const mail = {
    kind: 'already_registered' as const,
    accountId: account.id,
    to: account.email,
    ...toLanguageHint(language),
  };
  await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
}

/** Returns the latest sign-up of this browser with an email address, or null. */
export async function findAttemptOfBrowser(
  tx: EntityManager,
  email: string,
  deviceToken: string | undefined,
): Promise<SignUpAttempt | null> {
  if (deviceToken === undefined) return null;
  const [row] = await tx.execute<{ id: string }[]>(
    `select id from sign_up_attempt
     where lower(email) = lower(?) and browser_hash = decode(?, 'hex') and expires_at > now()
     order by id desc limit 1`,
    [email, hashSecret(deviceToken).toString('hex')],
  );
  return row === undefined ? null : tx.findOne(SignUpAttempt, row.id);
}

/**
 * Creates a session for a sign-up that has no account yet. It can read the profile; all other procedures require a
 * verified email address.
 * @returns the session's token and expiry; null if the sign-up has expired
 */
export async function startSignUpSession(
  tx: EntityManager,
  { tokens }: Services,
  attemptId: string,
): Promise<{ token: string; expiresAt: Date } | null> {
  const { secret: token, hash } = tokens.generate('session');
  const [row] = await tx.execute<{ account_id: string; expires_at: string }[]>(
    `update sign_up_attempt set session_token_hash = decode(?, 'hex')
     where id = ? and expires_at > now() returning account_id, expires_at`,
    [hash.toString('hex'), attemptId],
  );
  if (row === undefined) return null;
  record(tx, 'session.created', { accountId: row.account_id, sessionId: attemptId, method: 'sign_up' });
  return { token, expiresAt: new Date(row.expires_at) };
}
