import type { IncomingMessage } from 'node:http';
import { invalidInput, ProblemError, type ValidationEntry } from '../problems/error.ts';
import { parseIdempotencyKey } from '../procedures/idempotency-key.ts';
import { findIssues } from '../procedures/known-members.ts';
import { pointerTo, REPORTED_MAX, toValidationEntries } from '../procedures/validation.ts';
import { readJson, readMergePatch } from './body.ts';
import type { Route } from './routes.ts';

/** Replaces text that cannot be decoded: an invalid string, so that validation reports its position. */
const UNDECODABLE = '\u0000';

export type Params = Readonly<Record<string, unknown>>;

/** Reads path and query parameters by name, decoded after routing. Ignores undeclared query parameters; see `readInput`. */
export function readParams(route: Route, rawParams: readonly string[], query: string): Params {
  if (route.pathParams.length === 0 && (query === '' || route.queryParams.length === 0)) return NO_PARAMS;
  const params: Record<string, unknown> = {};
  route.pathParams.forEach((name, i) => (params[name] = decode(rawParams[i] ?? '')));
  if (query !== '') readQuery(route, query, params);
  return params;
}

const NO_PARAMS: Params = {};

/** A repeated parameter becomes an array, which no parameter accepts. */
function readQuery({ queryParams: names, queryTypes }: Route, query: string, params: Record<string, unknown>): void {
  for (const [name, text] of pairsOf(query)) {
    if (!names.includes(name)) continue;
    const value = convert(text, queryTypes.get(name));
    params[name] = Object.hasOwn(params, name) ? [params[name], value].flat() : value;
  }
}

/** Returns the names and values of a query, decoded. */
const pairsOf = (query: string): [name: string, value: string][] =>
  query.split('&').flatMap((pair): [string, string][] => {
    if (pair === '') return [];
    const [name = '', ...rest] = pair.replaceAll('+', ' ').split('=');
    return [[decode(name), decode(rest.join('='))]];
  });

/** Converts the text of a number or truth value; all other text stays, so that validation reports it. */
function convert(text: string, type: 'integer' | 'boolean' | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return UNDECODABLE;
  }
}

/** Returns the raw input of a procedure: the members of the body, if it has one, overridden by the parameters. */
export async function readInput(req: IncomingMessage, route: Route, params: Params, query: string): Promise<unknown> {
  const unknown = route.isClosed && query !== '' ? findUnknown(route, query) : [];
  if (!route.hasBody) {
    requireValid(route, params, unknown);
    return params;
  }
  const input = await readBody(req, route, params);
  requireValid(route, input, [...unknown, ...(route.takesIdempotencyKey ? findInvalidKey(req) : [])]);
  return route.takesIfMatch ? { ...input, ...readIfMatch(req, input) } : input;
}

async function readBody(req: IncomingMessage, route: Route, params: Params): Promise<object> {
  const { isMergePatch = false, maxBodyBytes } = route.meta;
  const body = await (isMergePatch ? readMergePatch(req) : readJson(req, maxBodyBytes)).catch((error: unknown) => {
    throw withParamErrors(error, route, params);
  });
  if (!isObject(body)) {
    const entry: ValidationEntry = { in: 'body', pointer: '', code: 'invalid_type', params: { expected: 'object' } };
    throw withParamErrors(
      new ProblemError('validation_failed', 'The body must be a JSON object.', { errors: [entry] }),
      route,
      params,
    );
  }
  return params === NO_PARAMS ? body : { ...body, ...params };
}

/**
 * Reads the version from the header. `*` is no condition: it always exists.
 * @throws validation_failed (400) also if it is not that of the body
 */
function readIfMatch(
  { headers: { 'if-match': header } }: IncomingMessage,
  body: { readonly version?: unknown },
): { version?: number } {
  if (header === undefined || header.trim() === '*') return {};
  const version = /^"(0|[1-9]\d{0,8})"$/.exec(header.trim())?.[1];
  if (version === undefined)
    throw invalidInput('/If-Match', 'The header must be one `ETag` of this resource.', 'invalid_format', 'header');
  if (body.version !== undefined && body.version !== Number(version))
    throw invalidInput('/If-Match', 'The header and `version` differ.', 'invalid_value', 'header');
  return { version: Number(version) };
}

const findInvalidKey = ({ headers }: IncomingMessage): ProblemError[] => {
  const header = headers['idempotency-key'];
  if (header === undefined) return [];
  try {
    parseIdempotencyKey(String(header));
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [error];
    throw error;
  }
};

/** Returns the error of query parameters that the operation does not have. It names those that it has. */
function findUnknown({ queryParams }: Route, query: string): ProblemError[] {
  const names = new Set(pairsOf(query).map(([name]) => name));
  const unknown = [...names].filter((name) => !queryParams.includes(name)).slice(0, REPORTED_MAX + 1);
  if (unknown.length === 0) return [];
  const params = { allowed: queryParams.join(', ') };
  const errors = unknown.map((name): ValidationEntry => {
    return { in: 'query', pointer: pointerTo([name]), code: 'invalid_value', params };
  });
  return [new ProblemError('validation_failed', 'The operation has no such query parameter.', { errors })];
}

/** Reports errors beside the input together with the invalid values of the input. */
function requireValid(route: Route, input: object, found: readonly ProblemError[]): void {
  const [first] = found;
  if (first === undefined) return;
  const errors = found.flatMap(({ extras }) => extras.errors ?? []);
  throw withInvalid(new ProblemError(first.problem, first.message, { errors }), route, input, () => true);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds the invalid parameters to the errors of a body, so that all are reported together. */
const withParamErrors = (error: unknown, route: Route, params: Params): unknown =>
  withInvalid(error, route, params, (entry) => entry.in !== 'body');

function withInvalid(
  error: unknown,
  route: Route,
  input: object,
  isReported: (entry: ValidationEntry) => boolean,
): unknown {
  if (!(error instanceof ProblemError) || error.extras.errors === undefined) return error;
  const issues = route.isClosed ? findIssues(route.input, input) : (route.input?.safeParse(input).error?.issues ?? []);
  const entries = toValidationEntries(issues, input, route.locationOf).filter(isReported);
  return new ProblemError(error.problem, error.message, { errors: [...error.extras.errors, ...entries] });
}
