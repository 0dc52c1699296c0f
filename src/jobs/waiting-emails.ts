import { QUEUE_JOBS, QUEUE_TASKS } from '../db/queue-tables.ts';
import type { Database } from '../db/database.ts';
import { command, iso, query, type QueryRunner } from '../db/query.ts';
import { change } from '../transactions/change.ts';
import { failEmail, type EmailJob } from './fail-email.ts';
import { ATTEMPTS_MAX } from './enqueue.ts';

const REMOVAL_BATCH_MAX = 500;

type Row = {
  id: string;
  task: EmailJob['task'];
  kind: string;
  subject_id: string | null;
  attempts: number;
  next_at: string;
  is_running: boolean;
  last_error: string | null;
};

const QUEUED = `${QUEUE_JOBS} j join ${QUEUE_TASKS} t on t.id = j.task_id
  where j.key is not null and t.identifier in ('sendInvitation', 'sendAccountMail')`;

// Excludes email addresses and tokens. Operators can look up the account by its id.
const waitingEmails = query<Row>(
  'job_list_emails',
  `select j.id::text, t.identifier as task, coalesce(j.payload->>'kind', 'invitation') as kind,
     coalesce(j.payload->>'invitationId', j.payload->>'accountId') as subject_id, j.attempts::int,
     j.run_at as next_at, j.locked_at is not null as is_running, left(split_part(j.last_error, E'\\n', 1), 300) as last_error
   from ${QUEUED} order by j.id limit $1`,
  { rows: 'many' },
);

/** Returns the queued emails, oldest first. */
export async function listWaitingEmails(db: QueryRunner, limit: number) {
  const rows = await db.query(waitingEmails, [limit]);
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    subjectId: row.subject_id,
    state: row.is_running ? ('sending' as const) : row.attempts > 0 ? ('retrying' as const) : ('waiting' as const),
    attempts: row.attempts,
    nextAt: iso(row.next_at),
    lastError: row.last_error,
  }));
}

/**
 * Sends waiting emails now, with the full number of attempts. Skips emails that are being sent.
 * @param id one job, or null for all
 * @returns the number of emails
 */
export const retryEmails = (db: Database, id: string | null): Promise<number> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
    const [rows] = await tx.run([[retryJobs, [id]]]);
    if (rows.length > 0) tx.record('operator.emails_retried', { number: rows.length });
    return rows.length;
  });

const retryJobs = command<object>(
  'job_update_emails',
  `select id from graphile_worker.reschedule_jobs(
     array(select j.id from ${QUEUED} and j.locked_at is null and ($1::bigint is null or j.id = $1::bigint)),
     run_at := now(), attempts := 0, max_attempts := ${ATTEMPTS_MAX})`,
);

const removableEmails = query<EmailJob>(
  'job_list_removable_emails',
  `select j.id::text, t.identifier as task, j.payload from ${QUEUED} and j.locked_at is null
     and ($1::bigint is null or j.id = $1::bigint) and j.id > $2::bigint order by j.id limit ${REMOVAL_BATCH_MAX}`,
  { rows: 'many' },
);

/**
 * Deletes waiting emails and records an event for each. Skips emails that are being sent.
 * @param id one job, or null for all that are queued now
 * @returns the number of deleted emails
 */
export async function removeEmails(db: Database, id: string | null): Promise<number> {
  let removed = 0;
  let after = '0';
  for (;;) {
    const jobs: EmailJob[] = await db.query(removableEmails, [id, after]);
    for (const job of jobs) if (await failEmail(db, job, 'removed', 'running')) removed += 1;
    after = jobs.at(-1)?.id ?? after;
    if (jobs.length < REMOVAL_BATCH_MAX) return removed;
  }
}
