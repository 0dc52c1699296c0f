import { withDeadline } from './deadline.ts';
import { toRosterError, type Answer } from './errors.ts';
import { withRetries, type RetryOptions } from './retry.ts';
import type { ToUpload } from './upload.ts';

export type ConnectionOptions = RetryOptions & {
  /** Scheme, host and port of the service, such as `https://teams.example.com`. */
  readonly baseUrl: string;
  /** How long one attempt of a request can take, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
};

/** The secret that requests are sent with, or a function that returns the present one before each attempt. */
export type Bearer = string | (() => string | Promise<string>);

/** Options of one call. */
export type CallOptions = RetryOptions & {
  readonly signal?: AbortSignal;
  /** How long one attempt can take, in milliseconds. Default: that of the client. A long upload needs more. */
  readonly timeoutMs?: number;
  /**
   * Identifies a POST, so that the service executes it once however often it is sent. Default: a random key for each
   * call. Give your own, stored one to repeat a call after a restart: 1 to 255 characters of printable ASCII.
   */
  readonly idempotencyKey?: string;
};

export type Input = Readonly<Record<string, unknown>>;

/**
 * Method and path of each operation. A GET can be sent again, and so can a POST, which has an Idempotency-Key, or, with
 * ` safe` at the end, changes nothing. With ` upload`, the body are the `rows` of the input, and the rest is the query.
 */
export type Routes = Readonly<Record<string, string>>;

/** `toUpload` is of clients that have uploads, so that a page that loads another has no code for them. */
type MethodOptions = ConnectionOptions & { readonly toUpload?: ToUpload };

/**
 * Creates a method for each route, which sends its request and returns the body of the response.
 * @param prefix of all paths
 * @throws TypeError if the address or the credential is none, such as a variable that is not set
 */
export function createMethods(prefix: string, routes: Routes, options: MethodOptions, bearer: Bearer): object {
  if (!/^https?:\/\/./i.test(options.baseUrl)) throw new TypeError('baseUrl has to start with https:// or http://.');
  if (typeof bearer !== 'function') checkCredential(bearer);
  const methods = Object.entries(routes).map(([name, route]) => [
    name,
    (input: Input = {}, call: CallOptions = {}) => send(options, bearer, prefix, route, input, call),
  ]);
  return Object.freeze(Object.fromEntries(methods)) as object; // a method for each route
}

/**
 * Returns the credential of the moment.
 * @throws TypeError if it is none, so that the error is not that of a lost connection
 */
export const presentCredential = async (bearer: Bearer): Promise<string> =>
  checkCredential(typeof bearer === 'function' ? await bearer() : bearer);

function checkCredential(credential: string): string {
  if (!credential) throw new TypeError('The credential is missing.');
  // Of a file, it can end with a newline, which is not sent.
  if (!/^[\x20-\x7e]+[\r\n]*$/.test(credential))
    throw new TypeError('The credential is invalid: it is not printable ASCII.');
  return credential;
}

async function send(
  options: MethodOptions,
  bearer: Bearer,
  prefix: string,
  route: string,
  input: Input,
  call: CallOptions,
): Promise<unknown> {
  const { fetch: fetchOnce = fetch } = options;
  const { timeoutMs = options.timeoutMs ?? 30_000 } = call;
  const [method = '', template = '', kind = ''] = route.split(' ');
  const isSafe = method === 'GET' || kind === 'safe';
  const { path, rest } = fillPath(prefix + template, input);
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const upload = kind === 'upload' ? options.toUpload?.(rest) : undefined;
  const url = new URL(`${path}${hasBody ? '' : toQuery(rest)}${upload?.query ?? ''}`, options.baseUrl);
  const key = method === 'POST' && !isSafe ? toHeader(call.idempotencyKey ?? crypto.randomUUID()) : undefined;

  const attempt = (credential: string) =>
    withDeadline(timeoutMs, call.signal, async (signal): Promise<Answer> => {
      const body = upload === undefined ? JSON.stringify(rest) : await upload.read(signal);
      const response = await fetchOnce(url, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${credential}`,
          ...(hasBody && { 'content-type': upload?.type ?? 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(hasBody && { body, duplex: 'half' }), // which fetch demands of a stream
        redirect: 'manual', // it would send the credential to another address
        signal,
      });
      return { status: response.status, headers: response.headers, body: parseJson(await response.text()) };
    });
  const canRepeat = isSafe || key !== undefined;
  const answer = await withRetries(() => presentCredential(bearer), attempt, canRepeat, call.signal, {
    ...options,
    ...call,
    ...(upload?.isOnce && { retries: 0 }),
  }).catch((error: unknown) => {
    throw upload?.toError(error) ?? error;
  });
  if (answer.status < 200 || answer.status > 299 || answer.body === undefined) throw toRosterError(answer);
  return answer.body;
}

/**
 * Quotes an idempotency key (RFC 9651).
 * @throws TypeError if it is none, such as one with letters outside of ASCII, which no header can carry
 */
function toHeader(key: string): string {
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw new TypeError('idempotencyKey has to be 1 to 255 characters of printable ASCII: encode or hash other text.');
  return `"${key.replaceAll(/["\\]/g, '\\$&')}"`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Replaces the parameters of a path.
 * @throws TypeError if one is missing, empty, or a dot segment, which URLs resolve even where it is encoded
 */
function fillPath(template: string, input: Input): { path: string; rest: Input } {
  const rest = { ...input };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} has to be an id.`);
    return encodeURIComponent(value);
  });
  return { path, rest };
}

export function toQuery(values: Input): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? value : [value])
      if (['string', 'number', 'boolean'].includes(typeof one)) query.append(name, String(one));
  return query.size === 0 ? '' : `?${query}`;
}
