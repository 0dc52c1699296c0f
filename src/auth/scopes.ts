import { SCOPES, type Scope } from '../entities/index.ts';

/** What each scope lets a credential do (spec 5), for the documentation and the consent page. */
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

const ACCOUNT_ONLY: ReadonlySet<Scope> = new Set(['profile:read', 'profile:write', 'api-keys:read', 'api-keys:write']);

/** Whether a scope concerns the whole account, so that no team credential can hold it. */
export const isAccountOnly = (scope: Scope): boolean => ACCOUNT_ONLY.has(scope);

/** The scopes without duplicates, in the order of the specification. */
export const inOrder = (scopes: readonly Scope[]): Scope[] => SCOPES.filter((scope) => scopes.includes(scope));

/** The scopes of a space-separated list (RFC 6749, section 3.3) that are known, in the order of the specification. */
export function scopesIn(list: string): Scope[] {
  const named = new Set(list.split(' '));
  return SCOPES.filter((scope) => named.has(scope));
}

/**
 * What a token can do: the grant can have been narrowed since it was made, and one for a team never
 * reaches the account.
 */
export const enforcedScopes = (
  token: readonly Scope[],
  grant: readonly Scope[],
  teamId: string | null,
): readonly Scope[] =>
  token === grant && teamId === null
    ? grant
    : grant.filter((scope) => token.includes(scope) && !(teamId !== null && isAccountOnly(scope)));
