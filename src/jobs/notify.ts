import { command, query } from '../db/query.ts';
import type { NoticeKind, NoticeSubject, NoticeThing } from '../email/notices.ts';
import { Account } from '../entities/index.ts';
import { matchLanguage } from '../messages/languages.ts';
import { provenAddress } from '../transactions/email-address.ts';
import type { Change } from '../transactions/steps.ts';
import { findNoticeLocale, NOTICE_LOCALE, toLanguageHint } from './email-context.ts';
import { accountMailKey, ATTEMPTS_MAX, enqueue, PRIORITY, type SecurityNotice } from './enqueue.ts';
import { createCause, createWindowId, isCounted, WINDOW, THINGS_MAX } from './notice-window.ts';

/** A notice of a change of the access to an account, by the caller of this moment. */
export type NewNotice = NoticeSubject & { readonly kind: NoticeKind };

type Queued = NewNotice | Exclude<SecurityNotice, { kind: NoticeKind }>;

/**
 * Queues a security notice to the owner of an account, in the transaction of the change that it reports. No limit
 * applies to notices, because only someone with access to the account or its mailbox can cause them. Those of one kind,
 * team and cause within 10 minutes after the first are sent as one. Unverified email addresses get none, because they may
 * belong to someone else: the last proven one gets them.
 */
export async function notify(tx: Change, accountId: string, notice: Queued): Promise<void> {
  const account = await tx.em.findOne(Account, accountId);
  const email = account === null ? null : provenAddress(account);
  if (email === null) return;
  const target = { email, locale: await findNoticeLocale(tx, accountId) };
  if (isAccessNotice(notice)) tx.later(toStep(accountId, target, notice));
  else await enqueue(tx, ...toJob(accountId, target, notice));
}

const isAccessNotice = (notice: Queued): notice is NewNotice => isCounted(notice.kind);

type NoticeTarget = { email: string; locale: string | null };

const noticeTarget = query<NoticeTarget>(
  'account_find_notice_target',
  `select email, locale from (
     select case when email_verified_at is null then proven_email else email end as email, ${NOTICE_LOCALE} as locale
     from account where id = $1) target
   where email is not null`,
);

/** Reads the recipient of a notice, for `noticeSteps`. */
export const noticeTargetStep = (accountId: string) => [noticeTarget, [accountId]] as const;

/** Returns the statements that queue a notice like `notify`: none without a proven email address. */
export const noticeSteps = (accountId: string, targets: readonly NoticeTarget[], notice: NewNotice) =>
  targets.map((target) => toStep(accountId, target, notice));

const STALE = `m.number = 0 and m.created_at < clock_timestamp() - interval '${WINDOW}'`;

// The first is sent immediately. The second one queues the email that is sent at the end of the window, and later ones
// add to it.
const queueNotice = command<{ id: string }>(
  'sent_mail_upsert_notice',
  `with counted as (
     insert into sent_mail as m (id, recipient, created_at) values ($1, $2, clock_timestamp())
     on conflict (id) do update set
       created_at = case when ${STALE} then clock_timestamp() else m.created_at end,
       number = case when ${STALE} then 0 else m.number + 1 end,
       things = case when ${STALE} then '[]' when jsonb_array_length(m.things) < ${THINGS_MAX} then m.things || $3::jsonb
         else m.things end
     returning number, created_at)
   select (graphile_worker.add_job('sendAccountMail',
     payload := case number when 0 then $4::json else $5::json end,
     job_key := case number when 0 then $6 else $1 end,
     run_at := case number when 0 then null else created_at + interval '${WINDOW}' end,
     priority := $7::int, max_attempts := $8::int)).id
   from counted where number < 2`,
);

function toStep(accountId: string, target: NoticeTarget, notice: NewNotice) {
  const cause = createCause();
  const [, payload, key] = toJob(accountId, target, { ...notice, cause });
  const id = createWindowId(accountId, target.email, notice, cause);
  const { thing, person } = notice;
  const things: NoticeThing[] = thing === undefined ? [] : [person === undefined ? thing : { thing, person }];
  return [
    queueNotice,
    [
      id,
      accountId,
      JSON.stringify(things),
      JSON.stringify(payload),
      JSON.stringify({ ...payload, isDigest: true }),
      key,
      PRIORITY.sendAccountMail,
      ATTEMPTS_MAX,
    ],
  ] as const;
}

function toJob(accountId: string, { email, locale }: NoticeTarget, notice: SecurityNotice) {
  // An account that is deleted in this transaction no longer has a language when the email is sent.
  const payload = { ...notice, accountId, to: email, ...toLanguageHint(matchLanguage(locale)) };
  return ['sendAccountMail', payload, accountMailKey(payload)] as const;
}

/** The operators that are told. */
const OPERATORS_MAX = 50;

const toldOperators = query<{ id: string }>(
  'account_list_told_operators',
  `select id from account where role = 'admin' and disabled_at is null and id <> $1 order by id limit ${OPERATORS_MAX}`,
);

/**
 * Queues a notice to each operator of this instance, in the transaction of the change that it reports.
 * @param exceptId the account that the change is about
 */
export async function notifyOperators(tx: Change, notice: Queued, exceptId = ''): Promise<void> {
  const operators = await tx.query(toldOperators, [exceptId]);
  for (const { id } of operators) await notify(tx, id, notice);
}

const ownerOfTeam = query<{ account_id: string }>(
  'membership_find_told_owner',
  `select account_id from membership where team_id = $1 and role_id = 'owner'`,
);

/** Queues a notice to the owner of a team, also about a change by the operator. */
export async function notifyOwner(tx: Change, teamId: string, notice: NewNotice): Promise<void> {
  const [owner] = await tx.query(ownerOfTeam, [teamId]);
  if (owner !== undefined) await notify(tx, owner.account_id, { ...notice, teamId });
}
