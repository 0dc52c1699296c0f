import { command, query } from '../../db/query.ts';
import type { Services } from '../../service/services.ts';
import { type Account, newId, SignUpAttempt } from '../../entities/index.ts';
import { toLanguageHint } from '../../jobs/email-context.ts';
import { accountMailKey, enqueue } from '../../jobs/enqueue.ts';
import type { Language } from '../../messages/languages.ts';
import { addDays } from '../../time.ts';
import type { Change } from '../../transactions/steps.ts';
import { lockAccountByEmail } from '../../transactions/email-address.ts';
import { isClosedToSignUp } from './prove-mailbox.ts';

/** A sign-up attempt to store until its link is opened. */
export type NewAttempt = {
  readonly email: string;
  readonly passwordHash: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly browserHash: Uint8Array;
  /** The application at which it began. */
  readonly clientId: string | null;
  /** The account id of an attempt whose link is sent again. */
  readonly accountId?: string;
};

const recentAttempts = query<{ count: number; now: string }>(
  'sign_up_attempt_count_recent',
  `select count(*)::int as count, now() as now from sign_up_attempt
   where lower(email) = lower($1) and created_at > now() - interval '1 hour'`,
);

/**
 * Creates a sign-up attempt, whose link `emailAttempt` emails. The attempts of an email address per hour are limited to
 * its number of links, so that every attempt has an emailed link. Lock the email address first.
 * @returns null if the limit is reached
 */
export async function createAttempt(
  tx: Change,
  { config }: Services,
  { accountId = newId('acc'), ...attempt }: NewAttempt,
): Promise<SignUpAttempt | null> {
  const [[recent = { count: 0, now: '' }]] = await tx.run([[recentAttempts, [attempt.email]]]); // counts in one row
  if (recent.count >= config.linkMailsPerHour) return null;

  const createdAt = new Date(recent.now);
  const created = tx.em.create(SignUpAttempt, { ...attempt, accountId, createdAt, expiresAt: addDays(createdAt, 1) });
  tx.record('account.sign_up_attempted', { accountId });
  return created;
}

/** Emails the link of a sign-up attempt. The owner of a verified account is notified instead. Lock the email address first. */
export async function emailAttempt(
  tx: Change,
  { tokens, encryption }: Services,
  attemptId: string,
  language: Language | null,
): Promise<void> {
  const attempt = await tx.em.findOne(SignUpAttempt, attemptId);
  if (attempt === null) return;
  const account = await lockAccountByEmail(tx, attempt.email);
  if (account !== null && isClosedToSignUp(account)) {
    await notifyOwner(tx, account, language);
    return;
  }
  const { accountId, email: to } = attempt;
  const { secret: token, hash: tokenHash } = tokens.generate('emailVerification');
  attempt.tokenHash = tokenHash;
  tx.record('account.link_emailed', { accountId, reason: 'verify_email' });
  const sealedToken = encryption.encrypt(token);
  const mail = { kind: 'verify_email' as const, accountId, to, sealedToken, ...toLanguageHint(language) };
  await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
}

async function notifyOwner(tx: Change, account: Account, language: Language | null): Promise<void> {
  if (!account.email || account.disabledAt) return;
  const mail = {
    kind: 'already_registered' as const,
    accountId: account.id,
    to: account.email,
    ...toLanguageHint(language),
  };
  await enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail));
}

const attemptOfBrowser = query<{ id: string }>(
  'sign_up_attempt_find_by_browser',
  `select id from sign_up_attempt
   where lower(email) = lower($1) and browser_hash = decode($2, 'hex') and expires_at > now()
   order by id desc limit 1`,
);

/** Returns the latest sign-up of this browser with an email address, or null. */
export async function findAttemptOfBrowser(
  tx: Change,
  email: string,
  browserHash: string | undefined,
): Promise<SignUpAttempt | null> {
  if (browserHash === undefined) return null;
  const [[row]] = await tx.run([[attemptOfBrowser, [email, browserHash]]]);
  return row === undefined ? null : tx.em.findOne(SignUpAttempt, row.id);
}

const storeSessionOfAttempt = command<{ account_id: string; expires_at: string }>(
  'sign_up_attempt_update_session',
  `update sign_up_attempt set session_token_hash = $1
   where id = $2 and expires_at > now() returning account_id, expires_at`,
);

/**
 * Creates a session for a sign-up that has no account yet. It can read the profile; all other procedures require a
 * verified email address.
 * @returns the session's token and expiry; null if the sign-up has expired
 */
export async function startSignUpSession(
  tx: Change,
  { tokens }: Services,
  attemptId: string,
): Promise<{ token: string; expiresAt: Date } | null> {
  const { secret: token, hash } = tokens.generate('session');
  const [[row]] = await tx.run([[storeSessionOfAttempt, [hash, attemptId]]]);
  if (row === undefined) return null;
  tx.record('session.created', { accountId: row.account_id, sessionId: attemptId, method: 'sign_up' });
  return { token, expiresAt: new Date(row.expires_at) };
}
