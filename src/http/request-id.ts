import { randomUUID } from 'node:crypto';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;
/** Something in the form of our secrets, of any brand: what is sent here by mistake must not get into a log. */
const SECRET = /_[0-9A-Za-z]{49}/;

/** The client's own `X-Request-Id` where it can go into a header and a log as it is, else a new one. */
export function readRequestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && ACCEPTED.test(sent) && !SECRET.test(sent) ? sent : randomUUID();
}
