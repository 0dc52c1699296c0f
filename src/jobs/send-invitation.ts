import { QUEUE_JOBS } from '../db/queue-tables.ts';
import type { Services } from '../service/services.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSecret } from '../crypto/tokens.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { isUnavailable } from '../db/errors.ts';
import { pendingInvitation } from '../db/predicates.ts';
import { command, query, type Step } from '../db/query.ts';
import { lockRows } from '../transactions/lock-order.ts';
import { change } from '../transactions/change.ts';
import type { Change } from '../transactions/steps.ts';
import { getInvitationUrl, renderInvitationEmail } from '../email/invitation-email.ts';
import type { Mailer } from '../email/mailer.ts';
import { createEmailContext } from './email-context.ts';
import { invitationKey, jobStep, type Jobs } from './enqueue.ts';
import type { Log } from '../telemetry/log.ts';
import { createEmailId, releaseEmailSlot, reserveEmailSlot } from './email-limits.ts';

type Payload = Jobs['sendInvitation'];
export type Job = { readonly id: string; readonly abortSignal: AbortSignal };

type Pending = {
  email: string;
  recipient: string;
  team_id: string;
  team_name: string;
  role_id: string;
  role_name: string;
  inviter: string | null;
  inviter_locale: string | null;
  recipient_locale: string | null;
  expires_at: string;
};

/** `earlierLinks` are the hex hashes of the links that this email replaces after it was sent. */
type Admission = { send: Pending; earlierLinks: string[] } | { heldUntil: Date } | null;

const RECORD_ATTEMPTS_MAX = 5;

/**
 * Sends the email of an invitation: once, unless the process crashes while the email is being sent. An email that
 * exceeds its limit is rescheduled. An invitation that was revoked or renewed concurrently gets none.
 */
export async function sendInvitation(
  services: Services,
  mailer: Mailer,
  log: Log,
  payload: Payload,
  job: Job,
): Promise<void> {
  const { config, db, encryption } = services;
  const { invitationId } = payload;
  const token = encryption.decrypt(payload.sealedToken);
  const tokenHash = hashSecret(token).toString('hex');
  // Derived from the token, so that every attempt to send one email uses the same slot.
  const emailId = createEmailId('invitation', tokenHash.slice(0, 32));

  const admission = await change(db, 'system', { on: 'installation', requires: 'nothing' }, (opened) =>
    admit(opened, config, payload, { tokenHash, emailId, jobId: job.id }),
  );
  if (admission === null) return;
  if ('heldUntil' in admission) {
    log.info(
      { invitationId, until: admission.heldUntil.toISOString() },
      'invitation email delayed by the limits per mailbox',
    );
    return;
  }

  const {
    email,
    team_name: teamName,
    role_id: roleId,
    role_name: roleName,
    inviter: inviterName,
    expires_at: expiresAt,
    recipient_locale: recipientLocale,
    inviter_locale: inviterLocale,
  } = admission.send;
  const mail = renderInvitationEmail(
    {
      teamName,
      role: { id: roleId, name: roleName },
      inviterName,
      link: getInvitationUrl(config.baseUrl, token),
      expiresAt: new Date(expiresAt),
    },
    createEmailContext(config, recipientLocale, inviterLocale),
  );
  try {
    await mailer.send({ id: emailId, to: email, ...mail }, job.abortSignal);
  } catch (error) {
    // If the slot cannot be released now, the next attempt uses it, or it expires.
    await releaseEmailSlot(db, emailId).catch(() => undefined);
    throw error;
  }
  await finishJob(db, job.id, [
    [lockAnyInvitation, [invitationId]],
    [deleteLinks, [admission.earlierLinks.join(' ')]],
  ]);
  log.info({ invitationId }, 'invitation email sent');
}

/** Locks an invitation of any team, whatever its state. */
const lockAnyInvitation = lockRows('invitation', 'invitation_lock_any', 'select id from invitation where id = $1');

type Attempt = { readonly tokenHash: string; readonly emailId: string; readonly jobId: string };

const pendingInvitationMail = query<Pending>(
  'invitation_find_email',
  `select i.email, lower(i.email) as recipient, i.team_id, t.name as team_name, r.id as role_id, r.name as role_name,
     coalesce(nullif(trim(concat_ws(' ', a.first_name, a.last_name)), ''), a.email) as inviter, i.expires_at,
     a.preferred_locale as inviter_locale, known.preferred_locale as recipient_locale
   from invitation i
   join team t on t.id = i.team_id
   join role r on r.id = i.role_id
   left join account a on a.id = i.invited_by_id
   left join account known on lower(known.email) = lower(i.email)
     and (known.email_verified_at is not null or known.created_by = 'operator')
   where i.id = $1 and ${pendingInvitation('i')}`,
);

/** Finds nothing if a later job has replaced this one: a job that is created while one with its key runs takes the key. */
const jobWithKey = query<object>(
  'job_find_with_key',
  'select 1 as found from graphile_worker.jobs where id = $1::bigint and key is not null',
);

const linksOfInvitation = query<{ hash: string }>(
  'invitation_link_list',
  `select encode(token_hash, 'hex') as hash from invitation_link where invitation_id = $1`,
);

/** Deletes earlier links, except those of an accepted invitation, whose link can be opened again. */
const deleteLinks = command<never>(
  'invitation_link_delete',
  `delete from invitation_link l using invitation i
   where l.token_hash = any(array(select decode(hash, 'hex') from unnest(string_to_array($1, ' ')) hash))
     and i.id = l.invitation_id and i.accepted_at is null`,
);

async function admit(
  change: Change,
  config: Config,
  payload: Payload,
  { tokenHash, emailId, jobId }: Attempt,
): Promise<Admission> {
  const { invitationId, copiedLink } = payload;
  // A renewal locks this row in the transaction that creates its link and its job. So under the lock either both
  // exist or neither does, regardless of the clocks of the replicas.
  const [, [pending], job, links] = await change.run([
    [lockAnyInvitation, [invitationId]],
    [pendingInvitationMail, [invitationId]],
    [jobWithKey, [jobId]],
    [linksOfInvitation, [invitationId]],
  ]);
  if (pending === undefined || job.length === 0) return null;
  const hashes = links.map(({ hash }) => hash);
  if (!hashes.includes(tokenHash)) return null;
  const earlierLinks = hashes.filter((hash) => hash !== tokenHash && hash !== copiedLink);

  const limit = { windowHours: 24, max: config.mailsPerDay, maxFromTeam: config.mailsPerDayFromTeam };
  const slot = { id: emailId, recipient: pending.recipient, teamId: pending.team_id };
  const heldUntil = await reserveEmailSlot(change, limit, slot);
  if (heldUntil === null) return { send: pending, earlierLinks };
  change.later(jobStep('sendInvitation', payload, invitationKey(invitationId), heldUntil));
  return { heldUntil };
}

const deleteJob = command<never>('job_delete', `delete from ${QUEUE_JOBS} where id = $1::bigint`);

/**
 * Deletes the job of a sent email and applies the consequences in one transaction, because a job that remained after
 * an outage would send the email again.
 */
export async function finishJob(db: Database, jobId: string, consequences: readonly Step[] = []): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await change(db, 'system', { on: 'installation', requires: 'nothing' }, ({ later }) => {
        for (const step of [...consequences, [deleteJob, [jobId]]] as const) later(step);
      });
      return;
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS_MAX || !isUnavailable(error)) throw error;
      await sleep(100 * 2 ** attempt);
    }
  }
}
