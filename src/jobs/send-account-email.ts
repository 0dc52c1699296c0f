import { command, query } from '../db/query.ts';
import type { Change } from '../transactions/steps.ts';
import type { Services } from '../service/services.ts';
import { hash } from 'node:crypto';
import { change } from '../transactions/change.ts';
import { hashSecret } from '../crypto/tokens.ts';
import type { Config } from '../config/config.ts';
import type { AccountEmail } from '../email/account-email.ts';
import { renderAccountEmail } from '../email/account-emails.ts';
import type { Mailer } from '../email/mailer.ts';
import { createEmailContext, findNoticeLocale, findPreferredLocale } from './email-context.ts';
import { enqueue, type AccountMail } from './enqueue.ts';
import { closeWindow, readNames } from './notice-window.ts';
import type { Log } from '../telemetry/log.ts';
import { finishJob, type Job } from './send-invitation.ts';
import {
  createEmailId,
  LINK_WINDOW,
  LINK_WINDOW_HOURS,
  releaseEmailSlot,
  reserveEmailSlot,
  type EmailLimit,
} from './email-limits.ts';

/**
 * Sends an email about an account: once, unless the process crashes while the email is being sent. An email that exceeds
 * its limit is rescheduled, unless its link would have expired by then.
 */
export async function sendAccountMail(
  services: Services,
  mailer: Mailer,
  log: Log,
  payload: AccountMail,
  job: Job,
): Promise<void> {
  const { config, db, encryption } = services;
  const { accountId, kind, to } = payload;
  const token = 'sealedToken' in payload ? encryption.decrypt(payload.sealedToken) : null;
  // Derived from the token or the job, so that every attempt to send one email uses the same slot.
  const unique = token === null ? hash('sha256', `job ${job.id}`) : hashSecret(token).toString('hex');
  const emailId = createEmailId(kind, unique.slice(0, 32));

  const admission = await change(
    db,
    'system',
    { on: 'installation', requires: 'nothing' },
    async (tx): Promise<Admission> => {
      const key = await findKey(tx, job.id);
      if (key === null) return null;
      if ('isDigest' in payload && payload.isDigest) {
        await closeWindow(tx, payload, key);
        return null;
      }
      const email = await findContent(tx, payload, token);
      if (email === null) return null;
      const limit = getLimit(config, payload.kind);
      const slot = {
        id: emailId,
        recipient: to.toLowerCase(),
        teamId: 'teamId' in payload ? (payload.teamId ?? null) : null,
      };
      const heldUntil = limit === null ? null : await reserveEmailSlot(tx, limit, slot);
      if (heldUntil === null) {
        const locale = await (limit === null ? findNoticeLocale : findPreferredLocale)(tx, accountId);
        return { email: 'token' in email ? await renewLink(tx, email) : email, locale };
      }
      if ('expiresAt' in email && heldUntil >= email.expiresAt) return null;
      await enqueue(tx, 'sendAccountMail', payload, key, heldUntil);
      return { heldUntil };
    },
  );
  if (admission === null) return;
  if ('heldUntil' in admission) {
    log.info(
      { accountId, kind, until: admission.heldUntil.toISOString() },
      'account email delayed by the limits per mailbox',
    );
    return;
  }

  try {
    const context = createEmailContext(config, admission.locale, payload.language);
    await mailer.send({ id: emailId, to, ...renderAccountEmail(admission.email, context) }, job.abortSignal);
  } catch (error) {
    // If the slot cannot be released now, the next attempt uses it, or it expires.
    await releaseEmailSlot(db, emailId).catch(() => undefined);
    throw error;
  }
  await finishJob(db, job.id);
  log.info({ accountId, kind }, 'account email sent');
}

type Admission = { readonly email: AccountEmail; readonly locale: string | null } | { readonly heldUntil: Date } | null;

/** Returns the job's key; null if a job that was queued while this one ran has replaced it. */
async function findKey(tx: Change, jobId: string): Promise<string | null> {
  const [row] = await tx.query(keyOfJob, [jobId]);
  return row?.key ?? null;
}

const keyOfJob = query<{ key: string | null }>(
  'job_find_key',
  'select key from graphile_worker.jobs where id = $1::bigint',
);

