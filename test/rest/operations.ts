/** Section 5, in its order. */
export const ALL_SCOPES = [
  'profile:read',
  'profile:write',
  'teams:read',
  'teams:write',
  'members:read',
  'members:write',
  'invites:write',
  'billing:read',
  'api-keys:read',
  'api-keys:write',
] as const;

/** Those that no team credential holds. */
export const ACCOUNT_ONLY_SCOPES = ['profile:read', 'profile:write', 'api-keys:read', 'api-keys:write'] as const;

/** Section 2.10. */
export const ALL_PERMISSIONS = [
  'edit_team_settings',
  'access_dashboard',
  'remove_members',
  'invite_members',
  'access_billing',
  'manage_api_keys',
] as const;

/**
 * The specification's endpoint table (section 4), typed by hand and not derived from the code: what
 * the suites hold the service to.
 */
export type Operation = {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Null: any credential. */
  readonly scope: (typeof ALL_SCOPES)[number] | null;
  readonly status: 200 | 201;
  readonly accountLevel: boolean;
  readonly permission: (typeof ALL_PERMISSIONS)[number] | null;
  /** A body that the operation accepts. */
  readonly body?: Readonly<Record<string, unknown>>;
};

type Rules = {
  readonly status?: 201;
  readonly account?: true;
  readonly needs?: (typeof ALL_PERMISSIONS)[number];
  readonly body?: Readonly<Record<string, unknown>>;
};

function row(id: string, endpoint: string, scope: Operation['scope'], rules: Rules = {}): Operation {
  const [method, path] = endpoint.split(' ') as [Operation['method'], string]; // as the rows below are written
  const { status = 200, account: accountLevel = false, needs: permission = null, body } = rules;
  const fixed = { id, method, path: `/api/v1${path}`, scope, status, accountLevel, permission } as const;
  return body === undefined ? fixed : { ...fixed, body };
}

const names = { firstName: 'Ada', lastName: 'Lovelace' };
const team = { name: 'Rockets' };
// To the role that anybody with the permission may grant.
const invitation = { email: 'ada@example.com', roleId: 'guest' };
const key = { name: 'A key', scopes: ['api-keys:write'] };
const teamKey = { name: 'A key', scopes: ['teams:read'], teamId: '{teamId}' };

const ROLES = '/teams/{teamId}/roles';
const MEMBERS = '/teams/{teamId}/members';
const INVITATIONS = '/teams/{teamId}/invitations';

// prettier-ignore
export const OPERATIONS: readonly Operation[] = [
  row('getCredential', 'GET /credential', null),
  row('getMe', 'GET /me', 'profile:read', { account: true }),
  row('updateMe', 'PATCH /me', 'profile:write', { account: true, body: names }),
  row('listMySessions', 'GET /me/sessions', 'profile:read', { account: true }),
  row('revokeMySession', 'DELETE /me/sessions/{sessionId}', 'profile:write', { account: true }),
  row('listTeams', 'GET /teams', 'teams:read'),
  row('createTeam', 'POST /teams', 'teams:write', { status: 201, account: true, body: team }),
  row('getTeam', 'GET /teams/{teamId}', 'teams:read'),
  row('updateTeam', 'PATCH /teams/{teamId}', 'teams:write', { needs: 'edit_team_settings', body: team }),
  row('listTeamMembers', `GET ${MEMBERS}`, 'members:read', { needs: 'access_dashboard' }),
  row('removeTeamMember', `DELETE ${MEMBERS}/{userId}`, 'members:write', { needs: 'remove_members' }),
  row('listTeamRoles', `GET ${ROLES}`, 'members:read', { needs: 'access_dashboard' }),
  // Without `invite_members` the response is an empty list, not an error (4.13).
  row('listTeamInvitations', `GET ${INVITATIONS}`, 'members:read'),
  row('createTeamInvitation', `POST ${INVITATIONS}`, 'invites:write', { status: 201, needs: 'invite_members', body: invitation }),
  row('revokeTeamInvitation', `DELETE ${INVITATIONS}/{invitationId}`, 'invites:write', { needs: 'invite_members' }),
  row('getTeamBilling', 'GET /teams/{teamId}/billing', 'billing:read', { needs: 'access_billing' }),
  row('listApiKeys', 'GET /api-keys', 'api-keys:read', { account: true }),
  row('createApiKey', 'POST /api-keys', 'api-keys:write', { status: 201, account: true, body: key }),
  row('updateApiKey', 'PATCH /api-keys/{keyId}', 'api-keys:write', { account: true, body: { scopes: key.scopes } }),
  row('revokeApiKey', 'DELETE /api-keys/{keyId}', 'api-keys:write', { account: true }),
];

/** The two operations that can name a team in their query or body, as they are when they do (4.17, 4.18). */
// prettier-ignore
export const KEYS_OF_A_TEAM: readonly Operation[] = [
  row('listApiKeys', 'GET /api-keys?teamId={teamId}', 'api-keys:read', { account: true, needs: 'manage_api_keys' }),
  row('createApiKey', 'POST /api-keys', 'api-keys:write', { status: 201, account: true, needs: 'manage_api_keys', body: teamKey }),
];

/** The row of an operation. */
export function operationOf(id: string): Operation {
  const found = OPERATIONS.find((operation) => operation.id === id);
  if (found === undefined) throw new Error(`The specification has no ${id}.`);
  return found;
}
