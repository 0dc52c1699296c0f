import { TRPCError } from '@trpc/server';
import { ZodError } from 'zod';
import { isUnavailable } from '../db/errors.ts';
import { BusyError, CallerGoneError } from '../turns.ts';
import { shownRequestId, type RequestIds } from '../events/request-ids.ts';
import { ProblemError, type ValidationEntry } from '../problems/error.ts';
import { PROBLEMS, problemSlug, type ProblemCode } from '../problems/catalogue.ts';
import { REPORTED_MAX, toValidationEntries, type ParameterLocation } from './validation.ts';

/** An RFC 9457 document (spec 7). */
export type Problem = {
  type: string;
  title: string;
  status: number;
  code: ProblemCode;
  detail: string;
  requestId: string;
  retryAfter?: number;
  errors?: ValidationEntry[];
  /** Where a feed can be read from, if the cursor has expired. */
  oldestCursor?: string;
};

const NO_INPUT: Input = { raw: undefined, locationOf: () => 'body' };

/** `Retry-After` of a 503 if the database is unavailable, or busy with the same account or team. */
const RETRY_AFTER_SECONDS = 1;

/** The input of a failed call, for the entries of a validation error. */
type Input = { readonly raw: unknown; readonly locationOf: ParameterLocation };

/** Converts any error; unexpected ones become `internal_error`, with their cause for the log. */
export function toProblemError(error: unknown, input: Input = NO_INPUT): ProblemError {
  if (error instanceof ProblemError) return error;
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof ProblemError) return cause;
  if (error instanceof TRPCError && error.code === 'BAD_REQUEST' && cause instanceof ZodError) {
    return new ProblemError('validation_failed', undefined, {
      errors: toValidationEntries(cause.issues, input.raw, input.locationOf),
    });
  }
  if (error instanceof TRPCError && cause instanceof SyntaxError) return new ProblemError('malformed_json');
  if (cause instanceof CallerGoneError) return new ProblemError('request_timeout', cause.message);
  if (cause instanceof BusyError)
    return new ProblemError('service_unavailable', cause.message, { retryAfter: RETRY_AFTER_SECONDS });
  if (isUnavailable(cause))
    return new ProblemError('service_unavailable', undefined, { retryAfter: RETRY_AFTER_SECONDS, cause });
  const known = error instanceof TRPCError ? CODES_BY_TRPC_CODE[error.code] : undefined;
  return known === undefined
    ? new ProblemError('internal_error', undefined, { cause: cause ?? error })
    : new ProblemError(known);
}

/** Codes of errors that tRPC reports before it finds a procedure. */
const CODES_BY_TRPC_CODE: Partial<Record<TRPCError['code'], ProblemCode>> = {
  PARSE_ERROR: 'malformed_json',
  BAD_REQUEST: 'malformed_request',
  NOT_FOUND: 'route_not_found',
  METHOD_NOT_SUPPORTED: 'method_not_allowed',
  PAYLOAD_TOO_LARGE: 'body_too_large',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
};

/** Creates the document for the client. Title and status come from `PROBLEMS`. */
export function createProblemDocument(error: ProblemError, baseUrl: string, requestIds: RequestIds | null): Problem {
  const [status, title] = PROBLEMS[error.problem];
  const { errors, retryAfter, oldestCursor } = error.extras;
  return {
    type: `${baseUrl}/problems/${problemSlug(error.problem)}`,
    title,
    status,
    code: error.problem,
    detail:
      errors !== undefined && errors.length > REPORTED_MAX
        ? `${error.message} Only the first ${REPORTED_MAX} faults are in \`errors\`.`
        : error.message,
    requestId: requestIds === null ? '' : shownRequestId(requestIds),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(errors === undefined ? {} : { errors: errors.slice(0, REPORTED_MAX) }),
    ...(oldestCursor === undefined ? {} : { oldestCursor }),
  };
}
