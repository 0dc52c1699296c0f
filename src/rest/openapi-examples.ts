import { ProblemError } from '../problems/error.ts';
import type { ProblemCode } from '../problems/catalogue.ts';
import { createProblemDocument, type Problem } from '../procedures/problem-details.ts';

export const REQUEST_IDS = { requestId: '5f0c6c1e-3b0a-4f62-9d0c-2b6f0a1d7e44', clientRequestId: null };

const TEAM_ID = 'team_0cn7s5l4a9nkf9u7h2q0bf5m7e';
const USER_ID = 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol';
const CREATED_AT = '2026-11-21T09:30:00.000Z';

/** Descriptions and examples of parameters by name, or by `<operationId>.<name>` if one operation differs. */
export const PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  teamId: { description: 'The id of a team.', example: TEAM_ID },
  userId: { description: 'The id of an account: the `userId` of a member.', example: USER_ID },
  sessionId: { description: 'The id of a session.', example: 'ses_0cn7rk6l2dve59a1qhm4pt8nfo' },
  invitationId: { description: 'The id of a pending invitation.', example: 'inv_0cn7t0b7u5smd9ck2rg1f9vhae' },
  keyId: { description: 'The id of an API key.', example: 'key_0cn7u8m1e4gqf97b0tsl6kd2pj' },
  'listApiKeys.teamId': {
    description: "A team, for its keys. Without it, the account's personal keys are listed.",
    example: TEAM_ID,
  },
};

const account = {
  id: USER_ID,
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  role: 'user',
  avatar: null,
  preferredLocale: 'en-GB',
  emailVerified: CREATED_AT,
  createdAt: CREATED_AT,
  updatedAt: '2026-11-21T10:05:12.345Z',
};

const team = {
  id: TEAM_ID,
  name: 'Analytical Engines',
  slug: 'analytical-engines',
  description: 'Mills, stores and cards.',
  avatarUrl: null,
  role: { id: 'owner', name: 'Owner' },
};

const member = {
  membershipId: 'mem_0cn7s5l4aqrkd9n2f3v8u6c1tg',
  userId: USER_ID,
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  avatar: null,
  roleId: 'owner',
  roleName: 'Owner',
  isSystemRole: true,
  isActive: true,
  joinedAt: CREATED_AT,
};

const apiKey = {
  id: 'key_0cn7u8m1e4gqf97b0tsl6kd2pj',
  name: 'Nightly report',
  keyPrefix: 'rst_pk_4fR9xQ',
  last4: '0kZ3',
  scopes: ['teams:read', 'members:read'],
  teamId: null,
  createdAt: CREATED_AT,
  lastUsedAt: '2026-11-21T11:42:00.000Z',
  expiresAt: '2027-02-19T09:30:00.000Z',
};

const done = { success: true };

