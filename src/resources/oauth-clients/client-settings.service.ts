import type { Config } from '../../config/config.ts';
import { OPENID_SCOPES, type OAuthClient } from '../../entities/index.ts';
import { invalidInput } from '../../problems/error.ts';
import { findUrlFault, networkOf } from '../../webhooks/endpoint-network.ts';
import { REDIRECT_URIS_MAX, type OperatorFields } from './oauth-clients.schema.ts';
import { allowsLoopback, findRedirectUriFault } from './redirect-uri.ts';

// What only the operator sets of a client.

const URI_LENGTH_MAX = 2000;

type LogoutSettings = Pick<OperatorFields, 'postLogoutRedirectUris' | 'backchannelLogoutUri'>;

type Kind = Pick<OAuthClient, 'isNative' | 'isDevelopment' | 'isFirstParty'>;

/** Returns the given settings of a logout, as they are stored. @throws validation_failed */
export function toLogout(
  config: Config,
  client: Kind,
  { postLogoutRedirectUris: uris, backchannelLogoutUri: uri }: LogoutSettings,
): Settings {
  if (uris !== undefined)
    requireReturns(uris, {
      isNative: client.isNative,
      allowsLoopback: allowsLoopback(config, client),
      redirectSchemes: config.oauth.redirectSchemes,
    });
  if (typeof uri === 'string') {
    if (!client.isFirstParty)
      throw invalidInput('/backchannelLogoutUri', 'Only first-party clients have tokens that end with a session.');
    requireReachable(config, uri);
  }
  return { postLogoutRedirectUris: uris && [...uris], backchannelLogoutUri: uri };
}

/** Returns scopes of OpenID Connect as they are stored; null for none. @throws validation_failed */
export function toOpenId({ isFirstParty }: Pick<OAuthClient, 'isFirstParty'>, scopes: readonly string[]): Settings {
  if (isFirstParty && scopes.length > 0)
    throw invalidInput('/openidScopes', 'First-party clients have all scopes of OpenID Connect.');
  if (scopes.length > 0 && !scopes.includes('openid'))
    throw invalidInput('/openidScopes', 'Include openid: the others need it.');
  return { openidScopes: scopes.length === 0 ? null : OPENID_SCOPES.filter((scope) => scopes.includes(scope)) };
}

/** Returns the days of a session as they are stored. @throws validation_failed */
export function toSessionDays({ isFirstParty }: Pick<OAuthClient, 'isFirstParty'>, days: number | null): Settings {
  if (days !== null && !isFirstParty)
    throw invalidInput('/sessionDays', 'Only tokens of first-party clients end with a session.');
  return { sessionDays: days };
}

/** Returns whether token requests are limited, as it is stored: of clients that always are, nothing. @throws validation_failed */
export function toTokenLimit(
  { isFirstParty, isConfidential }: Pick<OAuthClient, 'isFirstParty' | 'isConfidential'>,
  hasTokenLimit: boolean,
): Settings {
  if (isFirstParty && isConfidential) return { hasTokenLimit };
  if (!hasTokenLimit)
    throw invalidInput('/hasTokenLimit', 'Clients that are not first-party with a secret always have a limit.');
  return {};
}

type Settings = {
  [Name in 'postLogoutRedirectUris' | 'backchannelLogoutUri' | 'openidScopes' | 'sessionDays' | 'hasTokenLimit']?:
    | OAuthClient[Name]
    | undefined;
};

function requireReturns(uris: readonly string[], rules: Parameters<typeof findRedirectUriFault>[1]): void {
  const pointer = '/postLogoutRedirectUris';
  if (uris.length > REDIRECT_URIS_MAX) throw invalidInput(pointer, `At most ${REDIRECT_URIS_MAX} are allowed.`);
  for (const [i, uri] of uris.entries()) {
    if (uris.indexOf(uri) < i) throw invalidInput(`${pointer}/${i}`, 'It is listed twice.');
    const fault = findRedirectUriFault(uri, rules);
    if (fault !== undefined) throw invalidInput(`${pointer}/${i}`, `It ${fault.detail}`);
  }
}

function requireReachable(config: Config, uri: string): void {
  const pointer = '/backchannelLogoutUri';
  if (uri.length > URI_LENGTH_MAX) throw invalidInput(pointer, `It must have at most ${URI_LENGTH_MAX} characters.`);
  if (uri.includes('#')) throw invalidInput(pointer, 'It must have no fragment.');
  const fault = findUrlFault(uri, networkOf(config, null));
  if (fault !== null) throw invalidInput(pointer, fault);
}
