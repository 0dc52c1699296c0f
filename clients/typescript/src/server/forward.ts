import { APP_PROCEDURES } from '../generated/app-procedures.ts';
import { readBody } from './body.ts';
import { RosterAccessError, signInRequired, unavailable } from './errors.ts';
import type { RosterSession } from './sessions.ts';

/** What a procedure call needs of its request, and what the page needs of the response. */
const REQUEST_HEADERS = ['accept', 'accept-language', 'content-type', 'trpc-accept', 'x-request-id'];
const RESPONSE_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'ratelimit', 'ratelimit-policy', 'vary'];
/** Procedures of a batch. */
const BATCH_MAX = 20;
const TIMEOUT_MS = 60_000;
/** The largest body of a call of a procedure. */
const BODY_BYTES_MAX = 1024 * 1024;

export type ForwardOptions = {
  readonly baseUrl: URL;
  readonly prefix: string;
  readonly fetch: typeof fetch;
};

/** @throws RosterAccessError (400) */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new RosterAccessError(400, 'invalid_request', 'The path cannot be decoded.', { cause });
  }
}

/** Creates the route that calls procedures of Roster with the token of the session, for pages of the application. */
export function createForward({ baseUrl, prefix, fetch }: ForwardOptions) {
  return async (request: Request, session: RosterSession | null): Promise<Response> => {
    const url = new URL(request.url);
    const procedures = decode(url.pathname.slice(prefix.length));
    const names = procedures.split(',');
    // Of all others, such as those that sign a browser in, none is for a server.
    if (names.length > BATCH_MAX || !names.every((name) => APP_PROCEDURES.has(name)))
      throw new RosterAccessError(404, 'not_found', 'There is no such procedure.');
    if (request.method !== 'GET' && request.method !== 'POST')
      throw new RosterAccessError(405, 'method_not_allowed', 'Use GET or POST.');
    if (session === null) throw signInRequired();
    const headers = new Headers({ authorization: `Bearer ${session.accessToken}` });
    for (const name of REQUEST_HEADERS) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const response = await fetch(new URL(`/trpc/${procedures}${url.search}`, baseUrl), {
      method: request.method,
      headers,
      body: request.method === 'POST' ? ((await readBody(request, BODY_BYTES_MAX)) as Uint8Array<ArrayBuffer>) : null,
      redirect: 'manual',
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).catch((cause: unknown) => {
      if (request.signal.aborted)
        throw new RosterAccessError(400, 'invalid_request', 'The page has closed.', { cause });
      throw unavailable(cause);
    });
    const answer = new Headers({ 'cache-control': 'no-store' });
    for (const name of RESPONSE_HEADERS) {
      const value = response.headers.get(name);
      if (value !== null) answer.set(name, value);
    }
    for (const cookie of session.setCookies) answer.append('set-cookie', cookie);
    return new Response(response.body, { status: response.status, headers: answer });
  };
}
