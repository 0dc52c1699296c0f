import type { Config } from '../../config/config.ts';
import { OPENID_SCOPES, type OAuthClient } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import { lockMany } from '../../transactions/locks.ts';
import { change } from '../../transactions/change.ts';
import { findUrlFault, networkOf } from '../../webhooks/endpoint-network.ts';
import { REDIRECT_URIS_MAX } from './oauth-clients.schema.ts';
import { allowsLoopback, findRedirectUriFault } from './redirect-uri.ts';

// What only the operator sets of a client.

const URI_LENGTH_MAX = 2000;

export type LogoutSettings = {
  readonly postLogoutRedirectUris?: readonly string[] | undefined;
  readonly backchannelLogoutUri?: string | null | undefined;
};

/** Sets where browsers go after a logout, and where a first-party client is told that a session ended. */
export const setLogout = (services: Services, clientId: string, settings: LogoutSettings): Promise<void> =>
  changeSettings(services, clientId, (client) => toLogout(services.config, client, settings));

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

/**
 * Sets the scopes of OpenID Connect that a client can ask users for.
 * @param scopes none to take them away
 */
export const setOpenId = (services: Services, clientId: string, scopes: readonly string[]): Promise<void> =>
  changeSettings(services, clientId, (client) => toOpenId(client, scopes, '/scopes'));

/** Returns scopes of OpenID Connect as they are stored; null for none. @throws validation_failed at the pointer */
export function toOpenId(
  { isFirstParty }: Pick<OAuthClient, 'isFirstParty'>,
  scopes: readonly string[],
  pointer: string,
): Settings {
  if (isFirstParty && scopes.length > 0)
    throw invalidInput(pointer, 'First-party clients have all scopes of OpenID Connect.');
  if (scopes.length > 0 && !scopes.includes('openid'))
    throw invalidInput(pointer, 'Include openid: the others need it.');
  return { openidScopes: scopes.length === 0 ? null : OPENID_SCOPES.filter((scope) => scopes.includes(scope)) };
}

/** Sets how many days a session lasts at least in which a user signed in for a client. @param days null for none */
export const setSessionDays = (services: Services, clientId: string, days: number | null): Promise<void> =>
  changeSettings(services, clientId, (client) => toSessionDays(client, days));

/** Returns the days of a session as they are stored. @throws validation_failed */
export function toSessionDays({ isFirstParty }: Pick<OAuthClient, 'isFirstParty'>, days: number | null): Settings {
  if (days !== null && !isFirstParty)
    throw invalidInput('/sessionDays', 'Only tokens of first-party clients end with a session.');
  return { sessionDays: days };
}

type Settings = {
  [Name in 'postLogoutRedirectUris' | 'backchannelLogoutUri' | 'openidScopes' | 'sessionDays']?:
    | OAuthClient[Name]
    | undefined;
};

const changeSettings = ({ db }: Services, clientId: string, read: (client: OAuthClient) => Settings): Promise<void> =>
  change(db, 'system', { on: 'installation', requires: 'operator' }, async ({ em, record }) => {
    const [client] = await lockMany(em, 'oauth_client', { id: clientId, deletedAt: null });
    if (client === undefined) throw new ProblemError('client_not_found');
    const changed = assignChanged(client, read(client));
    if (changed.length > 0)
      record('oauth_client.updated', { accountId: client.account?.id ?? null, clientId, changed });
  });

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
