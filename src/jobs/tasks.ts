import { QUEUE_JOBS, QUEUE_TASKS } from '../db/queue-tables.ts';
import type { Services } from '../service/services.ts';
import { type JobHelpers, type ParsedCronItem, type TaskList } from 'graphile-worker';
import type { Mailer } from '../email/mailer.ts';
import { ATTEMPTS_MAX, type Jobs } from './enqueue.ts';
import { isRejection } from '../email/rejection.ts';
import type { EmailFailure } from '../entities/index.ts';
import { failEmail, type EmailJob } from './fail-email.ts';
import { chainEvents } from '../events/chain/append.ts';
import { pruneEvents } from '../events/chain/retention.ts';
import { maintainPartitions } from '../events/partitions.ts';
import { COUNT_SCHEMES_TASK, countSchemes } from './count-schemes.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { cleanupSchedule, createCleanupTasks, scheduledJob } from './run-cleanup.ts';
import { sendAccountMail } from './send-account-email.ts';
import { removeClient } from './remove-client.ts';
import { removeEndpoint } from './remove-endpoint.ts';
import { endUnusedKeys, UNUSED_KEYS_TASK } from './unused-keys.ts';
import { sendInvitation, type Job } from './send-invitation.ts';

/** The tasks of a worker: those of `Jobs`, and the scheduled ones. */
export function createTasks(services: Services, mailer: Mailer, log: Log): TaskList {
  /** Makes one attempt to send an email. The log does not name its address. */
  async function send(helpers: JobHelpers, email: EmailJob, attempt: (job: Job) => Promise<void>): Promise<void> {
    const { job, abortSignal } = helpers;
    try {
      await attempt({ id: job.id, abortSignal });
    } catch (error) {
      const isRejected = isRejection(error);
      if (isRejected || job.attempts >= Math.min(job.max_attempts, ATTEMPTS_MAX)) {
        await reportFailure(email, isRejected ? 'rejected' : 'unreachable', errorSummary(error));
      } else if (!(await isReplaced(helpers))) {
        // The row and the log keep the message of this error.
        throw new Error(errorSummary(error));
      }
    }
  }

  async function reportFailure(email: EmailJob, failure: EmailFailure, reason: string): Promise<void> {
    if (await failEmail(services.db, email, failure))
      log.error({ job: email.id, ...toLogFields(email), failure, reason }, 'email failed permanently');
  }

  return {
    async sendInvitation(data: unknown, helpers: JobHelpers) {
      const payload = data as Jobs['sendInvitation']; // what `enqueue` wrote
      await send(helpers, { id: helpers.job.id, task: 'sendInvitation', payload }, (job) =>
        sendInvitation(services, mailer, log, payload, job),
      );
    },

    async sendAccountMail(data: unknown, helpers: JobHelpers) {
      const payload = data as Jobs['sendAccountMail']; // what `enqueue` wrote
      await send(helpers, { id: helpers.job.id, task: 'sendAccountMail', payload }, (job) =>
        sendAccountMail(services, mailer, log, payload, job),
      );
    },

    async removeClient(data: unknown, helpers: JobHelpers) {
      await removeClient(services, data as Jobs['removeClient'], helpers); // what `enqueue` wrote
    },

    async removeEndpoint(data: unknown, helpers: JobHelpers) {
      await removeEndpoint(services, data as Jobs['removeEndpoint'], helpers); // what `enqueue` wrote
    },

    ...createCleanupTasks(services),

    [COUNT_SCHEMES_TASK]: (_payload: unknown, helpers: JobHelpers) => countSchemes(services, helpers),

    [UNUSED_KEYS_TASK]: (_payload: unknown, helpers: JobHelpers) => endUnusedKeys(services, helpers),

    async recover_jobs(_payload: unknown, helpers: JobHelpers) {
      await helpers.query(UNLOCK_STALE_JOBS, [helpers.job.id]);
      const { rows } = await helpers.query<EmailJob>(ABANDONED_EMAILS);
      for (const email of rows) await reportFailure(email, 'unreachable', 'The worker stopped during the last attempt');
      await helpers.query(DELETE_FINISHED_JOBS, [RETIRED_TASKS]);
    },

    async maintainPartitions() {
      await maintainPartitions(services, log);
    },

    async chainAudit() {
      await chainEvents(services, log);
      const deleted = await pruneEvents(services, log);
      if (deleted > 0) log.info({ events: deleted }, 'old audit events removed from the chain');
    },
  };
}

/** All scheduled jobs. */
export const cronItems = (): ParsedCronItem[] => [
  ...scheduledJob('recover_jobs', '* * * * *'),
  ...scheduledJob('chainAudit', '* * * * *'),
  ...scheduledJob('maintainPartitions', '37 * * * *'),
  ...scheduledJob(COUNT_SCHEMES_TASK, '* * * * *'),
  ...scheduledJob(UNUSED_KEYS_TASK, '51 * * * *'),
  ...cleanupSchedule(),
];

/** Unlocks the jobs of a killed worker. The library does so after four hours, but our jobs take less than a minute. */
const UNLOCK_STALE_JOBS = `select graphile_worker.force_unlock_workers(array(
  select locked_by from graphile_worker.jobs
  where locked_by is not null and id <> $1
  group by locked_by having max(locked_at) < now() - interval '3 minutes'
))`;

/** Emails whose worker was killed during the last attempt. */
const ABANDONED_EMAILS = `select j.id::text, t.identifier as task, j.payload
  from ${QUEUE_JOBS} j join ${QUEUE_TASKS} t on t.id = j.task_id
  where j.locked_at is null and j.attempts >= j.max_attempts and j.key is not null
    and t.identifier in ('sendInvitation', 'sendAccountMail')
  order by j.id limit 100`;

/** Tasks of earlier versions: a replica that still runs one of them can schedule a job that no other replica runs. */
const RETIRED_TASKS = ['sweep', 'cleanup_password_schemes'];

/** Deletes replaced and retired jobs. Failed scheduled jobs are deleted after two hours, so that operators can see them. */
const DELETE_FINISHED_JOBS = `select 1 from graphile_worker.complete_jobs(array(
  select id from graphile_worker.jobs
  where locked_at is null and (task_identifier = any($1)
    or (attempts >= max_attempts and (key is null or updated_at < now() - interval '2 hours')))
))`;

/** Returns the ids that identify an email in the log. */
const toLogFields = ({ task, payload }: EmailJob): object =>
  task === 'sendInvitation'
    ? { invitationId: payload.invitationId }
    : { accountId: payload.accountId, kind: payload.kind };

/** Returns whether a job with the same key was created while this one ran. This attempt is then the last. */
async function isReplaced({ job, ...helpers }: JobHelpers): Promise<boolean> {
  try {
    const { rowCount } = await helpers.query(
      'select 1 from graphile_worker.jobs where id = $1 and attempts >= max_attempts',
      [job.id],
    );
    return rowCount === 1;
  } catch {
    return false;
  }
}
