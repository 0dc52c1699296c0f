import { errors, type ClientMetadata } from 'oidc-provider';
import { isShowable } from '../resources/oauth-clients/registered-client.ts';
import { redirectUriFault } from '../resources/oauth-clients/redirect-uri.ts';

/** Members that only an operator could give a client, here or elsewhere. */
export const PRIVILEGED = ['first_party', 'skip_consent'] as const;

/** What a client may say of itself and somebody reads. RFC 7591 has the rest ignored, fetched addresses among it. */
const READ: ReadonlySet<string> = new Set([
  ...PRIVILEGED,
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

/** Refuses what a client may not say of itself, and drops what nobody reads, before the engine checks types. */
export function checkClientMetadata(ctx: unknown, member: string, value: unknown, metadata: ClientMetadata): void {
  if (value !== undefined) throw new errors.InvalidClientMetadata(`${member} cannot be set`);
  for (const name of Object.keys(metadata)) if (!READ.has(name)) delete metadata[name];
  const { client_name: name, redirect_uris: uris } = metadata;
  if (name !== undefined && !isReadable(name)) throw new errors.InvalidClientMetadata('client_name is not readable');
  // The engine gives a secret to who leaves the method out (RFC 7591, section 2), and then takes our default.
  if (metadata.client_secret !== undefined && metadata.token_endpoint_auth_method === 'none') {
    metadata.token_endpoint_auth_method = 'client_secret_basic';
  }
  if (!areTexts(uris)) return;
  // What has been stored says it; who registers often leaves it out.
  if (!isStored(ctx, metadata) && uris.some(isForLoopback)) metadata.application_type = 'native';
  const isNative = metadata.application_type === 'native';
  for (const uri of uris) {
    const fault = redirectUriFault(uri, { isNative });
    if (fault !== undefined) throw new errors.InvalidClientMetadata(`redirect_uris: each ${fault.detail}`);
  }
}

/** The engine has a context while somebody registers, and a document is named by its URL. */
const isStored = (ctx: unknown, { client_id: id }: ClientMetadata): boolean =>
  ctx === undefined && !/^https:/i.test(id);

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');

/** Whether a redirect leads to an application on the person's own device, by an address and a port. */
const isForLoopback = (uri: string): boolean => /^http:\/\/(?:127\.0\.0\.1|\[::1\])[:/]/.test(uri);

/** People decide by the name, so nothing in it may hide or turn what they read. */
const isReadable = (name: unknown): boolean =>
  typeof name === 'string' && name.length <= NAME_LENGTH_MAX && name.isWellFormed() && isShowable(name);
