import type { Services } from '../app-services.ts';
import { type JobHelpers, type ParsedCronItem, type TaskList } from 'graphile-worker';
import type { Mailer } from '../email/mailer.ts';
import type { Jobs } from './enqueue.ts';
import { chainEvents } from '../events/chain/append.ts';
import { trimEvents } from '../events/chain/retention.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { cleanupSchedule, createCleanupTasks, scheduledJob } from './run-cleanup.ts';
import { sendAccountMail } from './send-account-email.ts';
import { sendInvitation, type Job } from './send-invitation.ts';

/** What a worker can do. The names are those of `Jobs`, and what the clock queues. */
export function tasksOf(services: Services, mailer: Mailer, log: Log): TaskList {
  /** Sends a mail; what the log says of one that is given up names no address. */
  async function send(
    helpers: JobHelpers,
    mail: string,
    about: object,
    attempt: (job: Job) => Promise<void>,
  ): Promise<void> {
    const { job, abortSignal } = helpers;
    try {
      await attempt({ id: job.id, abortSignal });
    } catch (error) {
      // A spent job is done, not failed: its row, which would stay for good, can hold a sealed token.
      const reason = errorSummary(error);
      if (job.attempts >= job.max_attempts) {
        log.error({ job: job.id, ...about, reason }, `${mail} is given up`);
      } else if (!(await isReplaced(helpers))) {
        // The row and the log keep the message of what is thrown.
        throw new Error(reason);
      }
    }
  }

  return {
    async sendInvitation(data: unknown, helpers: JobHelpers) {
      const payload = data as Jobs['sendInvitation']; // what `enqueue` wrote
      await send(helpers, 'an invitation mail', { invitationId: payload.invitationId }, (job) =>
        sendInvitation(services, mailer, log, payload, job),
      );
    },

    async sendAccountMail(data: unknown, helpers: JobHelpers) {
      const payload = data as Jobs['sendAccountMail']; // what `enqueue` wrote
      const { accountId, kind } = payload;
      await send(helpers, 'an account mail', { accountId, kind }, (job) =>
        sendAccountMail(services, mailer, log, payload, job),
      );
    },

    ...createCleanupTasks(services),

    async recover_jobs(_payload: unknown, helpers: JobHelpers) {
      await helpers.query(UNLOCK_STALE_JOBS, [helpers.job.id]);
      const { rowCount } = await helpers.query(DROP_SPENT_JOBS);
      if (rowCount !== null && rowCount > 0)
        log.warn({ jobs: rowCount }, 'jobs that were left at their last attempt are dropped');
    },

    async chainAudit() {
      await chainEvents(services, log);
      const deleted = await trimEvents(services);
      if (deleted > 0) log.info({ events: deleted }, 'events of the audit log that are too old are deleted');
    },
  };
}

/** All scheduled jobs. */
export const cronItems = (): ParsedCronItem[] => [
  ...scheduledJob('recover_jobs', '* * * * *'),
  ...scheduledJob('chainAudit', '* * * * *'),
  ...cleanupSchedule(),
];

/** Unlocks the jobs of a killed worker. The library does so after four hours, but no job of ours takes minutes. */
const UNLOCK_STALE_JOBS = `select graphile_worker.force_unlock_workers(array(
  select locked_by from graphile_worker.jobs
  where locked_by is not null and id <> $1
  group by locked_by having max(locked_at) < now() - interval '3 minutes'
))`;

const DROP_SPENT_JOBS = `select 1 from graphile_worker.complete_jobs(array(
  select id from graphile_worker.jobs where locked_at is null and attempts >= max_attempts and updated_at < now() - interval '2 hours'
))`;

/** Whether a job of the same key was made while this one ran, which makes this attempt the last. */
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
