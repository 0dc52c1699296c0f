import { TRPCError } from '@trpc/server';

/**
 * Every failure a client can meet: status, title, and what to do about it.
 * The key is the stable `code` clients branch on: add keys freely, never rename or reuse one.
 */
export const PROBLEMS = {
  validation_failed: [
    400,
    'The request is not valid',
    'Correct what `errors` names. Each entry says where (`in`, `pointer`), what (`code`) and by which bound (`params`).',
  ],
  malformed_json: [400, 'The body is not JSON', 'Send a body that parses as JSON, encoded as UTF-8.'],
  malformed_request: [400, 'The request is not valid HTTP', 'Check what sits between your client and this server.'],
  batch_too_large: [400, 'Batch too large', 'Send at most 20 calls in one batch.'],
  credential_missing: [
    401,
    'A credential is required',
    'Send `Authorization: Bearer <API key or access token>`. Credentials in the query or the body are ignored.',
  ],
  credential_invalid: [
    401,
    'The credential is not valid',
    'It is malformed, unknown, expired or revoked. Create a new key, or refresh the access token.',
  ],
  sign_in_failed: [
    401,
    'Signing in failed',
    'The email or password is incorrect. Try again, request a sign-in link, or reset your password.',
  ],
  passkey_refused: [401, 'The passkey was not accepted', 'Try again, or sign in with the password.'],
  session_required: [403, 'Only a person who is signed in can do this', 'Sign in; keys and grants cannot do it.'],
  cross_site_request: [
    403,
    'The call came from another site',
    'Calls with a cookie have to come from this origin. Others use a bearer credential.',
  ],
  proof_required: [
    403,
    'Confirm that it is you',
    'Prove who you are with `account.prove`, `passkeys.prove` or a sign-in link, then repeat the call within 10 minutes.',
  ],
  password_wrong: [403, 'The password is not right', 'Enter the current password of the account.'],
  password_required: [
    403,
    'Password required',
    'The link was opened in another browser than the one that signed up. Enter the password chosen there, or choose a new one.',
  ],
  email_not_verified: [
    403,
    'Email address not verified',
    'Open the link in the verification email, or request a new one.',
  ],
  sign_up_closed: [403, 'Sign-up is disabled', 'Ask a team member for an invitation, or the operator for an account.'],
  link_invalid: [
    404,
    'The link does not work',
    'It was used, has expired, or was replaced by a newer one. Ask for a new one.',
  ],
  invitation_for_another: [403, 'The invitation is for another address', 'Sign in with the address that was invited.'],
  account_exists: [409, 'There is an account with this address', 'Sign in, then open the invitation again.'],
  account_owns_teams: [409, 'The account owns a team with other members', 'Transfer or delete the team first.'],
  owner_cannot_leave: [403, 'The owner cannot leave the team', 'Transfer the ownership, or delete the team.'],
  transfer_not_found: [
    404,
    'No such transfer of ownership',
    'It was withdrawn, has expired, or is meant for somebody else.',
  ],
  authorization_not_found: [
    404,
    'No such authorization request',
    'It was decided, has expired, or began in another browser. Start again from the application.',
  ],
  account_not_found: [404, 'No such account', 'It does not exist, or was deleted.'],
  account_changed: [409, 'Signed in as a different user', 'Reload the page and review the request.'],
  grant_not_found: [404, 'No such grant', 'It does not exist, was revoked, or belongs to another account.'],
  client_not_found: [404, 'No such client', 'It does not exist, was deleted, or belongs to another account.'],
  client_limit_reached: [403, 'Too many OAuth clients', 'Delete clients that are not used any more.'],
  role_not_found: [404, 'No such role', 'The team has no role of its own with this id.'],
  passkey_not_found: [404, 'No such passkey', 'It does not exist, or was removed.'],
  scope_missing: [403, 'The credential lacks a scope', 'Use a credential that holds the scope `detail` names.'],
  team_credential_refused: [
    403,
    'Team credentials cannot do this',
    'The operation concerns a whole account. Use a personal key, or a grant for the account.',
  ],
  permission_missing: [
    403,
    'Your role lacks a permission',
    'Ask the owner of the team for a role with the permission `detail` names.',
  ],
  team_limit_reached: [
    403,
    'The account is at its team limit',
    'Give up a team, or ask the operator for a higher limit.',
  ],
  seat_limit_reached: [
    403,
    'The team has no free seat',
    'Active members and pending invitations each take a seat. Free one, or change the plan.',
  ],
  key_limit_reached: [403, 'Too many active API keys', 'Revoke keys that are not used any more.'],
  role_not_assignable: [
    403,
    'You cannot grant this role',
    'Choose a role whose `isAssignable` is true in the list of roles.',
  ],
  owner_not_removable: [403, 'The owner cannot be removed', 'Transfer the ownership of the team first.'],
  scope_not_allowed: [403, 'Scopes beyond your own', 'A key cannot hold a scope that the calling credential lacks.'],
  scope_account_only: [403, 'Scopes a team key cannot hold', 'Leave out the account-only scopes `detail` names.'],
  team_not_found: [404, 'No such team', 'The team does not exist, or the credential cannot see it.'],
  member_not_found: [404, 'No such member', 'The user is not a member of this team.'],
  invitation_not_found: [404, 'No such invitation', 'It does not exist, was accepted, or was revoked.'],
  api_key_not_found: [404, 'No such API key', 'It does not exist, was revoked, or belongs to another account.'],
  route_not_found: [404, 'No such path', 'See /api/v1/openapi.json for the paths there are. They are case-sensitive.'],
  method_not_allowed: [405, 'Method not allowed', 'The `Allow` header lists the methods of this path.'],
  request_timeout: [408, 'The request took too long to arrive', 'Send the whole request without long pauses.'],
  body_too_large: [413, 'The body is too large', 'Send at most 100 KiB.'],
  unsupported_media_type: [
    415,
    'The body is not application/json',
    'Send `Content-Type: application/json`, not compressed.',
  ],
  rate_limited: [429, 'Too many requests', 'Wait for the seconds in `Retry-After`. `RateLimit-*` show what is left.'],
  headers_too_large: [431, 'The request headers are too large', 'Send at most 16 KiB of headers.'],
  internal_error: [500, 'Something went wrong here', 'It has been logged. Quote `requestId` when you report it.'],
  service_unavailable: [503, 'The service is not available', 'Wait for the seconds in `Retry-After`, then try again.'],
} as const satisfies Record<string, readonly [status: number, title: string, advice: string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** What `GET /problems/<slug>` is called for a code, and the last segment of a document's `type`. */
export const problemSlug = (code: ProblemCode): string => code.replaceAll('_', '-');

/** One fault of a request (spec 7). `pointer` is an RFC 6901 pointer. */
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
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

type ProblemExtras = {
  errors?: readonly ValidationEntry[];
  retryAfter?: number;
  /** The scope a credential lacks, for the challenge of RFC 6750. */
  scope?: string;
  /** What the challenge says of DPoP (RFC 9449, section 7.1): that it may be used, was used, or was used with a proof that is refused. */
  dpop?: 'offered' | 'used' | 'proof_refused';
  /** The methods a path has, for `Allow`. */
  allow?: string;
  /** What the audit log calls the refusal, where the code does not say that it is one. */
  refused?: 'access.denied' | 'attempts.throttled';
  /** Whose account somebody tried to get into, for the audit log alone. */
  accountId?: string;
  cause?: unknown;
};

/**
 * A refusal. `detail` is a sentence for people and names nobody else's data; `code` decides
 * everything else. tRPC callers get the matching tRPC code without a second table.
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

/** Creates a 400 for one invalid value that only the application can detect. */
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
