import type { Services } from '../app-services.ts';
import { hash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { hashSecret } from '../crypto/tokens.ts';
import type { Config } from '../config.ts';
import { accountMail, type AccountNews } from '../email/account-emails.ts';
import type { Mailer } from '../email/mailer.ts';
import { enqueue, type AccountMail } from './enqueue.ts';
import type { Log } from '../telemetry/log.ts';
import { endJob, type Job } from './send-invitation.ts';
import { giveBackPlace, LINK_WINDOW, linkMailId, takeLinkPlace, takePlace } from './email-limits.ts';

/**
 * Mails somebody about their account: once, but for a crash while the mail is on its way. A mail that
 * the throttle holds back becomes a job for later, unless its link would not work any more by then.
 */
export async function sendAccountMail(
  services: Services,
  mailer: Mailer,
  log: Log,
  payload: AccountMail,
  job: Job,
): Promise<void> {
  const { config, db, sealer } = services;
  const { accountId, kind, to } = payload;
  const token = 'sealedToken' in payload ? sealer.open(payload.sealedToken) : null;
  // Of the token or the job, so that every attempt at one mail takes the same place of the mailbox.
  const unique = token === null ? hash('sha256', `job ${job.id}`) : hashSecret(token).toString('hex');
  const mailId = token === null ? `mail_${unique.slice(0, 32)}` : linkMailId(kind, unique.slice(0, 32));

  const admission = await db.em().transactional(async (tx): Promise<Admission> => {
    const key = await keyOf(tx, job.id);
    if (key === null) return null;
    const news = await newsOf(tx, payload, token);
    if (news === null) return null;
    const heldUntil = await placeOf(tx, config, payload, mailId);
    if (heldUntil === null) return { news: 'expiresAt' in news && 'token' in news ? await renewed(tx, news) : news };
    if ('expiresAt' in news && heldUntil >= news.expiresAt) return null;
    await enqueue(tx, 'sendAccountMail', payload, key, heldUntil);
    return { heldUntil };
  });
  if (admission === null) return;
  if ('heldUntil' in admission) {
    log.info(
      { accountId, kind, until: admission.heldUntil.toISOString() },
      'an account mail is held back by the limits per mailbox',
    );
    return;
  }

  try {
    await mailer.send({ id: mailId, to, ...accountMail(admission.news, config.baseUrl) }, job.abortSignal);
  } catch (error) {
    // A place that cannot be given back now is taken over by the next attempt, or free after a while.
    await giveBackPlace(db.em(), mailId).catch(() => undefined);
    throw error;
  }
  await endJob(db, job.id);
  log.info({ accountId, kind }, 'an account mail has left');
}

type Admission = { readonly news: AccountNews } | { readonly heldUntil: Date } | null;

/** The job's key; null when a job that was made while this one ran has taken it away. */
async function keyOf(tx: EntityManager, jobId: string): Promise<string | null> {
  const [row] = await tx.execute<{ key: string | null }[]>(
    'select key from graphile_worker.jobs where id = ?::bigint',
    [jobId],
  );
  return row?.key ?? null;
}

function placeOf(
  tx: EntityManager,
  config: Config,
  { kind, accountId, to }: AccountMail,
  mailId: string,
): Promise<Date | null> {
  const place = { id: mailId, recipient: to.toLowerCase() };
  switch (kind) {
    case 'verify_email':
    case 'change_email':
    case 'reset_password':
    case 'sign_in':
      return takeLinkPlace(tx, config.linkMailsPerHour, place);
    case 'already_registered':
      // Strangers cause it, so it has the smaller number that one team has.
      return takePlace(tx, config, { ...place, teamId: accountId });
    default:
      return takePlace(tx, config, { ...place, teamId: null });
  }
}

/** What is to be said, or null where it is not true any more. */
async function newsOf(tx: EntityManager, payload: AccountMail, token: string | null): Promise<AccountNews | null> {
  switch (payload.kind) {
    case 'verify_email':
    case 'change_email':
    case 'reset_password':
    case 'sign_in': {
      const expiresAt = token === null ? null : await endOf(tx, token);
      return token === null || expiresAt === null ? null : { kind: payload.kind, token, expiresAt };
    }
    case 'new_device':
      return { ...payload, at: new Date(payload.at) };
    case 'ownership_offered':
      return offerTo(tx, payload);
    default:
      return payload;
  }
}

/** Returns until when a link works; null for one that was used or has expired. */
async function endOf(tx: EntityManager, token: string): Promise<Date | null> {
  const [row] = await tx.execute<{ expires_at: string }[]>(
    `select expires_at from account_token where token_hash = decode(?, 'hex') and expires_at > now()
     union all
     select expires_at from sign_up_attempt where token_hash = decode(?, 'hex') and expires_at > now()`,
    [hashSecret(token).toString('hex'), hashSecret(token).toString('hex')],
  );
  return row === undefined ? null : new Date(row.expires_at);
}

/**
 * Starts the time of a link when its email leaves: it is valid for at least as long as the email counts. So a mailbox
 * that gets no further link has one that works.
 */
async function renewed<News extends { readonly token: string; readonly expiresAt: Date }>(
  tx: EntityManager,
  news: News,
): Promise<News> {
  const [row] = await tx.execute<{ expires_at: string }[]>(
    `update account_token set expires_at = greatest(expires_at, clock_timestamp() + interval '${LINK_WINDOW}')
     where token_hash = decode(?, 'hex') returning expires_at`,
    [hashSecret(news.token).toString('hex')],
  );
  return row === undefined ? news : { ...news, expiresAt: new Date(row.expires_at) };
}

type Offered = Extract<AccountMail, { kind: 'ownership_offered' }>;

async function offerTo(tx: EntityManager, { kind, teamId, accountId }: Offered): Promise<AccountNews | null> {
  const [row] = await tx.execute<{ team_name: string; owner_name: string | null; expires_at: string }[]>(
    `select t.name as team_name, o.expires_at,
       coalesce(nullif(trim(concat_ws(' ', a.first_name, a.last_name)), ''), a.email) as owner_name
     from ownership_transfer o
     join team t on t.id = o.team_id
     left join membership m on m.team_id = t.id and m.role_id = 'owner'
     left join account a on a.id = m.account_id
     where o.team_id = ? and o.nominee_id = ? and o.expires_at > now()`,
    [teamId, accountId],
  );
  return row === undefined
    ? null
    : { kind, teamName: row.team_name, ownerName: row.owner_name, expiresAt: new Date(row.expires_at) };
}
