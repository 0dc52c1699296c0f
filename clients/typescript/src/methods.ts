import { withDeadline } from './deadline.ts';
import { toRosterError, type Answer } from './errors.ts';
import { withRetries, type RetryOptions } from './retry.ts';

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
  /**
   * Identifies a POST, so that the service executes it once however often it is sent. Default: a random key for each
   * call. Give your own, stored one to repeat a call after a restart.
   */
  readonly idempotencyKey?: string;
};

export type Input = Readonly<Record<string, unknown>>;

/**
 * How a request can be sent again: as it is, because it changes nothing; with its Idempotency-Key; or not at all, unless
 * it was not executed.
 */
export type Repetition = 'as-it-is' | 'with-key' | 'never';
export type Routes = Readonly<Record<string, readonly [method: string, path: string, repetition: Repetition]>>;

/** Creates a method for each route, which sends its request and returns the body of the response. */
export function createMethods(routes: Routes, options: ConnectionOptions, bearer: Bearer): object {
  const methods = Object.entries(routes).map(([name, route]) => [
    name,
    (input: Input = {}, call: CallOptions = {}) => send(options, bearer, route, input, call),
  ]);
  return Object.freeze(Object.fromEntries(methods)) as object; // a method for each route
}

async function send(
  options: ConnectionOptions,
  bearer: Bearer,
  [method, template, repetition]: Routes[string],
  input: Input,
  call: CallOptions,
): Promise<unknown> {
  const { timeoutMs = 30_000, fetch: fetchOnce = fetch } = options;
  const { path, rest } = fillPath(template, input);
  const hasBody = method === 'POST' || method === 'PATCH' || method === 'PUT';
  const url = new URL(`${path}${hasBody ? '' : toQuery(rest)}`, options.baseUrl);
  const key = repetition === 'with-key' ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined;

  const present = async () => (typeof bearer === 'string' ? bearer : bearer());
  const attempt = (credential: string) =>
    withDeadline(timeoutMs, call.signal, async (signal): Promise<Answer> => {
      const response = await fetchOnce(url, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${credential}`,
          ...(hasBody && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': `"${key}"` }),
        },
        ...(hasBody && { body: JSON.stringify(rest) }),
        redirect: 'manual', // it would send the credential to another address
        signal,
      });
      return { status: response.status, headers: response.headers, body: parseJson(await response.text()) };
    });
  const answer = await withRetries(present, attempt, repetition !== 'never', call.signal, { ...options, ...call });
  if (answer.status < 200 || answer.status > 299 || answer.body === undefined) throw toRosterError(answer);
  return answer.body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Replaces the parameters of a path. @throws TypeError if one is missing or empty */
function fillPath(template: string, input: Input): { path: string; rest: Input } {
  const rest = { ...input };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} has to be a non-empty string.`);
    return encodeURIComponent(value);
  });
  return { path, rest };
}

function toQuery(values: Input): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? value : [value])
      if (['string', 'number', 'boolean'].includes(typeof one)) query.append(name, String(one));
  return query.size === 0 ? '' : `?${query}`;
}
