import { Logger } from 'graphile-worker';
import { toSingleLine, errorSummary, type Log } from '../telemetry/log.ts';

type Failed = { id: string; task_identifier: string; attempts: number; max_attempts: number };

/** The job library's logger. Its records hold whole jobs, so nothing of them is passed on but what is named here. */
export const jobLogger = (log: Log): Logger =>
  new Logger(() => (level, message, { failure, success, job, error }) => {
    if (failure === true) {
      const { id, task_identifier: task, attempts: attempt, max_attempts: attemptsMax } = job as Failed; // what it logs with `failure`
      log.warn(
        { job: id, task, attempt, attemptsMax, reason: errorSummary(error) },
        'a job failed and will be tried again',
      );
    } else if (level === 'error' || level === 'warning') {
      // It mends all of these by itself; what it cannot mend ends its run, which the worker reports.
      log.warn({}, toSingleLine(message));
    } else if (level === 'info' && success !== true) {
      log.info({}, toSingleLine(message));
    }
  });
