import { Logger } from 'graphile-worker';
import { toSingleLine, errorSummary, type Log } from '../telemetry/log.ts';

type Failed = { id: string; task_identifier: string; attempts: number; max_attempts: number };

/** Logger for the job library. Its records contain whole jobs, so only the fields named here are logged. */
export const jobLogger = (log: Log): Logger =>
  new Logger(() => (level, message, { failure, success, job, error }) => {
    if (failure === true) {
      const { id, task_identifier: task, attempts: attempt, max_attempts: attemptsMax } = job as Failed; // the job library logs a job with `failure`
      const fields = { job: id, task, attempt, attemptsMax, reason: errorSummary(error) };
      if (attempt < attemptsMax) log.warn(fields, 'job failed, retry scheduled');
      // The tasks of emails handle their last attempt, so this is a scheduled job.
      else log.error(fields, 'scheduled job failed, next run on schedule');
    } else if (level === 'error' || level === 'warning') {
      // The library recovers from these errors. Other errors end its run, which the worker reports.
      log.warn({}, toSingleLine(message));
    } else if (level === 'info' && success !== true) {
      log.info({}, toSingleLine(message));
    }
  });