/** Examples of each operation: a body, if it has one, and a response. */
export const EXAMPLES: Readonly<Record<string, { body?: unknown; answer: unknown }>> = {
  getCredential: {
    answer: { kind: 'api-key', audience: 'team', team: { id: TEAM_ID }, scopes: ['teams:read', 'members:read'] },
  },
  getMe: { answer: account },
  updateMe: { body: { firstName: 'Ada', lastName: 'Lovelace' }, answer: account },
  listMySessions: {
    answer: [
      {
        id: 'ses_0cn7rk6l2dve59a1qhm4pt8nfo',
        createdAt: CREATED_AT,
        expiresAt: '2026-12-21T09:30:00.000Z',
        isCurrentSession: false,
        authenticationType: 'password',
        country: null,
        city: null,
        browser: 'Firefox',
        os: 'Linux',
        deviceType: 'desktop',
      },
    ],
  },
  revokeMySession: { answer: done },
  listTeams: { answer: [team] },
  createTeam: { body: { name: 'Analytical Engines', description: 'Mills, stores and cards.' }, answer: team },
  getTeam: { answer: team },
  updateTeam: { body: { name: 'Difference Engines' }, answer: { ...team, name: 'Difference Engines' } },
  listTeamMembers: { answer: [member] },
  removeTeamMember: { answer: done },
  listTeamRoles: {
    answer: [
      {
        roleId: 'owner',
        name: 'Owner',
        isSystemRole: true,
        isAssignable: false,
        permissions: [
          'edit_team_settings',
          'access_dashboard',
          'remove_members',
          'invite_members',
          'access_billing',
          'manage_api_keys',
        ],
      },
      { roleId: 'member', name: 'Member', isSystemRole: true, isAssignable: true, permissions: ['access_dashboard'] },
      { roleId: 'guest', name: 'Guest', isSystemRole: true, isAssignable: true, permissions: [] },
      {
        roleId: 'role_0cn7sq3v6tp0l9e8a4kd7mh2ru',
        name: 'Recruiter',
        isSystemRole: false,
        isAssignable: true,
        permissions: ['access_dashboard', 'invite_members'],
      },
    ],
  },
  listTeamInvitations: {
    answer: [
      {
        id: 'inv_0cn7t0b7u5smd9ck2rg1f9vhae',
        email: 'charles@example.com',
        roleId: 'member',
        roleName: 'Member',
        isSystemRole: true,
        createdAt: CREATED_AT,
        expiresAt: '2026-11-28T09:30:00.000Z',
      },
    ],
  },
  createTeamInvitation: { body: { email: 'charles@example.com', roleId: 'member', isSystemRole: true }, answer: done },
  revokeTeamInvitation: { answer: done },
  getTeamBilling: {
    answer: {
      planId: 'pro',
      planName: 'Pro',
      status: 'active',
      interval: 'month',
      addons: { seats: 3 },
      planExpiresAt: '2026-12-21T09:30:00.000Z',
      cancelAtPeriodEnd: false,
      needsPaymentAction: false,
    },
  },
  listApiKeys: { answer: [apiKey] },
  createApiKey: {
    body: { name: 'Nightly report', scopes: ['teams:read', 'members:read'], expiresInDays: 90 },
    // Shortened, so that secret scanners ignore it.
    answer: { key: { ...apiKey, lastUsedAt: null }, secret: 'rst_pk_4fR9xQ…0kZ3' },
  },
  updateApiKey: { body: { scopes: ['teams:read'] }, answer: { ...apiKey, scopes: ['teams:read'] } },
  revokeApiKey: { answer: done },
};

type ProblemExample = { readonly detail?: string; readonly extras?: ProblemError['extras'] };

/** Details and extras in the examples of some codes. */
const PROBLEM_EXAMPLES: Readonly<Partial<Record<ProblemCode, ProblemExample>>> = {
  validation_failed: {
    extras: {
      errors: [
        { in: 'body', pointer: '/name', code: 'max_length', params: { max: 100 } },
        { in: 'body', pointer: '/scopes', code: 'required' },
      ],
    },
  },
  scope_missing: { detail: 'A credential with the scope teams:write is required.' },
  permission_missing: { detail: 'Your role needs the permission `edit_team_settings`.' },
  team_limit_reached: { detail: 'This account owns 10 teams; its limit is 10.' },
  seat_limit_reached: { detail: 'All 5 seats of the plan Free are taken by members and pending invitations.' },
  key_limit_reached: { detail: 'There are 1000 active keys; the limit is 1000.' },
  scope_not_allowed: { detail: 'The calling credential does not hold billing:read.' },
  scope_account_only: { detail: 'A team key cannot hold profile:read, api-keys:write.' },
  rate_limited: { extras: { retryAfter: 12 } },
  service_unavailable: { extras: { retryAfter: 1 } },
};

/** Creates an example document of a code. */
export function problemExample(code: ProblemCode, baseUrl: string): Problem {
  const { detail, extras } = PROBLEM_EXAMPLES[code] ?? {};
  return createProblemDocument(new ProblemError(code, detail, extras), baseUrl, REQUEST_IDS);
}