/** Returns the limit of a kind; null for security notices, which must not be delayed. */
function getLimit({ mailsPerDay, mailsPerDayFromTeam, linkMailsPerHour }: Config, kind: Kind): EmailLimit | null {
  switch (kind) {
    case 'verify_email':
    case 'change_email':
    case 'reset_password':
    case 'sign_in':
      return { windowHours: LINK_WINDOW_HOURS, max: linkMailsPerHour };
    case 'already_registered':
      // Anyone who knows the email address can cause it, so it has the lower limit.
      return { windowHours: 24, max: mailsPerDayFromTeam };
    case 'ownership_offered':
      return { windowHours: 24, max: mailsPerDay, maxFromTeam: mailsPerDayFromTeam };
    default:
      return null;
  }
}

type Kind = AccountMail['kind'];

/** Returns the content of the email, or null if it no longer applies. */
async function findContent(tx: Change, payload: AccountMail, token: string | null): Promise<AccountEmail | null> {
  switch (payload.kind) {
    case 'verify_email':
    case 'change_email':
    case 'reset_password':
    case 'sign_in': {
      const expiresAt = token === null ? null : await findExpiry(tx, token);
      if (token === null || expiresAt === null) return null;
      if (payload.kind === 'change_email' && (await isTaken(tx, payload))) return null;
      return { kind: payload.kind, token, expiresAt };
    }
    case 'new_device':
      return { ...payload, at: new Date(payload.at) };
    case 'ownership_offered':
      return findOffer(tx, payload);
    case 'already_registered':
    case 'unused_keys':
    case 'webhook_disabled':
    case 'leaked_key_revoked':
    case 'leaked_token_revoked':
      return payload;
    default:
      return readNames(tx, payload.accountId, payload);
  }
}

/** Returns whether another account has the new email address. */
async function isTaken(tx: Change, { accountId, to }: AccountMail): Promise<boolean> {
  return (await tx.query(otherAtAddress, [to, accountId])).length > 0;
}

const otherAtAddress = query<object>(
  'account_find_other_by_email',
  'select from account where lower(email) = lower($1) and id <> $2',
);

/** Returns until when a link works; null for one that was used or has expired. */
async function findExpiry(tx: Change, token: string): Promise<Date | null> {
  const [row] = await tx.query(expiryOfLink, [hashSecret(token)]);
  return row === undefined ? null : new Date(row.expires_at);
}

const expiryOfLink = query<{ expires_at: string }>(
  'account_token_find_expiry',
  `select expires_at from account_token where token_hash = $1 and purpose <> 'changed_email' and expires_at > now()
   union all
   select expires_at from sign_up_attempt where token_hash = $1 and expires_at > now()`,
);

/**
 * Starts the validity of a link when its email is sent. It lasts at least as long as the email counts towards the limit,
 * so that a mailbox that gets no further link has a valid one.
 */
async function renewLink<Email extends { readonly token: string; readonly expiresAt: Date }>(
  tx: Change,
  email: Email,
): Promise<Email> {
  const [[row]] = await tx.run([[prolongLink, [hashSecret(email.token)]]]);
  return row === undefined ? email : { ...email, expiresAt: new Date(row.expires_at) };
}

const prolongLink = command<{ expires_at: string }>(
  'account_token_update_expiry',
  `update account_token set expires_at = greatest(expires_at, clock_timestamp() + interval '${LINK_WINDOW}')
   where token_hash = $1 and purpose <> 'changed_email' returning expires_at`,
);

const openOffer = query<{ team_name: string; owner_name: string | null; expires_at: string }>(
  'ownership_transfer_find_open',
  `select t.name as team_name, o.expires_at,
     coalesce(nullif(trim(concat_ws(' ', a.first_name, a.last_name)), ''), a.email) as owner_name
   from ownership_transfer o
   join team t on t.id = o.team_id
   left join membership m on m.team_id = t.id and m.role_id = 'owner'
   left join account a on a.id = m.account_id
   where o.team_id = $1 and o.nominee_id = $2 and o.expires_at > now()`,
);

type Offered = Extract<AccountMail, { kind: 'ownership_offered' }>;

async function findOffer(tx: Change, { kind, teamId, accountId }: Offered): Promise<AccountEmail | null> {
  const [row] = await tx.query(openOffer, [teamId, accountId]);
  return row === undefined
    ? null
    : { kind, teamName: row.team_name, ownerName: row.owner_name, expiresAt: new Date(row.expires_at) };
}
