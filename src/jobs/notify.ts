import type { EntityManager } from '@mikro-orm/postgresql';
import { query } from '../db/query.ts';
import { Account } from '../entities/index.ts';
import { matchLanguage } from '../messages/languages.ts';
import { findNoticeLocale, NOTICE_LOCALE, toLanguageHint } from './email-context.ts';
import { accountMailKey, enqueue, jobStep, type SecurityNotice } from './enqueue.ts';

/**
 * Queues a security notice to the owner of an account, in the transaction of the change that it reports. No limit
 * applies to notices, because only someone with access to the account or its mailbox can cause them. Waiting notices of one kind are sent as one.
 * Unverified email addresses get none, because they may belong to someone else.
 */
export async function notify(tx: EntityManager, accountId: string, notice: SecurityNotice): Promise<void> {
  const account = await tx.findOne(Account, accountId);
  if (!account?.email || !account.emailVerifiedAt) return;
  const target = { email: account.email, locale: await findNoticeLocale(tx, accountId) };
  await enqueue(tx, ...toJob(accountId, target, notice));
}

type NoticeTarget = { email: string; locale: string | null };

const noticeTarget = query<NoticeTarget>(
  'notice_target',
  `select email, ${NOTICE_LOCALE} as locale from account
   where id = $1 and email is not null and email_verified_at is not null`,
);

/** Reads the recipient of a notice, for `noticeSteps`. */
export const noticeTargetStep = (accountId: string) => [noticeTarget, [accountId]] as const;

/** Returns the statements that queue a notice like `notify`: none without a verified email address. */
export const noticeSteps = (accountId: string, targets: readonly NoticeTarget[], notice: SecurityNotice) =>
  targets.map((target) => jobStep(...toJob(accountId, target, notice)));

function toJob(accountId: string, { email, locale }: NoticeTarget, notice: SecurityNotice) {
  // An account that is deleted in this transaction no longer has a language when the email is sent.
  const payload = { ...notice, accountId, to: email, ...toLanguageHint(matchLanguage(locale)) };
  return ['sendAccountMail', payload, accountMailKey(payload)] as const;
}

/** The operators that are told. */
const OPERATORS_MAX = 50;

/** Queues a notice to each operator of this instance, in the transaction of the change that it reports. */
export async function notifyOperators(tx: EntityManager, notice: SecurityNotice): Promise<void> {
  const operators = await tx.execute<{ id: string }[]>(
    `select id from account where role = 'admin' and disabled_at is null order by id limit ${OPERATORS_MAX}`,
  );
  for (const { id } of operators) await notify(tx, id, notice);
}
