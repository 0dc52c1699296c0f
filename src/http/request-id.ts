import { randomUUID } from 'node:crypto';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;
/** The format of our tokens, of any brand: one that is sent by mistake must not be logged. */
const SECRET = /_[0-9A-Za-z]{49}/;

/** Returns the client's `X-Request-Id` if it is safe in a header and a log, else a new id. */
export function readRequestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && ACCEPTED.test(sent) && !SECRET.test(sent) ? sent : randomUUID();
}
