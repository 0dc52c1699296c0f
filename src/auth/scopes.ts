import { ACCOUNT_ONLY_SCOPES, SCOPES, type Scope } from '../entities/index.ts';

/** The operations that each scope permits (section 5 of the API specification), for the documentation. */
export const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'profile:read': 'read account profile, sessions, preferences',
  'profile:write': 'update profile, revoke sessions',
  'teams:read': 'list teams and read details',
  'teams:write': 'create teams, change team details',
  'members:read': 'list members of teams (also roles and invitations)',
  'members:write': 'change and remove members',
  'invites:write': 'send and revoke invitations',
  'billing:read': 'read subscription and billing status',
  'api-keys:read': 'list API keys and last use',
  'api-keys:write': 'create, re-scope and revoke API keys',
};

/** Returns whether a scope applies to the whole account. Team credentials cannot have such a scope. */
export const isAccountOnly = (scope: Scope): boolean => ACCOUNT_ONLY_SCOPES.includes(scope);

/** Returns whether a scope permits only reading. */
export const isReadScope = (scope: Scope): boolean => scope.endsWith(':read');

/** Returns the scopes without duplicates, in the order of the specification. */
export const sortScopes = (scopes: readonly Scope[]): Scope[] => SCOPES.filter((scope) => scopes.includes(scope));

/** Returns the known scopes of a space-separated list (RFC 6749, section 3.3), in the order of the specification. */
export function parseScopes(list: string): Scope[] {
  const named = new Set(list.split(' '));
  return SCOPES.filter((scope) => named.has(scope));
}

/**
 * Returns the scopes that are enforced for a token: those that its grant still has and, if the grant is for a team,
 * that do not apply to the whole account.
 */
export const enforcedScopes = (
  token: readonly Scope[],
  grant: readonly Scope[],
  teamId: string | null,
): readonly Scope[] =>
  token === grant && teamId === null
    ? grant
    : grant.filter((scope) => token.includes(scope) && !(teamId !== null && isAccountOnly(scope)));
