import { command } from '../db/query.ts';
import { QUEUE_JOBS } from '../db/queue-tables.ts';
import type { Database } from '../db/database.ts';
import type { EmailFailure } from '../entities/index.ts';
import { lockOne } from '../transactions/locks.ts';
import { change } from '../transactions/change.ts';
import type { AccountMail, Jobs } from './enqueue.ts';

/** A queued email: the task and the payload that `enqueue` wrote. */
export type EmailJob = { readonly id: string } & (
  | { readonly task: 'sendInvitation'; readonly payload: Jobs['sendInvitation'] }
  | { readonly task: 'sendAccountMail'; readonly payload: AccountMail }
);

/**
 * Deletes the job of an email that will not be sent, including its encrypted token, and records the reason. The
 * invitation shows the failure until a new link is sent.
 * @param unless keeps the job if it is running
 * @returns false if the job no longer exists or a later one has replaced it
 */
export const failEmail = (
  db: Database,
  job: EmailJob,
  failure: EmailFailure,
  unless: 'running' | 'never' = 'never',
): Promise<boolean> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
    // Lock the invitation first, as its renewal does, which replaces the job.
    const invitation = job.task === 'sendInvitation' ? await lockOne(tx, 'invitation', job.payload.invitationId) : null;
    const [[deleted]] = await tx.run([[deleteEmailJob, [job.id, unless === 'never' ? 'running' : '']]]);
    if (deleted === undefined || deleted.key === null) return false;
    if (job.task === 'sendAccountMail') {
      const { accountId, kind } = job.payload;
      tx.record('account.email_failed', { accountId, emailKind: kind, reason: failure });
    } else if (invitation !== null) {
      const { id: invitationId, team } = invitation;
      tx.later([markNewestLink, [invitationId, failure]]);
      tx.record('invitation.email_failed', { teamId: team.id, invitationId, reason: failure });
    }
    return true;
  });

const deleteEmailJob = command<{ key: string | null }>(
  'job_delete_email',
  `delete from ${QUEUE_JOBS} where id = $1::bigint and (locked_at is null or $2 = 'running') returning key`,
);

const markNewestLink = command<never>(
  'invitation_link_update_failure',
  `update invitation_link set email_failed_at = now(), email_failure = $2
   where token_hash = (select token_hash from invitation_link where invitation_id = $1 and proves_mailbox
     order by created_at desc limit 1)`,
);
