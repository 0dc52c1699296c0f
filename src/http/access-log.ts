import type { Logger } from 'pino';
import type { ProblemError } from '../errors.ts';

/** One line a request, and one for each failure of ours. Nothing of a request but its operation gets into either. */
export type AccessLog = {
  request(
    operation: string | null,
    status: number,
    startedAt: number,
    credentialId: string | null,
    requestId: string,
  ): void;
  /** Nothing for a refusal, which has no cause of ours. */
  failure(problem: ProblemError, requestId: string): void;
};

export const accessLog = (log: Logger): AccessLog => ({
  request(operation, status, startedAt, credentialId, requestId) {
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    log.info({ operation, status, durationMs, credentialId, requestId }, 'request');
  },
  failure({ problem, extras }, requestId) {
    if (extras.cause === undefined) return;
    const level = problem === 'internal_error' ? 'error' : 'warn';
    log[level]({ problem, err: extras.cause, requestId }, 'request failed');
  },
});
