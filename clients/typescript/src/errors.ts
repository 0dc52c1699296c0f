import type { Operations, Problem } from './generated/operations.ts';
import type { Operations as OperatorOperations } from './generated/operator.ts';

/** An operation of the REST API or the operator API. */
export type OperationName = keyof Operations | keyof OperatorOperations;

/** The known codes of an operation’s errors, in both APIs if both have it, and any other, because the list is open. */
export type ErrorCode<Name extends OperationName = OperationName> =
  | Operations[Name & keyof Operations]['errors']
  | OperatorOperations[Name & keyof OperatorOperations]['errors']
  | (string & {});

/** An error response of the service: a problem document (RFC 9457) with its HTTP status. */
export class RosterError<Code extends string = ErrorCode> extends Error {
  override readonly name = 'RosterError';
  /**
   * A stable identifier to branch on. `unknown_response` if it was no response of the service, `upload_interrupted` if an
   * upload lost its connection before its response.
   */
  readonly code: Code;
  /** 0 without a response. */
  readonly status: number;
  /** Include it when you report an error. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, if the service named them. */
  readonly retryAfter: number | undefined;
  /** The invalid values of the request, if `code` is `validation_failed`. */
  readonly errors: Problem['errors'];
  /** The oldest cursor of the feed that is still valid, if `code` is `cursor_expired`. */
  readonly oldestCursor: string | undefined;

  constructor(code: Code, problem: Partial<Problem> & { readonly status: number; readonly oldestCursor?: string }) {
    super(problem.detail ?? problem.title ?? `The service responded with the status ${problem.status}.`);
    this.code = code;
    this.status = problem.status;
    this.requestId = problem.requestId;
    this.retryAfter = problem.retryAfter;
    this.errors = problem.errors;
    this.oldestCursor = problem.oldestCursor;
  }
}

/**
 * Returns whether an error is a response of the service.
 * @param _operation the operation that was called, for the types of its codes
 */
export const isRosterError = <Name extends OperationName>(
  error: unknown,
  _operation?: Name,
): error is RosterError<ErrorCode<Name>> => error instanceof RosterError;

/** A response that was read. Its body is undefined if it is no JSON. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** Returns the error of a response. */
export function toRosterError(answer: Answer): RosterError {
  const { status, body } = answer;
  const seconds = retryAfterOf(answer);
  const detail = `The response with the status ${status} is not one of Roster: check baseUrl and proxies.`;
  const problem = isProblem(body) ? body : { code: 'unknown_response', detail };
  return new RosterError(problem.code, { ...problem, status, ...(seconds !== undefined && { retryAfter: seconds }) });
}

/**
 * Returns the seconds to wait: of `Retry-After`, which can be a date, or of a 429 without it those of `RateLimit` (IETF
 * draft) or `RateLimit-Reset`.
 */
export function retryAfterOf({ status, headers }: Pick<Answer, 'status' | 'headers'>): number | undefined {
  const after = headers.get('retry-after') ?? '';
  const reset = /;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? headers.get('ratelimit-reset');
  const found = [toSeconds(after), (Date.parse(after) - Date.now()) / 1000, status === 429 ? toSeconds(reset) : NaN];
  const seconds = found.find(Number.isFinite);
  return seconds === undefined ? undefined : Math.max(0, seconds);
}

const toSeconds = (text: string | null): number => (text !== null && /^\d+$/.test(text) ? Number(text) : NaN);

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string';
