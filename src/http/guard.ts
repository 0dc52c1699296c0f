import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { RequestIds } from '../events/request-ids.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import type { AccessLog } from './access-log.ts';
import type { HttpServices } from './http-services.ts';
import { buildHeaders, createProblemReply, send } from './reply.ts';
import { requestIdsOf } from './request-id.ts';

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
export function failRequest({ log, baseUrl }: Guard, req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const requestIds = requestIdsOf(req);
  const problem = toProblemError(error);
  log.failure(problem, requestIds);
  try {
    if (res.headersSent) {
      if (!res.writableEnded) res.destroy();
      return;
    }
    const reply = createProblemReply(problem, baseUrl, requestIds);
    send(res, reply, buildHeaders(reply, requestIds, []), req.method === 'HEAD');
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
  const attempt = (work: () => void, requestIds: RequestIds | null = null) =>
    runGuarded(work, (error) => log.failure(toProblemError(error), requestIds));
  return {
    ...http,
    log,
    usage: {
      ...usage,
      note: (principal, address) => attempt(() => usage.note(principal, address)),
      noteFirstUse: (tokenHash) => attempt(() => usage.noteFirstUse(tokenHash)),
    },
    denials: { ...denials, note: (denial, requestIds) => attempt(() => denials.note(denial, requestIds), requestIds) },
    operatorReads: {
      ...operatorReads,
      note: (read, requestIds) => attempt(() => operatorReads.note(read, requestIds), requestIds),
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
