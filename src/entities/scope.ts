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

/** The scopes as SQL literals, for CHECK constraints. */
export const quotedScopes = SCOPES.map((scope) => `'${scope}'`).join(', ');
