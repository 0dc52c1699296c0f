import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../entities/index.ts';
import { matchLanguage } from '../messages/languages.ts';
import { findNoticeLocale, toLanguageHint } from './email-context.ts';
import { accountMailKey, enqueue, type SecurityNotice } from './enqueue.ts';

/**
 * Queues a security notice to the owner of an account, in the transaction of the change that it reports. No limit
 * applies to notices, because only someone with access to the account or its mailbox can cause them. Waiting notices of one kind are sent as one.
 * Unverified email addresses get none, because they may belong to someone else.
 */
export async function notify(tx: EntityManager, accountId: string, notice: SecurityNotice): Promise<void> {
  const account = await tx.findOne(Account, accountId);
  if (!account?.email || !account.emailVerifiedAt) return;
  // An account that is deleted in this transaction no longer has a language when the email is sent.
  const payload = {
    ...notice,
    accountId,
    to: account.email,
    ...toLanguageHint(matchLanguage(await findNoticeLocale(tx, accountId))),
  };
  await enqueue(tx, 'sendAccountMail', payload, accountMailKey(payload));
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
