import { toRosterError } from './errors.ts';
import { ROUTES, type Roster } from './generated/operations.ts';
import { withRetries, type RetryOptions } from './retry.ts';

export type RosterOptions = RetryOptions & {
  /** Scheme, host and port of the service, such as `https://teams.example.com`. */
  readonly baseUrl: string;
  /** An API key or access token, or a function that returns the present one before each request. */
  readonly credential: string | (() => string | Promise<string>);
  /** How long one attempt of a request can take, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
};

/** Options of one call. */
export type CallOptions = RetryOptions & { readonly signal?: AbortSignal };

type Input = Readonly<Record<string, unknown>>;

/**
 * Creates a client of the REST API, with a method for each operation.
 * Methods reject with a `RosterError` for an error response, and with the error of `fetch` if there was none.
 */
export function createRoster(options: RosterOptions): Roster {
  const methods = Object.entries(ROUTES).map(([name, [method, template]]) => [
    name,
    (input: Input = {}, call: CallOptions = {}) => send(options, method, template, input, call),
  ]);
  return Object.freeze(Object.fromEntries(methods)) as Roster; // a method for each member of the generated interface
}

async function send(options: RosterOptions, method: string, template: string, input: Input, call: CallOptions) {
  const { credential, timeoutMs = 30_000, fetch: fetchOnce = fetch } = options;
  const { path, rest } = fillPath(template, input);
  const hasBody = method === 'POST' || method === 'PATCH';
  const url = new URL(`${path}${hasBody ? '' : toQuery(rest)}`, options.baseUrl);

  const attempt = async () =>
    fetchOnce(url, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${typeof credential === 'string' ? credential : await credential()}`,
        ...(hasBody && { 'content-type': 'application/json' }),
      },
      ...(hasBody && { body: JSON.stringify(rest) }),
      redirect: 'error', // a redirect would send the credential to another address
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(call.signal ? [call.signal] : [])]),
    });
  const response = await withRetries(attempt, method === 'GET', call.signal, { ...options, ...call });
  if (!response.ok) throw await toRosterError(response);
  return (await response.json()) as unknown;
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
  for (const [name, value] of Object.entries(values)) if (typeof value === 'string') query.set(name, value);
  return query.size === 0 ? '' : `?${query}`;
}
