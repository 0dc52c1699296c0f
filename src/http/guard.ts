import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { toProblemError } from '../procedures/problem-details.ts';
import type { AccessLog } from './access-log.ts';
import type { HttpServices } from './http-services.ts';
import { buildHeaders, createProblemReply, send } from './reply.ts';
import { readRequestId } from './request-id.ts';

/** Handles a request, and may return a promise. */
export type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** `log` must not throw: see `isolateLog`. */
type Guard = { readonly log: AccessLog; readonly baseUrl: string };

/**
 * Catches whatever a listener throws or rejects with, so that no request can end the process.
 * Handlers answer errors themselves; this is for faults in their error paths.
 */
export const guardListener =
  (listener: Listener, guard: Guard): RequestListener =>
  (req, res) => {
    try {
      const done = listener(req, res);
      if (done instanceof Promise) done.catch((error: unknown) => failRequest(guard, req, res, error));
    } catch (error) {
      failRequest(guard, req, res, error);
    }
  };

/** Answers 500, or closes a response that has begun and not ended. Never throws. */
export function failRequest(
  { log, baseUrl }: Guard,
  { headers, method }: IncomingMessage,
  res: ServerResponse,
  error: unknown,
): void {
  const requestId = String(res.getHeader('X-Request-Id') ?? readRequestId(headers['x-request-id']));
  const problem = toProblemError(error);
  log.failure(problem, requestId);
  try {
    if (res.headersSent) {
      if (!res.writableEnded) res.destroy();
      return;
    }
    const reply = createProblemReply(problem, baseUrl, requestId);
    send(res, reply, buildHeaders(reply, requestId, []), method === 'HEAD');
  } catch {
    res.destroy();
  }
}

/** Returns a log that never throws. */
export const isolateLog = (log: AccessLog): AccessLog => ({
  request: (...args) => runGuarded(() => log.request(...args)),
  failure: (...args) => runGuarded(() => log.failure(...args)),
});

/** Returns the services with a log and records that cannot fail the request that they are about. */
export function isolateRecorders(http: HttpServices): HttpServices {
  const { usage, denials, operatorReads } = http;
  const log = isolateLog(http.log);
  const attempt = (work: () => void, requestId = '') =>
    runGuarded(work, (error) => log.failure(toProblemError(error), requestId));
  return {
    ...http,
    log,
    usage: {
      ...usage,
      note: (principal, address) => attempt(() => usage.note(principal, address)),
      noteFirstUse: (tokenHash) => attempt(() => usage.noteFirstUse(tokenHash)),
    },
    denials: { ...denials, note: (denial, requestId) => attempt(() => denials.note(denial, requestId), requestId) },
    operatorReads: {
      ...operatorReads,
      note: (read, requestId) => attempt(() => operatorReads.note(read, requestId), requestId),
    },
  };
}

function runGuarded(work: () => void, onError?: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    // Without a handler it is the log that failed, and there is nowhere left to report to.
    onError?.(error);
  }
}
