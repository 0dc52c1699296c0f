import { isRosterError } from './errors.ts';
import type { RosterOperator, Verification, VerifyCredentialBody } from './generated/operator.ts';
import { readHeader, type IncomingHeaders } from './headers.ts';
import type { CallOptions } from './methods.ts';
import type { AnyPermission } from './permissions.ts';

/** A request of `fetch`, or of Node.js. */
export type IncomingRequest = { readonly headers: IncomingHeaders };

/**
 * What the sender of a request needs. Without `resource`, access tokens have to be issued for the REST API. If `kinds` has
 * `session`, the session cookie of Roster also counts, in requests from pages of the same origin: for products on the
 * origin of Roster.
 */
export type Requirements = Omit<VerifyCredentialBody, 'credential' | 'permission' | 'permissions'> & {
  readonly permission?: AnyPermission | undefined;
  readonly permissions?: readonly AnyPermission[] | undefined;
};

type NonNull<Type> = { [Key in keyof Type]: NonNullable<Type[Key]> };

/** Who sent a request, in which team and role. */
export type Sender = { readonly valid: true; readonly code: null } & NonNull<
  Pick<Verification, 'credential' | 'account'>
> &
  Pick<Verification, 'team' | 'role' | 'permissions' | 'rate' | 'metadata'>;

/** Why a request is denied, and how to answer it. */
export type Denied = {
  readonly valid: false;
  readonly code: 'credential_missing' | Exclude<Verification['code'], null> | (string & {});
  /** 401, 403, 404 or 429. */
  readonly status: number;
  /** `www-authenticate` (RFC 6750) or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;
};

export type Authentication = Sender | Denied;

export type Authenticate = {
  /**
   * Asks who sent a request with an API key, an access token or a session cookie, in which team and role: one call. Do not cache the result,
   * so that a revocation holds for the next request.
   * @throws RosterError if the service cannot answer, such as `service_unavailable`. Let no one in then
   */
  authenticate(request: IncomingRequest, needs?: Requirements, options?: CallOptions): Promise<Authentication>;
};

/** As RFC 6750 allows it. */
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;
/** Of a credential, as the service accepts it. */
const LENGTH_MAX = 500;

/** Creates `authenticate` from the operation that verifies credentials. */
export const createAuthenticate =
  (verify: RosterOperator['verifyCredential']): Authenticate['authenticate'] =>
  async ({ headers }, needs = {}, options) => {
    const header = readHeader(headers, 'authorization');
    const acceptsSession = needs.kinds?.includes('session') === true;
    const cookie = acceptsSession && header === undefined ? readSessionCookie(headers) : undefined;
    if (cookie === undefined && !/^Bearer /i.test(header ?? '')) return deny('credential_missing', needs);
    const credential = cookie ?? BEARER.exec(header ?? '')?.[1] ?? '';
    if (credential === '' || credential.length > LENGTH_MAX) return deny('credential_invalid', needs);
    try {
      const found = await verify({ resource: 'api', ...needs, credential }, options);
      // A token that is bound to a key (RFC 9449) is worth nothing without a proof, which is not checked here.
      if (found.credential !== null && found.credential.thumbprint !== null) return deny('credential_invalid', needs);
      return found.valid ? (found as Sender) : deny(found.code ?? 'credential_invalid', needs, found.rate); // by the contract of `valid`
    } catch (error) {
      // The id of a team is often a part of the URL that the sender chose.
      if (isRosterError(error) && error.errors?.every(({ pointer }) => pointer === '/teamId'))
        return deny('team_not_found', needs);
      throw error;
    }
  };

/**
 * Reads the session cookie of this origin. Other sites, and sibling domains, can make a browser send it: only pages of this
 * origin count. Its name ends with the port, if that is not the default, because a host has one cookie jar for all ports.
 */
function readSessionCookie(headers: IncomingHeaders): string | undefined {
  if (readHeader(headers, 'sec-fetch-site') !== 'same-origin') return undefined;
  const port = /:(\d+)$/.exec(readHeader(headers, 'host') ?? '')?.[1];
  const suffixes = port === undefined ? [''] : [`_${port}`, ''];
  // Over https the prefix is `__Host-`: a sibling domain can set the plain names, and not these.
  for (const name of ['__Host-', ''].flatMap((prefix) =>
    suffixes.map((suffix) => `${prefix}roster_session${suffix}`),
  )) {
    const sent = new RegExp(`(?:^|;\\s*)${name}=([\\w-]*)`).exec(readHeader(headers, 'cookie') ?? '')?.[1];
    if (sent !== undefined) return sent || undefined;
  }
  return undefined;
}

const STATUSES: Readonly<Record<string, number>> = {
  credential_missing: 401,
  credential_invalid: 401,
  rate_limited: 429,
  scope_missing: 403,
  team_not_found: 404,
  permission_missing: 403,
};

function deny(code: Denied['code'], { scopes = [] }: Requirements, rate: Verification['rate'] = null): Denied {
  const status = STATUSES[code] ?? 403;
  return { valid: false, code, status, headers: headersOf(code, scopes, rate) };
}

function headersOf(code: string, scopes: readonly string[], rate: Verification['rate']): Record<string, string> {
  if (code === 'credential_missing') return { 'www-authenticate': 'Bearer' };
  if (code === 'credential_invalid') return { 'www-authenticate': 'Bearer error="invalid_token"' };
  if (code === 'scope_missing')
    return { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` };
  return code === 'rate_limited' && rate !== null ? { 'retry-after': String(rate.resetSeconds) } : {};
}
