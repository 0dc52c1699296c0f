import type { Logger } from 'pino';
import type { ProblemError } from '../problems/error.ts';
import type { RequestIds } from '../events/request-ids.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** The response of a request: usually Node's. */
type Response = { readonly statusCode: number };

/** Logs one line per request, and one per internal failure. Of the request, lines contain only the operation. */
export type AccessLog = {
  /** Also updates the metrics and ends the span, if configured. */
  request(
    response: Response,
    operation: string | null,
    startedAt: number,
    credentialId: string | null,
    requestIds: RequestIds,
  ): void;
  /** Logs only errors that have an internal cause. */
  failure(problem: ProblemError, requestIds: RequestIds | null): void;
};

export const createAccessLog = (log: Logger, { metrics, tracing }: Telemetry = {}): AccessLog => ({
  request(response, operation, startedAt, credentialId, { requestId, clientRequestId }) {
    const status = response.statusCode;
    const elapsedMs = performance.now() - startedAt;
    const durationMs = Math.round(elapsedMs * 100) / 100;
    log.info({ operation, status, durationMs, credentialId, requestId, clientRequestId }, 'request');
    metrics?.finishRequest(operation, status, elapsedMs / 1000);
    tracing?.finishRequest(response, { operation, status, credentialId, requestId, clientRequestId });
  },
  failure({ problem, extras }, requestIds) {
    if (extras.cause === undefined) return;
    const level = problem === 'internal_error' ? 'error' : 'warn';
    log[level]({ problem, err: extras.cause, ...requestIds }, 'request failed');
  },
});
