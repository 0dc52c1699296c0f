import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Response } from 'express';
import Provider, {
  errors,
  interactionPolicy,
  type Client,
  type ClientMetadata,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { isSecretOfClient } from '../resources/oauth-clients/registered-client.ts';
import { findResource, resourceUri } from '../auth/resource.ts';
import { SCOPES, newId } from '../entities/index.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Services } from '../app-services.ts';
import { findSubject } from './accounts.ts';
import { adapterOf } from './adapter.ts';
import { fetchClientDocument } from './client-documents.ts';
import { createMetadataCheck, PRIVILEGED } from './client-metadata.ts';
import { saveClientDocument } from './clients.ts';
import { renderError } from './error-page.ts';
import { keepAnswer } from './refresh-answers.ts';
import {
  offerAllScopes,
  requireKnownScopes,
  requireOneResource,
  requireQuery,
  requireText,
} from './authorization-checks.ts';
import { isFetchAllowed } from './client-document-rules.ts';
import { bindToBrowser } from './requests.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

const inSeconds = (ms: number): number => ms / SECOND_MS;

/** 256 bits in base64url. */
const BROWSER_TOKEN = /^[\w-]{43}$/;

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;

export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  pushed_authorization_request: '/oauth/par',
  registration: '/oauth/register',
} as const;

/** Counts a request of a client that has proven its secret; throws where there were too many. */
type CountClient = (ctx: KoaContextWithOIDC, clientId: string) => Promise<void>;

/** The OAuth 2.1 engine, with everything of OpenID Connect switched off. */
export function createProvider(services: Services, cookies: Cookies, countClient: CountClient): Provider {
  const { config } = services;
  const provider = new Provider(config.baseUrl, configurationOf(services, cookies));
  // The mount sets the host and the protocol from BASE_URL, whatever the request says.
  provider.proxy = true;
  generateOwnTokens(provider, services);
  // A refusal comes in the query, too, whatever mode or type of response was asked for.
  provider.on('authorization.error', ({ oidc }) => {
    if (oidc.params) oidc.params['response_mode'] = 'query';
  });
  provider.Client.prototype.compareClientSecret = async function (this: { clientId: string }, secret: string) {
    const isRight = await isSecretOfClient(services.db, this.clientId, secret);
    if (isRight && Provider.ctx) await countClient(Provider.ctx, this.clientId);
    return isRight;
  };
  provider.use(async (ctx, next) => {
    await next();
    const { oidc } = ctx as KoaContextWithOIDC; // of a request that a route has taken
    if (oidc?.route === 'token' && config.oauth.refreshRepeatSeconds > 0)
      await keepAnswer(services, ctx as KoaContextWithOIDC);
  });
  return provider;
}

