import { z } from 'zod';
import type { oas31 } from 'zod-openapi';
import { ProblemError, type ValidationEntry } from '../problems/error.ts';
import { PROBLEMS, type ProblemCode } from '../problems/catalogue.ts';
import { createProblemDocument } from '../procedures/problem-details.ts';
import { RESPONSE_HEADERS, problemHeaders } from './openapi-components.ts';
import { problemExample, REQUEST_IDS } from './openapi-examples.ts';
import type { FaceSettings } from './face-settings.ts';
import type { Route } from './routes.ts';

/** Errors that every operation shares. Those of the HTTP parser and of unknown paths belong to no operation. */
export const SHARED_ERRORS: readonly ProblemCode[] = [
  'malformed_request',
  'credential_missing',
  'credential_invalid',
  'rate_limited',
  'route_not_found',
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
];

/** Returns the codes of all errors that an operation can respond with. */
export function operationErrors(route: Route): ProblemCode[] {
  const { access, effect = 'none', errors = [] } = route.meta;
  const { input, isClosed, pathParams, hasBody, takesIdempotencyKey } = route;
  const codes = new Set<ProblemCode>([
    ...SHARED_ERRORS,
    ...(access === undefined || access.scope === null ? [] : (['scope_missing'] as const)),
    ...(access?.isOperatorApi ? (['address_not_allowed'] as const) : []),
    ...(access?.accountLevel ? (['team_credential_refused'] as const) : []),
    ...(input === undefined && !isClosed ? [] : (['validation_failed'] as const)),
    ...(hasBody ? (['malformed_json', 'body_too_large', 'unsupported_media_type'] as const) : []),
    ...(route.meta.upload ? (['body_too_large', 'unsupported_media_type'] as const) : []),
    ...(takesIdempotencyKey ? (['idempotency_key_reused'] as const) : []),
    ...(pathParams.includes('teamId') && !access?.isOperatorApi ? (['team_not_found'] as const) : []),
    ...(access?.permission ? (['permission_missing'] as const) : []),
    // Of first-party tokens.
    ...(effect !== 'none' && !access?.isOperatorApi ? (['proof_required'] as const) : []),
    ...errors,
  ]);
  return (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => codes.has(code)); // in the order of the catalogue
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The credential is missing, malformed, expired or revoked.',
  403: 'The credential or the caller is not allowed to do this, or a limit is reached.',
  404: 'It does not exist, or the credential has no access.',
  409: 'It conflicts with the present state.',
  410: 'It existed, and is no longer available.',
  412: 'It was changed since the version in `If-Match`.',
  428: 'A header with a condition is required.',
  429: 'The rate limit is exceeded.',
};

/** Describes the error responses of an operation: the statuses of its interface, and all others as `default`. */
export function errorResponses(
  { statuses, declaresUnused }: FaceSettings,
  route: Route,
  baseUrl: string,
): Record<string, oas31.ResponseObject> {
  const codes = operationErrors(route);
  const responses: Record<string, oas31.ResponseObject> = {};
  for (const status of statuses) {
    const own = codes.filter((code) => PROBLEMS[code][0] === status && code !== 'route_not_found');
    if (own.length === 0 && !declaresUnused) continue;
    responses[status] = response(
      own.length === 0
        ? 'The contract allows this status; this operation does not respond with it.'
        : (DESCRIPTIONS[status] ?? ''),
      { ...RESPONSE_HEADERS, ...problemHeaders(status) },
      own.map((code) => [code, ownExample(code, route, baseUrl)]),
    );
  }
  const others = codes.filter((code) => !statuses.includes(PROBLEMS[code][0]));
  responses['default'] = response(
    'Another error. A 503 has `Retry-After`.',
    problemHeaders('default'),
    others.map((code) => [code, ownExample(code, route, baseUrl)]),
  );
  return responses;
}

const response = (
  description: string,
  headers: oas31.HeadersObject,
  examples: [ProblemCode, oas31.ExampleObject][],
): oas31.ResponseObject => ({
  description: [description, ...examples.map(([code]) => `- \`${code}\`: ${PROBLEMS[code][1]}`)].join('\n'),
  headers,
  content: {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
    },
  },
});

/** Returns an example that names the scope, permission or field of the operation where the code is about one. */
function ownExample(code: ProblemCode, { meta: { access }, input, locationOf }: Route, baseUrl: string) {
  const create = (detail: string | undefined, errors?: readonly ValidationEntry[]) =>
    createProblemDocument(new ProblemError(code, detail, errors && { errors }), baseUrl, REQUEST_IDS);
  const [, title, advice] = PROBLEMS[code];
  const [field] = Object.keys(input?.shape ?? {}).toSorted((a, b) => rank(locationOf(a)) - rank(locationOf(b)));
  const value =
    code === 'scope_missing'
      ? create(
          `${access?.isOperatorApi ? 'An operator key' : 'A credential'} with the scope ${access?.scope} is required.`,
        )
      : code === 'permission_missing' && access?.permission
        ? create(`Your role needs the permission \`${access.permission}\`.`)
        : code === 'validation_failed' && field !== undefined
          ? create(undefined, [exampleEntry(field, locationOf(field), input?.shape[field])])
          : problemExample(code, baseUrl);
  return { summary: title, description: advice, value };
}

const rank = (location: ValidationEntry['in']): number => (location === 'body' ? 0 : 1);

const exampleEntry = (field: string, location: ValidationEntry['in'], schema: unknown): ValidationEntry =>
  location === 'body' && schema instanceof z.ZodType && !schema.safeParse(undefined).success
    ? { in: location, pointer: `/${field}`, code: 'required' }
    : { in: location, pointer: `/${field}`, code: 'max_length', params: { max: 255 } };
