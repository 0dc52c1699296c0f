/**
 * All errors that clients receive: status, title and advice.
 * The key is the `code` that clients branch on: keys can be added, but never renamed or reused.
 */
export const PROBLEMS = {
  validation_failed: [
    400,
    'Invalid request',
    'Correct the values that `errors` lists. Each entry has a location (`in`, `pointer`), a `code` and its `params`.',
  ],
  malformed_json: [400, 'Malformed JSON', 'Send a body that is valid JSON, encoded as UTF-8.'],
  malformed_request: [400, 'Malformed HTTP request', 'Check your HTTP client and any proxy in front of this server.'],
  idempotency_key_reused: [
    400,
    'Idempotency key reused',
    'Send a new `Idempotency-Key` for a new request. Send the same one only to repeat the same request.',
  ],
  permission_not_allowed: [
    403,
    'Permission not allowed',
    'Name only permissions that your role and the calling credential have.',
  ],
  permission_held: [
    409,
    'Permission is held',
    'Decide in `removals` whether the permission is dropped or replaced, then apply the catalogue again.',
  ],
  batch_too_large: [400, 'Batch too large', 'Send at most 20 calls in one batch, and long lists alone.'],
  credential_missing: [
    401,
    'Credential required',
    'Send `Authorization: Bearer <API key or access token>`. Credentials in the query or the body are ignored.',
  ],
  credential_invalid: [
    401,
    'Invalid credential',
    'Create a new API key or refresh the access token. The credential is malformed, unknown, expired or revoked.',
  ],
  address_not_allowed: [
    403,
    'IP address not allowed',
    'Call from an address that the operator key allows, or change its list with a new key.',
  ],
  operator_key_not_found: [404, 'Operator key not found', 'Check the key id. It does not exist or was revoked.'],
  operator_key_limit_reached: [403, 'Operator key limit reached', 'Revoke operator keys that are no longer used.'],
  sign_in_failed: [
    401,
    'Sign-in failed',
    'The email or password is incorrect. Try again, request a sign-in link, or reset your password.',
  ],
  passkey_refused: [401, 'Passkey not accepted', 'Try again, or sign in with your password.'],
  session_required: [403, 'User session required', 'Sign in. API keys and OAuth tokens are not accepted.'],
  cross_site_request: [
    403,
    'Cross-site request',
    'Send requests with a session cookie from this origin only. Use a bearer credential from other origins.',
  ],
  proof_required: [
    403,
    'Reauthentication required',
    'Confirm your identity with `account.prove`, `passkeys.prove` or a sign-in link, then repeat the call within 10 minutes. A first-party application sends its user to `/oauth/authorize` with `max_age=0`, and repeats the call with the new token.',
  ],
  password_wrong: [403, 'Incorrect password', 'Enter the current password of the account.'],
  password_required: [
    403,
    'Password required',
    'Enter the password chosen at sign-up, or choose a new one. The link was opened in a different browser.',
  ],
  email_not_verified: [
    403,
    'Email address not verified',
    'Open the link in the verification email, or request a new one.',
  ],
  sign_up_closed: [403, 'Sign-up is disabled', 'Ask a team member for an invitation, or the operator for an account.'],
  signature_invalid: [
    403,
    'Invalid signature',
    'Sign the body with the key that `GitHub-Public-Key-Identifier` names, and send it unchanged.',
  ],
  cursor_expired: [
    410,
    'Cursor expired',
    'Continue with `oldestCursor`, which the error contains, and read again what your application keeps.',
  ],
  link_invalid: [404, 'Invalid or expired link', 'Request a new link. It was used, has expired, or was replaced.'],
  invitation_for_another: [403, 'Invitation for another email', 'Sign in with the email address that was invited.'],
  account_disabled: [
    403,
    'Account disabled',
    'Ask the operator to enable the account, then open the invitation again.',
  ],
  account_exists: [409, 'Account already exists', 'Sign in, then open the invitation again.'],
  already_taken: [409, 'Already in use', 'Choose another value for the field in `detail`, or use what has it already.'],
  version_mismatch: [412, 'Changed meanwhile', 'Read the resource again, and send the change with its present `ETag`.'],
  account_owns_teams: [
    409,
    'Account owns shared teams',
    'Transfer or delete the teams that it owns and that have other members.',
  ],
  last_operator: [
    409,
    'Last operator',
    'Create another operator first: `roster account create --role admin`. The command line can delete the last one.',
  ],
  export_running: [
    409,
    'Another export is running',
    'Wait for your other export to end, or stop it. Each operator can run one at a time.',
  ],
  owner_cannot_leave: [403, 'The owner cannot leave', 'Transfer the ownership, or delete the team.'],
  transfer_not_found: [
    404,
    'Ownership transfer not found',
    'Request a new transfer. It was cancelled, has expired, or is for a different user.',
  ],
  authorization_not_found: [
    404,
    'Authorization request not found',
    'Start again from the application. It was already answered, has expired, or was started in another browser.',
  ],
  account_not_found: [404, 'Account not found', 'Check the account id. The account does not exist or was deleted.'],
  account_changed: [409, 'Signed in as a different user', 'Reload the page and review the request.'],
  grant_not_found: [
    404,
    'Grant not found',
    'Check the grant id. It does not exist, was revoked, or belongs to another account.',
  ],
  client_not_found: [
    404,
    'OAuth client not found',
    'Check the client id. It does not exist, was deleted, or belongs to another account.',
  ],
  client_limit_reached: [403, 'OAuth client limit reached', 'Delete OAuth clients that are no longer used.'],
  role_not_found: [404, 'Role not found', 'Check the role id. The team has no custom role with this id.'],
  passkey_not_found: [404, 'Passkey not found', 'Reload the list. The passkey does not exist or was removed.'],
  scope_missing: [403, 'Missing scope', 'Use a credential that has the scope in `detail`.'],
  team_credential_refused: [
    403,
    'Team credential not accepted',
    'Use a personal API key, or a grant for the account. The operation concerns a whole account.',
  ],
  permission_missing: [
    403,
    'Missing permission',
    'Ask the owner of the team for a role with the permission in `detail`.',
  ],
  team_limit_reached: [403, 'Team limit reached', 'Delete or transfer a team, or ask the operator to raise the limit.'],
  seat_limit_reached: [
    403,
    'Seat limit reached',
    'Free a seat, or change the plan. Active members and pending invitations each use one seat.',
  ],
  key_limit_reached: [403, 'API key limit reached', 'Revoke API keys that are no longer used.'],
  role_not_assignable: [403, 'Role not assignable', 'Choose a role whose `isAssignable` is true in the list of roles.'],
  owner_not_removable: [403, 'Owner cannot be removed', 'Transfer the ownership of the team first.'],
  scope_not_allowed: [403, 'Scope not allowed', 'Request only scopes that the calling credential has.'],
  scope_account_only: [
    403,
    'Account-only scope',
    'Remove the account-only scopes in `detail`. A team key cannot have them.',
  ],
  team_not_found: [
    404,
    'Team not found',
    'Check the team id. The team does not exist, or the credential has no access.',
  ],
  member_not_found: [404, 'Member not found', 'Check the user id. The user is not a member of this team.'],
  invitation_not_found: [
    404,
    'Invitation not found',
    'Check the invitation id. It does not exist, was accepted, or was revoked.',
  ],
  webhook_endpoint_not_found: [
    404,
    'Webhook endpoint not found',
    'Check the endpoint id. It does not exist, was deleted, or belongs to another team.',
  ],
  webhook_delivery_not_found: [404, 'Delivery not found', 'Check the delivery id. Deliveries are kept for 30 days.'],
  webhook_limit_reached: [403, 'Webhook endpoint limit reached', 'Delete webhook endpoints that are no longer used.'],
  import_running: [409, 'Import already running', 'Wait until the import in `detail` has ended, then send the rows.'],
  import_not_found: [404, 'Import not found', 'Check the id, and use the operator key that started the import.'],
  webhook_without_member: [
    409,
    'Nobody is responsible for the endpoint',
    'Set its URL or types, or rotate its secret. This makes you responsible.',
  ],
  webhook_inactive: [409, 'Webhook endpoint not active', 'Resume the webhook endpoint first.'],
  api_key_not_found: [
    404,
    'API key not found',
    'Check the key id. It does not exist, was revoked, or belongs to another account.',
  ],
  route_not_found: [404, 'Path not found', 'See /api/v1/openapi.json for all paths. They are case-sensitive.'],
  method_not_allowed: [405, 'Method not allowed', 'Use one of the methods in the `Allow` header.'],
  request_timeout: [408, 'Request timeout', 'Send the whole request without long pauses.'],
  picture_not_found: [404, 'Picture not found', 'Read its URL again. The picture was replaced or removed.'],
  picture_rejected: [
    400,
    'Picture not accepted',
    'Send a JPEG, PNG or WebP picture of at most 2 MiB and 25 million pixels.',
  ],
  picture_unreachable: [
    400,
    'Picture not reachable',
    'Check the URL. A public server has to send a picture of at most 2 MiB over https, within 10 seconds and without a redirect.',
  ],
  body_too_large: [413, 'Body too large', 'Send at most 100 KiB, or 2 MiB for a picture.'],
  unsupported_media_type: [
    415,
    'Unsupported media type',
    'Send `Content-Type: application/json`, without compression.',
  ],
  rate_limited: [
    429,
    'Too many requests',
    'Wait for `Retry-After` seconds. `RateLimit-Remaining` is the number of requests left.',
  ],
  headers_too_large: [431, 'Request headers too large', 'Send at most 16 KiB of headers.'],
  internal_error: [500, 'Internal server error', 'Include `requestId` when you report it. The error was logged.'],
  service_unavailable: [503, 'Service unavailable', 'Try again after `Retry-After` seconds.'],
} as const satisfies Record<string, readonly [status: number, title: string, advice: string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Returns the slug of `GET /problems/<slug>` for a code. It is the last segment of a document's `type`. */
export const problemSlug = (code: ProblemCode): string => code.replaceAll('_', '-');
