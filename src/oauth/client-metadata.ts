import { errors, type ClientMetadata } from 'oidc-provider';
import { OPENID_SCOPES } from '../entities/index.ts';
import { clientName, REDIRECT_URIS_MAX } from '../resources/oauth-clients/oauth-clients.schema.ts';
import { findRedirectUriFault, type RedirectRules } from '../resources/oauth-clients/redirect-uri.ts';

/** How clients authenticate at the token endpoint. */
export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;

/** Members that only an operator could set. */
export const PRIVILEGED = ['first_party', 'skip_consent', 'openid_scopes'] as const;

/** The `scope` of clients that are being registered, which sets `openid_scopes`. */
const registered = new WeakMap<ClientMetadata, unknown>();

/** The members that are stored and returned after a registration. RFC 7591 lets a server ignore the others. */
const USED_MEMBERS: ReadonlySet<string> = new Set([
  'application_type',
  'client_id',
  'client_id_issued_at',
  'client_name',
  'client_secret',
  'client_secret_expires_at',
  'dpop_bound_access_tokens',
  'grant_types',
  'redirect_uris',
  'require_pushed_authorization_requests',
  'response_types',
  'token_endpoint_auth_method',
]);

/** What clients can register of these. Others are left out, because clients register all that they know (RFC 7591, section 3.2.1). */
const OFFERED = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
} as const;

/** Creates the function that checks the metadata of a client before oidc-provider checks its types. */
export const createMetadataCheck =
  (redirectSchemes: readonly string[]) =>
  (ctx: unknown, member: string, value: unknown, metadata: ClientMetadata): void => {
    // Our own store sets these; they are never in what a client registers or publishes.
    if (value !== undefined && value !== null && !isStored(ctx, metadata)) {
      throw new errors.InvalidClientMetadata(`${member} cannot be set`);
    }
    if (!registered.has(metadata)) registered.set(metadata, metadata.scope);
    // The last of them, so that none was there.
    if (member === 'openid_scopes' && !isStored(ctx, metadata)) registerOpenId(metadata);
    // oidc-provider gives those without a value its defaults afterwards.
    for (const name of Object.keys(metadata)) if (!isUsedMember(name) || metadata[name] === null) delete metadata[name];
    const { redirect_uris: uris } = metadata;
    if (!isStored(ctx, metadata)) {
      setName(metadata);
      narrow(metadata, 'grant_types');
      narrow(metadata, 'response_types');
      requireOfferedMethod(metadata);
    }
    if (!isStringArray(uris)) return;
    if (!isStored(ctx, metadata)) {
      // Clients that register often omit it.
      if (uris.some(isDeviceUri)) metadata.application_type = 'native';
      setAuthMethod(metadata);
    }
    const isNative = metadata.application_type === 'native';
    // Our own store leaves out those that are not allowed.
    checkRedirectUris(uris, { isNative, allowsLoopback: isStored(ctx, metadata), redirectSchemes });
  };

/** A client registers for OpenID Connect by its `scope` (RFC 7591, section 2). Its scopes of the API need no registration. */
function registerOpenId(metadata: ClientMetadata): void {
  const scope = registered.get(metadata);
  const words = typeof scope === 'string' ? scope.split(' ') : [];
  const scopes = OPENID_SCOPES.filter((name) => words.includes(name));
  if (scopes.includes('openid')) metadata['openid_scopes'] = scopes.join(' ');
}

const isUsedMember = (member: string): boolean =>
  USED_MEMBERS.has(member) || PRIVILEGED.some((name) => name === member);

/** Returns the client information of RFC 7591, section 3.2.1, without the members of OpenID Connect. */
export const toClientInformation = (metadata: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([member]) => USED_MEMBERS.has(member)));

function setAuthMethod(metadata: ClientMetadata): void {
  if (metadata.client_secret === undefined) return;
  if (metadata.application_type === 'native') {
    // A secret that is installed on many devices is not confidential (RFC 8252, section 8.5). RFC 7591 lets the server replace the method.
    delete metadata.client_secret;
    delete metadata.client_secret_expires_at;
    metadata.token_endpoint_auth_method = 'none';
  } else if (metadata.token_endpoint_auth_method === 'none') {
    // oidc-provider generates a secret if the method is omitted (RFC 7591, section 2), but then applies our default.
    metadata.token_endpoint_auth_method = 'client_secret_basic';
  }
}

function checkRedirectUris(uris: readonly string[], rules: RedirectRules): void {
  const reject = (reason: string) => {
    throw new errors.InvalidClientMetadata(`redirect_uris: ${reason}`);
  };
  if (uris.length > REDIRECT_URIS_MAX) reject(`at most ${REDIRECT_URIS_MAX} are allowed`);
  for (const [i, uri] of uris.entries()) {
    if (uris.indexOf(uri) < i) reject(`${quote(uri)} is listed twice`);
    const fault = findRedirectUriFault(uri, rules);
    if (fault !== undefined) reject(`${quote(uri)} ${fault.detail}`);
  }
}

const QUOTED_LENGTH_MAX = 200;

/** Quotes a URI for an error message. It can be invalid because of its length or characters. */
const quote = (uri: string): string => JSON.stringify(uri.slice(0, QUOTED_LENGTH_MAX));

/** oidc-provider passes a context while a client registers, and the id of a metadata document is its URL. */
const isStored = (ctx: unknown, { client_id: id }: ClientMetadata): boolean =>
  ctx === undefined && !/^https:/i.test(id);

const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');

/** Returns whether a redirect URI leads to an application on the user's device: a loopback address or a private-use scheme. */
const isDeviceUri = (uri: string): boolean =>
  /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?]|$)/.test(uri) || /^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(uri);

/** Users decide by the name, so the rule for all names applies. */
function setName(metadata: ClientMetadata): void {
  if (metadata.client_name === undefined) return;
  const { data, error } = clientName.safeParse(metadata.client_name);
  if (data !== undefined) metadata.client_name = data;
  else if (error?.issues.some(({ code }) => code === 'too_big'))
    throw new errors.InvalidClientMetadata('client_name must have at most 100 characters');
  else throw new errors.InvalidClientMetadata('client_name is not readable');
}

/** A method is never replaced, because the client would authenticate by another one than it registered. */
function requireOfferedMethod({ token_endpoint_auth_method: method }: ClientMetadata): void {
  if (method !== undefined && !AUTH_METHODS.some((offered) => offered === method))
    throw new errors.InvalidClientMetadata(`token_endpoint_auth_method must be one of ${AUTH_METHODS.join(', ')}`);
}

/** Leaves out what is not offered. A client that asks for none of the code flow cannot be used here. */
function narrow(metadata: ClientMetadata, member: keyof typeof OFFERED): void {
  const given: unknown = metadata[member];
  if (!isStringArray(given)) return;
  const offered: readonly string[] = OFFERED[member];
  const [needed = ''] = offered;
  if (!given.includes(needed)) throw new errors.InvalidClientMetadata(`${member} must contain ${needed}`);
  Object.assign(metadata, { [member]: offered.filter((each) => given.includes(each)) });
}
