import { errors, type ClientMetadata } from 'oidc-provider';
import { OPENID_SCOPES } from '../entities/index.ts';
import { isReadableName } from '../procedures/fields.ts';
import { REDIRECT_URIS_MAX } from '../resources/oauth-clients/oauth-clients.schema.ts';
import { findRedirectUriFault, type RedirectRules } from '../resources/oauth-clients/redirect-uri.ts';

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

const NAME_LENGTH_MAX = 100;

/** Creates the function that checks the metadata of a client before oidc-provider checks its types. */
export const createMetadataCheck =
  (redirectSchemes: readonly string[]) =>
  (ctx: unknown, member: string, value: unknown, metadata: ClientMetadata): void => {
    // Our own store sets these; they are never in what a client registers or publishes.
    if (value !== undefined && !isStored(ctx, metadata)) {
      throw new errors.InvalidClientMetadata(`${member} cannot be set`);
    }
    if (!registered.has(metadata)) registered.set(metadata, metadata.scope);
    // The last of them, so that none was there.
    if (member === 'openid_scopes' && !isStored(ctx, metadata)) registerOpenId(metadata);
    for (const name of Object.keys(metadata)) if (!isUsedMember(name)) delete metadata[name];
    const { client_name: name, redirect_uris: uris } = metadata;
    if (name !== undefined && !isReadable(name)) throw new errors.InvalidClientMetadata('client_name is not readable');
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
const isReadable = (name: unknown): boolean =>
  typeof name === 'string' && name.length <= NAME_LENGTH_MAX && name.isWellFormed() && isReadableName(name);
