import { TRPCError } from '@trpc/server';
import { PROBLEMS, type ProblemCode } from './catalogue.ts';

/** One invalid value of a request (spec 7). `pointer` is an RFC 6901 pointer. */
export type ValidationEntry = {
  in: 'body' | 'query' | 'path' | 'header' | 'cookie';
  pointer: string;
  code:
    | 'required'
    | 'invalid_type'
    | 'invalid_value'
    | 'invalid_format'
    | 'min_length'
    | 'max_length'
    | 'min_value'
    | 'max_value';
  params?: Record<string, string | number>;
};

const TRPC_CODES: Record<number, TRPCError['code']> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

type ProblemExtras = {
  /** The oldest cursor that is still valid. */
  oldestCursor?: string;
  errors?: readonly ValidationEntry[];
  retryAfter?: number;
  /** The scope that the credential lacks, for the challenge of RFC 6750. */
  scope?: string;
  /** The state of DPoP for the challenge (RFC 9449, section 7.1): supported, used, or used with an invalid proof. */
  dpop?: 'offered' | 'used' | 'proof_rejected';
  /** The methods of the path, for `Allow`. */
  allow?: string;
  /** The audit event of the denial, if the code alone does not imply one. */
  denial?: 'access.denied' | 'attempts.throttled';
  /** The account that the caller tried to access. Only for the audit log. */
  accountId?: string;
  /** The credential that was not accepted. Only for the audit log. */
  credentialId?: string;
  cause?: unknown;
};

/**
 * An error for the client. `detail` must not contain data of other users; clients branch on `code`.
 * tRPC callers also get the tRPC code that matches the status.
 */
export class ProblemError extends TRPCError {
  readonly problem: ProblemCode;
  readonly extras: ProblemExtras;

  constructor(problem: ProblemCode, detail?: string, extras: ProblemExtras = {}) {
    const [status, title] = PROBLEMS[problem];
    super({
      code: TRPC_CODES[status] ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'),
      message: detail ?? `${title}.`,
      cause: extras.cause,
    });
    this.problem = problem;
    this.extras = extras;
  }
}

/** Creates a 400 for one invalid value that the input schema cannot detect. */
export const invalidInput = (
  pointer: string,
  detail: string,
  code: ValidationEntry['code'] = 'invalid_value',
  location: ValidationEntry['in'] = 'body',
  params?: ValidationEntry['params'],
): ProblemError =>
  new ProblemError('validation_failed', detail, {
    errors: [{ in: location, pointer, code, ...(params && { params }) }],
  });
