import type { Logger } from 'pino';
import type { ProblemError } from '../errors.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** What a request was answered with: Node's answer, as a rule. */
type Answered = { readonly statusCode: number };

/** One line a request, and one for each failure of ours. Nothing of a request but its operation gets into either. */
export type AccessLog = {
  /** Tells the metrics and the trace as well, where there are any. */
  request(
    answer: Answered,
    operation: string | null,
    startedAt: number,
    credentialId: string | null,
    requestId: string,
  ): void;
  /** Nothing for a refusal, which has no cause of ours. */
  failure(problem: ProblemError, requestId: string): void;
};

export const createAccessLog = (log: Logger, { metrics, tracing }: Telemetry = {}): AccessLog => ({
  request(answer, operation, startedAt, credentialId, requestId) {
    const status = answer.statusCode;
    const elapsedMs = performance.now() - startedAt;
    const durationMs = Math.round(elapsedMs * 100) / 100;
    log.info({ operation, status, durationMs, credentialId, requestId }, 'request');
    metrics?.finished(operation, status, elapsedMs / 1000);
    tracing?.finished(answer, { operation, status, credentialId, requestId });
  },
  failure({ problem, extras }, requestId) {
    if (extras.cause === undefined) return;
    const level = problem === 'internal_error' ? 'error' : 'warn';
    log[level]({ problem, err: extras.cause, requestId }, 'request failed');
  },
});
