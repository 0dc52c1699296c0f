import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestIds } from '../events/request-ids.ts';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;
/** The format of our tokens, of any brand: one that is sent by mistake must not be logged. */
const SECRET = /_[0-9A-Za-z]{49}/;

const known = new WeakMap<IncomingMessage, RequestIds>();

/** Returns the ids of a request, the same ones each time. The client's is left out unless it is safe in a header and a log. */
export function requestIdsOf(req: IncomingMessage): RequestIds {
  const ids = known.get(req) ?? createRequestIds(req.headers['x-request-id']);
  known.set(req, ids);
  return ids;
}

/** Gives a copy of a request its ids. */
export const shareRequestIds = (req: IncomingMessage, copy: IncomingMessage): void =>
  void known.set(copy, requestIdsOf(req));

/** Creates the ids of a request. Use `requestIdsOf` unless the request could not be parsed. */
export const createRequestIds = (sent?: string | string[]): RequestIds => ({
  requestId: randomUUID(),
  clientRequestId: typeof sent === 'string' && ACCEPTED.test(sent) && !SECRET.test(sent) ? sent : null,
});
