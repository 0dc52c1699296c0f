import type { ServerResponse } from 'node:http';
import { PROOF_ALGORITHMS } from '../auth/dpop.ts';
import { resourceMetadataPath } from '../auth/resource.ts';
import type { Config } from '../config/config.ts';
import type { Resource } from '../entities/index.ts';
import type { ProblemError } from '../problems/error.ts';
import { PROBLEMS } from '../problems/catalogue.ts';
import type { RateDecision } from '../rate-limit/limiter.ts';
import { JsonList } from '../db/lists/json-list.ts';
import { writePieces } from './write-pieces.ts';
import { shownRequestId, type RequestIds } from '../events/request-ids.ts';
import { createProblemDocument } from '../procedures/problem-details.ts';

/** The response to a client. */
export type Reply = {
  readonly status: number;
  /** A long one comes in pieces, which are sent as fast as the client reads. */
  readonly body: string | Buffer | readonly Buffer[] | undefined;
  readonly contentType?: string;
  /** Defaults to `no-store`. */
  readonly cacheControl?: string;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
};

export const createJsonReply = (status: number, value: unknown): Reply => ({
  status,
  contentType: 'application/json',
  body: value instanceof JsonList ? value.json : JSON.stringify(value),
});

/**
 * Creates the problem document of an error, with its headers.
 * @param resource what OAuth grants access to; null if OAuth cannot
 */
export function createProblemReply(
  error: ProblemError,
  baseUrl: string,
  requestIds: RequestIds,
  resource: Resource | null = 'api',
): Reply {
  const { retryAfter, allow } = error.extras;
  return {
    status: PROBLEMS[error.problem][0],
    contentType: 'application/problem+json',
    body: JSON.stringify(createProblemDocument(error, baseUrl, requestIds)),
    headers: [
      ...(retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]),
      ...(allow === undefined ? [] : ['Allow', allow]),
      ...createChallenges(error, baseUrl, resource).flatMap((challenge) => ['WWW-Authenticate', challenge]),
    ],
  };
}

/** RFC 6750, section 3, and RFC 9449, section 7.1: no error code if no credential was sent. */
function createChallenges(
  { problem, extras: { dpop, scope } }: ProblemError,
  baseUrl: string,
  resource: Resource | null,
): string[] {
  // RFC 9728: tells clients how to get a credential, and at `/mcp` with which scopes to begin.
  const hint = problem !== 'scope_missing' && scope !== undefined ? [`scope="${scope}"`] : [];
  const metadata =
    resource === null ? [] : [`resource_metadata="${baseUrl}${resourceMetadataPath(resource)}"`, ...hint];
  const challenge = (scheme: string, ...params: readonly string[]) => [scheme, params.join(', ')].join(' ').trimEnd();
  if (problem === 'credential_missing') {
    const algorithms = `algs="${PROOF_ALGORITHMS.join(' ')}"`;
    return [
      challenge('Bearer', ...metadata),
      ...(dpop === undefined ? [] : [challenge('DPoP', algorithms, ...metadata)]),
    ];
  }
  const [scheme, rest] =
    dpop === undefined ? ['Bearer', metadata] : ['DPoP', [`algs="${PROOF_ALGORITHMS.join(' ')}"`, ...metadata]];
  if (problem === 'credential_invalid') {
    const error = dpop === 'proof_rejected' ? 'invalid_dpop_proof' : 'invalid_token';
    return [challenge(scheme, `error="${error}"`, ...rest)];
  }
  return problem === 'scope_missing'
    ? [challenge(scheme, 'error="insufficient_scope"', `scope="${scope}"`, ...rest)]
    : [];
}

/**
 * Creates the headers of all responses of a REST interface.
 * @param isPublic whether pages of all origins can read them. Cookies are not accepted there.
 */
export const createApiHeaders = (hsts: string | undefined, isPublic: boolean): readonly string[] =>
  Object.entries({
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': isPublic ? 'cross-origin' : 'same-origin',
    ...(isPublic && {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': `${EXPOSED_HEADERS}, WWW-Authenticate`,
    }),
    ...(hsts !== undefined && { 'Strict-Transport-Security': hsts }),
  }).flat();

/** Creates the rate limit headers: three single values, and the same as structured fields (IETF draft). */
export const createRateHeaders = (
  { limit, remaining, resetSeconds }: RateDecision,
  { rateWindowSeconds }: Pick<Config, 'rateWindowSeconds'>,
): readonly string[] => [
  'RateLimit-Limit',
  String(limit),
  'RateLimit-Remaining',
  String(remaining),
  'RateLimit-Reset',
  String(resetSeconds),
  'RateLimit-Policy',
  `"default";q=${limit};w=${rateWindowSeconds}`,
  'RateLimit',
  `"default";r=${remaining};t=${resetSeconds}`,
];

/** The headers that pages of other origins can read (CORS). */
export const EXPOSED_HEADERS =
  'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, RateLimit, Retry-After, X-Request-Id';

export const byteLength = (body: NonNullable<Reply['body']>): number =>
  typeof body === 'string' || Buffer.isBuffer(body)
    ? Buffer.byteLength(body)
    : body.reduce((sum, piece) => sum + piece.length, 0);

/** Builds all headers of a response: the common ones, then those of the reply. Names and values alternate. */
export function buildHeaders(reply: Reply, requestIds: RequestIds, common: readonly string[]): string[] {
  const headers = [...common, 'X-Request-Id', shownRequestId(requestIds)];
  headers.push('Cache-Control', reply.cacheControl ?? 'no-store');
  if (reply.headers !== undefined) headers.push(...reply.headers);
  if (reply.contentType !== undefined) headers.push('Content-Type', reply.contentType);
  if (reply.body !== undefined) headers.push('Content-Length', String(byteLength(reply.body)));
  return headers;
}

/** Writes a response. HEAD gets the headers of GET without the body. */
export function send(res: ServerResponse, reply: Reply, headers: string[], isHead: boolean): void {
  res.writeHead(reply.status, headers);
  const body = isHead ? undefined : reply.body;
  if (Array.isArray(body)) void writePieces(res, body);
  else res.end(body);
}

/** Sets headers on a response that other code writes. Names and values alternate. */
export function setHeaders(res: ServerResponse, pairs: readonly string[]): void {
  for (let i = 0; i + 1 < pairs.length; i += 2) res.setHeader(pairs[i] ?? '', pairs[i + 1] ?? '');
}
