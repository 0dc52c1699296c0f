import type { SecuritySchemeObject } from 'trpc-to-openapi';
import { z } from 'zod';
import { createSchema, type oas31 } from 'zod-openapi';
import { SCOPE_MEANINGS } from '../auth/scopes.ts';
import { secretPattern } from '../crypto/tokens.ts';
import { IDEMPOTENCY_KEY } from '../procedures/idempotency-key.ts';
import { PROBLEMS, type ProblemCode } from '../problems/catalogue.ts';
import { REQUEST_IDS } from './openapi-examples.ts';

const codes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]; // Object.keys widens the keys to string

const validationEntry = z
  .object({
    in: z.enum(['body', 'query', 'path', 'header', 'cookie']).meta({ description: 'The part of the request.' }),
    pointer: z.string().meta({
      description: 'An RFC 6901 pointer: into the body, or `/<name>` of a parameter. Empty for the whole body.',
      examples: ['/scopes/2'],
    }),
    code: z
      .enum([
        'required',
        'invalid_type',
        'invalid_value',
        'invalid_format',
        'min_length',
        'max_length',
        'min_value',
        'max_value',
      ])
      .meta({ description: 'The rule that the value violates.' }),
    params: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .optional()
      .meta({ description: 'The bound, type, format or values that the rule names.' }),
  })
  .meta({ id: 'ValidationEntry', description: 'One invalid value of a request.' });

const problem = z
  .object({
    type: z.string().meta({ format: 'uri', description: 'A page that explains the code.' }),
    title: z.string().meta({ description: 'A summary, the same for every problem of one code.' }),
    status: z.int().min(400).max(599).meta({ description: 'The HTTP status.' }),
    code: z
      .union([z.enum(codes), z.string()])
      .meta({ description: 'A stable identifier for clients to branch on. New ones can be added.' }),
    detail: z.string().meta({ description: 'A description of this occurrence, for humans.' }),
    requestId: z
      .string()
      .optional()
      .meta({ description: 'Equals `X-Request-Id`. Include it when you report an error.' }),
    retryAfter: z.number().min(0).optional().meta({ description: 'Equals `Retry-After`: seconds to wait.' }),
    errors: z.array(validationEntry).optional().meta({ description: 'All invalid values of the request.' }),
  })
  .meta({ id: 'Problem', description: 'An error (RFC 9457).' });

export const PROBLEM_SCHEMAS = createSchema(problem, { io: 'output' }).components;

export const OPERATOR_PROBLEM_SCHEMAS = createSchema(
  problem
    .extend({
      oldestCursor: z
        .string()
        .optional()
        .meta({ description: 'With `cursor_expired`: the oldest cursor that is still valid.' }),
    })
    .meta({ id: 'Problem', description: 'An error (RFC 9457).' }),
  { io: 'output' },
).components;

const count = (description: string, example: number): oas31.HeaderObject => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
  example,
});

export const HEADERS = {
  'RateLimit-Limit': count('Requests allowed in one window of the rate limit.', 300),
  'RateLimit-Remaining': count('Requests left in the window.', 299),
  'RateLimit-Reset': count('Seconds until the window resets.', 60),
  'RateLimit-Policy': {
    description: 'The limit as a structured field (IETF draft): `q` requests in `w` seconds.',
    required: true,
    schema: { type: 'string' },
    example: '"default";q=300;w=60',
  },
  RateLimit: {
    description:
      'The state as a structured field (IETF draft): `r` requests left, `t` seconds until the window resets.',
    required: true,
    schema: { type: 'string' },
    example: '"default";r=299;t=42',
  },
  'X-Request-Id': {
    description: "The id of the request: the client's own, if it sent a valid one.",
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: REQUEST_IDS.requestId,
  },
  'Retry-After': count('Seconds to wait before the next request.', 12),
  'WWW-Authenticate': {
    description: 'The required credential (RFC 6750), and the URL of the metadata on how to get one (RFC 9728).',
    schema: { type: 'string' },
    example: 'Bearer error="invalid_token"',
  },
} satisfies Record<string, oas31.HeaderObject>;

export const IDEMPOTENCY_KEY_HEADER: oas31.ParameterObject = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  description:
    'A key of your choice, quoted or bare, for a request that can be repeated safely: for 24 hours, the same key with the same body gets the same response, and the request takes effect once.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
};

export const IF_MATCH_HEADER: oas31.ParameterObject = {
  name: 'If-Match',
  in: 'header',
  description: 'The `ETag` that you have read: with another one now, nothing changes and the response is 412.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '"7"',
};

export const ETAG_HEADER = {
  ETag: { description: 'The version of the resource.', required: true, schema: { type: 'string' }, example: '"7"' },
} satisfies oas31.HeadersObject;

const header = (name: keyof typeof HEADERS) => ({ [name]: { $ref: `#/components/headers/${name}` } });
const optional = (name: keyof typeof HEADERS) => ({ [name]: { ...HEADERS[name], required: false } });

/** The headers of all responses. */
export const RESPONSE_HEADERS = {
  ...header('RateLimit-Limit'),
  ...header('RateLimit-Remaining'),
  ...header('RateLimit-Reset'),
  ...header('RateLimit-Policy'),
  ...header('RateLimit'),
  ...header('X-Request-Id'),
};

/** Responses to requests that the HTTP parser rejects have no rate limit headers, because they belong to no bucket. */
const OTHER_HEADERS = {
  ...optional('RateLimit-Limit'),
  ...optional('RateLimit-Remaining'),
  ...optional('RateLimit-Reset'),
  ...optional('RateLimit-Policy'),
  ...optional('RateLimit'),
  ...header('X-Request-Id'),
  ...optional('Retry-After'),
  Allow: {
    description: 'With 405: the methods of the path.',
    schema: { type: 'string' },
    example: 'GET, HEAD, OPTIONS',
  },
} satisfies oas31.HeadersObject;

/** The headers of an error response besides those of all responses; `default` stands for all other statuses. */
export const problemHeaders = (status: number | 'default'): oas31.HeadersObject =>
  status === 'default'
    ? OTHER_HEADERS
    : {
        ...(status === 401 || status === 403 ? header('WWW-Authenticate') : {}),
        ...(status === 429 ? header('Retry-After') : {}),
      };

export function securitySchemes(baseUrl: string, tokenBrand: string): Record<string, SecuritySchemeObject> {
  const pattern = secretPattern(tokenBrand).source.replace(/^\^|\$$/g, '');
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: `${tokenBrand}_<kind>_<49 letters and digits>`,
      description: `An API key, or an OAuth 2.1 access token.

Keys begin with \`${tokenBrand}_pk_\` (the whole account) or \`${tokenBrand}_tk_\` (one team), access tokens with
\`${tokenBrand}_at_\`; 43 random letters and digits follow, and 6 that are a checksum. Secret scanners find all secrets of
this service by the regular expression \`${pattern}\`.`,
    },
    oauth2: {
      type: 'oauth2',
      description:
        'The authorization code flow with PKCE (S256). The user selects the whole account or one team, and can clear scopes.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl: `${baseUrl}/oauth/token`,
          refreshUrl: `${baseUrl}/oauth/token`,
          scopes: { ...SCOPE_MEANINGS },
        },
      },
    },
  };
}
