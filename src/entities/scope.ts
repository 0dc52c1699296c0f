/** The scopes of credentials (spec 5), in the order of responses. */
export const SCOPES = [
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
export type Scope = (typeof SCOPES)[number];

/** The scopes that apply to the whole account, which team credentials cannot have. */
export const ACCOUNT_ONLY_SCOPES: readonly Scope[] = [
  'profile:read',
  'profile:write',
  'api-keys:read',
  'api-keys:write',
];

/** The scopes as SQL literals, for CHECK constraints. */
export const quotedScopes = SCOPES.map((scope) => `'${scope}'`).join(', ');

/** The scopes of OpenID Connect. They are stored apart from those of the API. */
export const OPENID_SCOPES = ['openid', 'profile', 'email'] as const;
