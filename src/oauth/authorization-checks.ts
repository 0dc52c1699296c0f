import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { isReadScope } from '../auth/scopes.ts';
import { SCOPES } from '../entities/index.ts';

// Checks of the parameters of an authorization request that oidc-provider does not make.

/** Rejects unknown scopes, which oidc-provider would drop silently. */
export function requireKnownScopes(_ctx: unknown, requested = ''): void {
  const unknown = requested.split(' ').filter((scope) => scope !== '' && !SCOPES.some((known) => known === scope));
  if (unknown.length > 0) throw new errors.InvalidScope('unknown scope', unknown.join(' '));
}

const INITIAL_SCOPES = SCOPES.filter(isReadScope).toSorted().join(' ');

/**
 * Offers all scopes if the client names none (RFC 6749, section 3.3), and remembers that in a parameter of our own,
 * which requests cannot set. A pushed request is completed when the browser opens it. The same for a client of
 * `mcpResource` that asks for exactly the scopes that the challenge named: common clients never ask again for more
 * (they refresh instead), so their users can only add write access here.
 */
export const offerAllScopes =
  (mcpResource: string) =>
  ({ oidc }: KoaContextWithOIDC): void => {
    if (oidc.params === undefined || oidc.route === 'pushed_authorization_request') return;
    const { scope, resource } = oidc.params;
    if (scope && !(resource === mcpResource && isInitial(scope))) return;
    oidc.params['scope'] = SCOPES.join(' ');
    oidc.params['scope_omitted'] = 'true';
  };

const isInitial = (scope: unknown): boolean =>
  typeof scope === 'string' && scope.split(' ').toSorted().join(' ') === INITIAL_SCOPES;

/** Rejects requests for several resources, because a grant is for one (RFC 8707). */
export function requireOneResource(_ctx: unknown, requested: unknown): void {
  if (Array.isArray(requested) && new Set(requested).size > 1) {
    throw new errors.InvalidTarget('only one resource can be requested');
  }
}

/** Rejects response modes other than `query`. */
export function requireQueryMode(_ctx: unknown, mode: string | undefined): void {
  if (mode !== undefined && mode !== 'query') {
    throw new errors.InvalidRequest('only response_mode query is supported');
  }
}

/** Rejects NUL in any parameter, because PostgreSQL cannot store it. */
export function rejectNul({ oidc }: KoaContextWithOIDC): void {
  if (Object.values(oidc.params ?? {}).some((value) => String(value).includes('\0'))) {
    throw new errors.InvalidRequest('parameters must not contain NUL');
  }
}
