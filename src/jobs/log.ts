import { Logger } from 'graphile-worker';
import { masked } from '../observe/log.ts';

/** Where jobs report to; pino fits. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;

const REASON_LENGTH_MAX = 300;

/**
 * What went wrong, in one line for logs and job rows. Mail servers quote addresses and links in
 * their answers, so words that look like an address or a secret are left out.
 */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? `${String(error.code)}: ` : '';
  return inOneLine(code + (error instanceof Error ? error.message : String(error)));
}

const inOneLine = (text: string): string =>
  // Of a refused row the database shows everything, on the lines after the first.
  masked(text.replace(/\s+- detail: .*$/s, '').replace(/\s+/g, ' ')).slice(0, REASON_LENGTH_MAX);

type Failed = { id: string; task_identifier: string; attempts: number; max_attempts: number };

/** The job library's logger. Its records hold whole jobs, so nothing of them is passed on but what is named here. */
export const jobLogger = (log: Log): Logger =>
  new Logger(() => (level, message, { failure, success, job, error }) => {
    if (failure === true) {
      const { id, task_identifier: task, attempts: attempt, max_attempts: attemptsMax } = job as Failed; // what it logs with `failure`
      log.warn(
        { job: id, task, attempt, attemptsMax, reason: reasonOf(error) },
        'a job failed and will be tried again',
      );
    } else if (level === 'error' || level === 'warning') {
      // It mends all of these by itself; what it cannot mend ends its run, which the worker reports.
      log.warn({}, inOneLine(message));
    } else if (level === 'info' && success !== true) {
      log.info({}, inOneLine(message));
    }
  });