function configurationOf(services: Services, cookies: Cookies): Configuration {
  const { config, tokens, db, encryption } = services;
  const resource = resourceUri(config.baseUrl, 'api');
  const secure = config.baseUrl.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure, signed: true, overwrite: true } as const;

  return {
    adapter: adapterOf(services),
    jwks: { keys: [unusedKey()] },
    scopes: [],
    claims: {},
    responseTypes: ['code'],
    subjectTypes: ['public'],
    clientAuthMethods: [...AUTH_METHODS],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
      token_endpoint_auth_method: 'none',
    },
    enableHttpPostMethods: false,
    pkce: { required: () => true },
    routes: { ...ROUTES, jwks: '/oauth/jwks', end_session: '/oauth/end-session' },
    cookies: {
      names: { session: '_unused', interaction: 'roster_authorization', resume: 'roster_resume' },
      keys: [...encryption.keysFor('oauth-cookies')],
      short: cookie,
      long: cookie,
    },
    ttl: {
      AuthorizationCode: inSeconds(MINUTE_MS),
      AccessToken: inSeconds(HOUR_MS),
      RefreshToken: inSeconds(30 * DAY_MS),
      Grant: inSeconds(90 * DAY_MS),
      Interaction: inSeconds(15 * MINUTE_MS),
      Session: inSeconds(MINUTE_MS),
      IdToken: inSeconds(MINUTE_MS),
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      claimsParameter: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          client.clientAuthMethod !== 'none' && token.clientId === client.clientId,
      },
      pushedAuthorizationRequests: { enabled: true },
      registration: {
        enabled: config.oauth.registration,
        issueRegistrationAccessToken: false,
        idFactory: () => newId('client'),
        secretFactory: () => tokens.generate('clientSecret').secret,
      },
      clientIdMetadataDocument: {
        enabled: config.oauth.clientDocuments,
        ack: 'draft-02',
        allowFetch: isFetchAllowed,
      },
      dPoP: { enabled: config.oauth.dpop },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, asked) {
          if (findResource(config.baseUrl, asked) === undefined) throw new errors.InvalidTarget();
          return { scope: SCOPES.join(' '), audience: asked, accessTokenFormat: 'opaque' };
        },
      },
    },
    extraParams: {
      scope: requireKnownScopes,
      scope_omitted: offerAllScopes,
      response_mode: requireQuery,
      resource: requireOneResource,
      state: requireText,
    },
    interactions: {
      policy: consentAlways(),
      async url(ctx, { uid }) {
        const { client } = ctx.oidc;
        if (client?.clientIdMetadataDocument) await saveClientDocument(services, client.metadata() as ClientMetadata);
        const { browser = '' } = cookies.read(ctx.get('cookie'));
        const browserToken = BROWSER_TOKEN.test(browser) ? browser : randomBytes(32).toString('base64url');
        cookies.setBrowser(ctx.res as Response, browserToken); // Express's, which the engine is mounted in
        await bindToBrowser(db, uid, browserToken);
        return `/oauth/consent/${uid}`;
      },
    },
    findAccount: (_ctx, id) => findSubject(db, id),
    extraClientMetadata: { properties: [...PRIVILEGED], validator: createMetadataCheck(config.oauth.redirectSchemes) },
    clientBasedCORS: (_ctx, origin, client) => isPageOf(client, origin),
    renderError,
    fetch: (input, options) => fetchClientDocument(input instanceof Request ? input.url : input, options),
    discovery: {
      protected_resources: [resource],
      revocation_endpoint_auth_methods_supported: AUTH_METHODS,
      introspection_endpoint_auth_methods_supported: AUTH_METHODS.filter((method) => method !== 'none'),
    },
  };
}

/**
 * Whether an origin is where a client of pages is sent to. Not for native ones: the origin of a scheme
 * of their own is `null`, as is that of any sandboxed page; nor for those that keep a secret.
 */
const isPageOf = ({ clientAuthMethod, redirectUris = [] }: Client, origin: string): boolean =>
  clientAuthMethod === 'none' &&
  redirectUris.some((uri) => uri.startsWith('https:') && URL.parse(uri)?.origin === origin);

/** One question, always asked: the page signs people in, and takes audience and scopes at once. */
function consentAlways() {
  const policy = interactionPolicy.base();
  policy.remove('login');
  policy.remove('consent');
  const { Check, Prompt } = interactionPolicy;
  const undecided = new Check('undecided', 'consent is always asked for', 'consent_required', ({ oidc }) => {
    if (!oidc.result?.consent) return Check.REQUEST_PROMPT;
    if (!oidc.account) throw new errors.AccessDenied(undefined, 'the account is disabled or deleted since');
    return Check.NO_NEED_TO_PROMPT;
  });
  policy.add(new Prompt({ name: 'consent', requestable: true }, undecided));
  return policy;
}

/** Tokens in the form of all our secrets, by which scanners and look-ups know them. */
function generateOwnTokens(provider: Provider, { tokens }: Services): void {
  const models = [
    [provider.AccessToken, 'accessToken'],
    [provider.RefreshToken, 'refreshToken'],
    [provider.AuthorizationCode, 'authorizationCode'],
  ] as const;
  for (const [{ prototype }, kind] of models) {
    const { generateTokenId } = prototype as unknown as TokenPrototype;
    Object.assign(prototype, {
      generateTokenId(this: object) {
        generateTokenId.call(this); // decides on the token's format, too
        return tokens.generate(kind).secret;
      },
    });
  }
}

/** What the engine's types do not list. */
type TokenPrototype = { readonly generateTokenId: (this: object) => string };

/** Nothing is signed, but the engine does not start without a key. */
function unusedKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' } as const;
}
