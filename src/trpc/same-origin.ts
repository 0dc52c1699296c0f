import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser vouches that a call comes from our own pages. `Sec-Fetch-Site` cannot be set by
 * a page; browsers without it send `Origin`. A call with neither proves nothing.
 */
export function isSameOrigin({ headers }: IncomingMessage, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === new URL(baseUrl).origin : site === 'same-origin';
}
