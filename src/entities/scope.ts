/** What a credential may do (spec 5), in the order answers list them. */
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
