import { errors, type Client, type KoaContextWithOIDC } from 'oidc-provider';
import { findResource } from '../auth/resource.ts';
import { OPENID_SCOPES } from '../entities/index.ts';
import { matchLanguage } from '../messages/languages.ts';
import { readHint } from '../resources/openid/logout.service.ts';
import type { Services } from '../service/services.ts';
import { isFirstParty, requireTeamReference } from './first-party.ts';

/**
 * The scope by which oidc-provider grants access that has none of the API. Requests cannot name it, and no token has it:
 * ours of OpenID Connect are none of the engine’s.
 */
export const SIGN_IN_SCOPE = 'sign_in';

/** Returns the scopes of OpenID Connect that a client can ask for. Those of other clients than first-party ones are set or registered. */
function listOpenIdScopes(client: Client | undefined): readonly string[] {
  if (isFirstParty(client)) return OPENID_SCOPES;
  const scopes = client?.metadata()['openid_scopes'];
  return typeof scopes === 'string' ? scopes.split(' ') : [];
}

/**
 * Takes the scopes of OpenID Connect out of those of the API. They are kept apart, in a parameter of our own. For clients
 * that cannot have them, and for `/mcp`, `openid` is ignored, and the others are unknown scopes.
 * @returns the remaining scopes
 */
export const takeOpenIdScopes =
  ({ config }: Services) =>
  ({ oidc }: KoaContextWithOIDC): string | undefined => {
    const { params, client } = oidc;
    const { scope, asked_openid: openid, resource } = params ?? {};
    if (params === undefined || typeof openid !== 'string') return scope as string | undefined;
    const isOfApi = resource === undefined || findResource(config.baseUrl, resource) === 'api';
    const possible = isOfApi ? listOpenIdScopes(client) : [];
    const taken = openid.split(' ').filter((word) => possible.includes(word));
    if (!taken.includes('openid')) {
      delete params['asked_openid'];
      delete params['asked_nonce'];
      return scope as string | undefined;
    }
    params['asked_openid'] = taken.join(' ');
    // A pushed request passes twice.
    const removed = ['', SIGN_IN_SCOPE, ...taken];
    const left = (typeof scope === 'string' ? scope : '').split(' ').filter((word) => !removed.includes(word));
    const kept = isFirstParty(client) ? left : [...left, SIGN_IN_SCOPE];
    params['scope'] = kept.length === 0 ? undefined : kept.join(' ');
    return left.join(' ');
  };

/** Whether a client that needs consent asks who the user is. Then a request without scopes of the API asks for none of them. */
export const isForSignIn = ({ oidc }: KoaContextWithOIDC): boolean =>
  oidc.params?.['asked_openid'] !== undefined && !isFirstParty(oidc.client);

/** How many languages of a request are looked at. */
const LOCALES_MAX = 20;

const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account', 'create'];

/** Whether the parameters of OpenID Connect count: with `openid`, and for first-party clients. Otherwise they are ignored. */
export const interpretsOpenId = ({ oidc }: KoaContextWithOIDC): boolean =>
  isFirstParty(oidc.client) || oidc.params?.['asked_openid'] !== undefined;

/** Creates the checks of the parameters of OpenID Connect. They run after the scopes were taken. */
export const createOwnParameters = (services: Services) => ({
  asked_prompt(ctx: KoaContextWithOIDC, prompt: string | undefined): void {
    if (prompt === undefined || isIgnored(ctx, 'asked_prompt')) return;
    const words = prompt.split(' ');
    if (words.some((word) => !PROMPTS.includes(word))) throw new errors.InvalidRequest('unsupported prompt value');
    if (words.includes('none') && words.length > 1)
      throw new errors.InvalidRequest('prompt none must only be used alone');
  },
  asked_max_age(ctx: KoaContextWithOIDC, seconds: string | undefined): void {
    if (seconds === undefined || isIgnored(ctx, 'asked_max_age')) return;
    if (!/^\d{1,9}$/.test(seconds)) throw new errors.InvalidRequest('max_age must be a number of seconds');
  },
  /** Keeps whom the id token is about, not the token. */
  async asked_id_token_hint(ctx: KoaContextWithOIDC, token: string | undefined): Promise<void> {
    const { params, client } = ctx.oidc;
    if (token === undefined || params === undefined || isIgnored(ctx, 'asked_id_token_hint')) return;
    const hint = await readHint(services, token);
    if (hint?.aud !== client?.clientId || hint === undefined)
      throw new errors.InvalidRequest('id_token_hint is not an id token of this client');
    delete params['asked_id_token_hint'];
    params['asked_subject'] = hint.sub;
  },
  /** OpenID Connect Core, section 3.1.2.1, requires what OAuth 2.1 does not. */
  asked_without({ oidc }: KoaContextWithOIDC, name: string | undefined): void {
    if (name !== undefined && oidc.params?.['asked_openid'] !== undefined)
      throw new errors.InvalidRequest(`${name} is required with openid`);
  },
  /** Only tokens of first-party clients have an active team. */
  asked_team({ oidc }: KoaContextWithOIDC, team: string | undefined): void {
    if (team !== undefined && isFirstParty(oidc.client)) requireTeamReference(team);
  },
  asked_login_hint: null,
  asked_nonce: null,
  asked_openid: null,
  asked_subject: null,
  asked_ui_locales: null,
});

/** Removes a parameter that does not count. */
function isIgnored(ctx: KoaContextWithOIDC, name: string): boolean {
  const isOf = interpretsOpenId(ctx);
  if (!isOf) delete ctx.oidc.params?.[name];
  return !isOf;
}

/** An address, and no id of an account. */
const ADDRESS = /^[^@\s]{1,190}@[^@\s]{1,64}$/;

/**
 * Returns the query of the consent page: its language, whether a visitor without a session wants to sign up, and the address
 * with which they do either.
 */
export function describePage({ oidc }: KoaContextWithOIDC): string {
  const { asked_ui_locales: locales, asked_prompt: prompt, asked_login_hint: hint } = oidc.params ?? {};
  const language = typeof locales === 'string' ? matchLanguage(...locales.split(' ').slice(0, LOCALES_MAX)) : undefined;
  const isSignUp = typeof prompt === 'string' && prompt.split(' ').includes('create');
  const query = new URLSearchParams({
    ...(language && { ui_locales: language }),
    ...(isSignUp && { prompt: 'create' }),
    ...(typeof hint === 'string' && ADDRESS.test(hint) && { login_hint: hint }),
  });
  return query.size === 0 ? '' : `?${query.toString()}`;
}
