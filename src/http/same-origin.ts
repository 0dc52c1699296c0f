import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser confirms that a call comes from our own pages. Pages cannot set `Sec-Fetch-Site`; browsers
 * without it send `Origin`. A call with neither header is not same-origin.
 */
export function isSameOrigin({ headers }: IncomingMessage, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === new URL(baseUrl).origin : site === 'same-origin';
}
