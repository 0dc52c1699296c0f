import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { SCOPES } from '../entities/index.ts';

// Checks of the parameters of an authorization request that oidc-provider does not make.

/** oidc-provider drops unknown scopes silently. */
export function requireKnownScopes(_ctx: unknown, requested = ''): void {
  const unknown = requested.split(' ').filter((scope) => scope !== '' && !SCOPES.some((known) => known === scope));
  if (unknown.length > 0) throw new errors.InvalidScope('unknown scope', unknown.join(' '));
}

/**
 * Offers all scopes if the client names none (RFC 6749, section 3.3), and remembers that in a parameter of our own,
 * which requests cannot set. A pushed request is completed when the browser opens it.
 */
export function offerAllScopes({ oidc }: KoaContextWithOIDC): void {
  if (oidc.params === undefined || oidc.params['scope'] || oidc.route === 'pushed_authorization_request') return;
  oidc.params['scope'] = SCOPES.join(' ');
  oidc.params['scope_omitted'] = 'true';
}

/** A grant is for one resource. */
export function requireOneResource(_ctx: unknown, requested: unknown): void {
  if (Array.isArray(requested) && new Set(requested).size > 1) {
    throw new errors.InvalidTarget('only one resource can be requested');
  }
}

export function requireQuery(_ctx: unknown, mode: string | undefined): void {
  if (mode !== undefined && mode !== 'query') {
    throw new errors.InvalidRequest('only response_mode query is supported');
  }
}

/** Refuses, in any parameter, the one character that the database does not keep. */
export function requireText({ oidc }: KoaContextWithOIDC): void {
  if (Object.values(oidc.params ?? {}).some((value) => String(value).includes('\0'))) {
    throw new errors.InvalidRequest('parameters must not contain NUL');
  }
}
