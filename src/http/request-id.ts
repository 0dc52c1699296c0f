import { randomUUID } from 'node:crypto';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own `X-Request-Id` where it can go into a header and a log as it is, else a new one. */
export function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && ACCEPTED.test(sent) ? sent : randomUUID();
}
