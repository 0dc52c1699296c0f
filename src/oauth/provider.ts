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
import { findClientBySecret } from '../resources/oauth-clients/registered-client.ts';
import { isPageOfClient } from '../resources/oauth-clients/redirect-uri.ts';
import { findResource, resourceUri } from '../auth/resource.ts';
import { GRANT_DAYS, SCOPES, newId } from '../entities/index.ts';
import { createCookieSuffix, type Cookies } from '../http/cookies.ts';
import { readFormerResumeCookie, RESUME_COOKIE } from './resume-cookie.ts';
import { LINKED_REQUEST_HOURS, REQUEST_MINUTES } from '../resources/oauth-consent/lifetimes.ts';
import type { Services } from '../service/services.ts';
import { findSubject } from './accounts.ts';
import { createAdapter } from './adapter.ts';
import { fetchClientDocument } from './client-documents.ts';
import { AUTH_METHODS, createMetadataCheck, PRIVILEGED } from './client-metadata.ts';
import { saveClientDocument } from './clients.ts';
import { createErrorRenderer } from './error-page.ts';
import { storeRefreshAnswer } from './refresh-answers.ts';
import { isOfOpenId } from './tokens.ts';
import {
  offerAllScopes,
  requireKnownScopes,
  requireOneResource,
  requireQueryMode,
  rejectNul,
} from './authorization-checks.ts';
import { isFetchAllowed } from './client-document-rules.ts';
import { addIdToken } from './openid.ts';
import { bindToBrowser } from './requests.ts';
import { sessionOf } from './browser-session.ts';
import { answerAtOnce, isFirstParty, isOfSession } from './first-party.ts';
import {
  createOwnParameters,
  describePage,
  interpretsOpenId,
  isForSignIn,
  SIGN_IN_SCOPE,
  takeOpenIdScopes,
} from './openid-parameters.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

const toSeconds = (ms: number): number => ms / SECOND_MS;

/** 256 bits in base64url. */
const BROWSER_TOKEN = /^[\w-]{43}$/;

/** Lifetime of the access tokens of first-party clients. */
const FIRST_PARTY_TOKEN_MS = 10 * MINUTE_MS;

export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  pushed_authorization_request: '/oauth/par',
  registration: '/oauth/register',
} as const;

/** Counts the request of a client of the operator that authenticated with its secret. @throws temporarily_unavailable (429) above the limit */
type CountClient = (
  ctx: KoaContextWithOIDC,
  client: { readonly id: string; readonly hasTokenLimit: boolean },
) => Promise<void>;

/** Notes the use of a session. */
type NoteSession = (sessionId: string) => void;

/** Creates the OAuth 2.1 authorization server (oidc-provider), with OpenID Connect disabled. */
export function createProvider(
  services: Services,
  cookies: Cookies,
  countClient: CountClient,
  noteSession: NoteSession,
): Provider {
  const { config } = services;
  const provider = new Provider(config.baseUrl, createConfiguration(services, cookies));
  // `createProviderHandler` sets the forwarding headers from BASE_URL.
  provider.proxy = true;
  useOwnTokenFormat(provider, services);
  readFormerResumeCookie(provider);
  // Errors are returned in the query, whatever response mode was requested.
  provider.on('authorization.error', ({ oidc }) => {
    if (oidc.params) oidc.params['response_mode'] = 'query';
  });
  provider.Client.prototype.compareClientSecret = async function (this: { clientId: string }, secret: string) {
    const client = await findClientBySecret(services.db, this.clientId, secret);
    // Whoever registers clients could get a new limit with each.
    if (client?.source === 'operator' && Provider.ctx)
      await countClient(Provider.ctx, { id: this.clientId, hasTokenLimit: client.hasTokenLimit });
    return client !== undefined;
  };
  provider.use(async (ctx, next) => {
    await next();
    const { oidc } = ctx as KoaContextWithOIDC; // undefined if no route matches
    if (oidc?.route === 'token' && ctx.status === 200) {
      if (oidc.entities.AccessToken?.sid) noteSession(oidc.entities.AccessToken.sid);
      if (isOfOpenId(ctx)) await addIdToken(services, ctx as KoaContextWithOIDC);
    }
    if (oidc?.route === 'token' && config.oauth.refreshRepeatSeconds > 0)
      await storeRefreshAnswer(services, ctx as KoaContextWithOIDC);
  });
  return provider;
}

function createConfiguration(services: Services, cookies: Cookies): Configuration {
  const { config, tokens, db, encryption } = services;
  const resource = resourceUri(config.baseUrl, 'api');
  const secure = config.baseUrl.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', secure, signed: true, overwrite: true } as const;

  return {
    adapter: createAdapter(services),
    jwks: { keys: [createUnusedKey()] },
    scopes: [SIGN_IN_SCOPE],
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
      names: {
        session: '_unused',
        interaction: '_unused_page',
        resume: RESUME_COOKIE + createCookieSuffix(config.baseUrl),
      },
      keys: encryption.keysFor('oauth-cookies').map((key) => key.export()),
      short: cookie,
      long: cookie,
    },
    ttl: {
      AuthorizationCode: toSeconds(MINUTE_MS),
      AccessToken: (_ctx, token) => toSeconds(isOfSession(token) ? FIRST_PARTY_TOKEN_MS : HOUR_MS),
      RefreshToken: (_ctx, token) => toSeconds((isOfSession(token) ? GRANT_DAYS : 30) * DAY_MS),
      Grant: toSeconds(90 * DAY_MS),
      // Of its cookies: `requests.ts` decides how long a request waits.
      Interaction: toSeconds(LINKED_REQUEST_HOURS * HOUR_MS + REQUEST_MINUTES * MINUTE_MS),
      Session: toSeconds(MINUTE_MS),
      IdToken: toSeconds(MINUTE_MS),
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // The secret of a confidential first-party client binds its refresh tokens. Its pages and servers refresh concurrently.
    rotateRefreshToken: ({ oidc }) =>
      !(isOfSession(oidc.entities.RefreshToken) && oidc.client?.clientAuthMethod !== 'none'),
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
        getResourceServerInfo(ctx, asked) {
          const found = findResource(config.baseUrl, asked);
          // What a first-party token proves is for the API and our own procedures.
          if (found === undefined || (found !== 'api' && isFirstParty(ctx.oidc.client)))
            throw new errors.InvalidTarget();
          return { scope: SCOPES.join(' '), audience: asked, accessTokenFormat: 'opaque' };
        },
      },
    },
    extraParams: {
      scope: (ctx) => requireKnownScopes(ctx, takeOpenIdScopes(services)(ctx)),
      scope_omitted(ctx) {
        if (!isForSignIn(ctx)) offerAllScopes(resourceUri(config.baseUrl, 'mcp'))(ctx);
      },
      ...createOwnParameters(services),
      response_mode: requireQueryMode,
      resource: requireOneResource,
      state: rejectNul,
    },
    interactions: {
      policy: createConsentPolicy(),
      async url(ctx, { uid }) {
        const { client } = ctx.oidc;
        if (client?.clientIdMetadataDocument) await saveClientDocument(services, client.metadata() as ClientMetadata);
        const { browser = '' } = cookies.read(ctx.get('cookie'));
        const browserToken = BROWSER_TOKEN.test(browser) ? browser : randomBytes(32).toString('base64url');
        cookies.setBrowser(ctx.res as Response, browserToken); // Express's, which calls oidc-provider
        await bindToBrowser(services, uid, browserToken);
        const hold = { id: uid, browserToken };
        if (!interpretsOpenId(ctx)) return `/oauth/consent/${uid}`;
        const session = sessionOf(ctx.res as Response);
        if (session) cookies.renameSession(ctx.res as Response, ctx.get('cookie'), session);
        const isAnswered = await answerAtOnce(services, hold, { client, principal: session?.principal });
        return isAnswered ? `${ROUTES.authorization}/${uid}` : `/oauth/consent/${uid}${describePage(ctx)}`;
      },
    },
    findAccount: (_ctx, id) => findSubject(db, id),
    extraClientMetadata: { properties: [...PRIVILEGED], validator: createMetadataCheck(config.oauth.redirectSchemes) },
    clientBasedCORS: allowPagesOfClient,
    renderError: createErrorRenderer(config.brand),
    fetch: (input, options) => fetchClientDocument(input instanceof Request ? input.url : input, options),
    discovery: {
      protected_resources: [resource],
      revocation_endpoint_auth_methods_supported: AUTH_METHODS,
      introspection_endpoint_auth_methods_supported: AUTH_METHODS.filter((method) => method !== 'none'),
    },
  };
}

/**
 * Lets pages of a public client read the answer. oidc-provider rejects the request of every other origin, although a server
 * or an application on a device can send any `Origin`: here it is answered, and other pages cannot read it.
 */
function allowPagesOfClient(ctx: KoaContextWithOIDC, origin: string, client: Client): boolean {
  const { clientAuthMethod, redirectUris = [] } = client;
  if (clientAuthMethod !== 'none' || !isPageOfClient(redirectUris, origin)) ctx.remove('Access-Control-Allow-Origin');
  return true;
}

/** Creates a policy with one prompt, which is always shown: the consent page, which also signs users in. */
function createConsentPolicy() {
  const policy = interactionPolicy.base();
  policy.remove('login');
  policy.remove('consent');
  const { Check, Prompt } = interactionPolicy;
  const undecided = new Check('undecided', 'consent is always asked for', 'consent_required', ({ oidc }) => {
    if (!oidc.result?.consent) return Check.REQUEST_PROMPT;
    if (!oidc.account) throw new errors.AccessDenied(undefined, 'the account was disabled or deleted');
    return Check.NO_NEED_TO_PROMPT;
  });
  policy.add(new Prompt({ name: 'consent', requestable: true }, undecided));
  return policy;
}

/** Makes oidc-provider generate tokens in our format, which secret scanners and look-ups recognize. */
function useOwnTokenFormat(provider: Provider, { tokens }: Services): void {
  const models = [
    [provider.AccessToken, 'accessToken'],
    [provider.RefreshToken, 'refreshToken'],
    [provider.AuthorizationCode, 'authorizationCode'],
  ] as const;
  for (const [{ prototype }, kind] of models) {
    const { generateTokenId } = prototype as unknown as TokenPrototype;
    Object.assign(prototype, {
      generateTokenId(this: object) {
        generateTokenId.call(this); // also sets the token's format
        return tokens.generate(kind).secret;
      },
    });
  }
}

/** A method that the types of oidc-provider do not list. */
type TokenPrototype = { readonly generateTokenId: (this: object) => string };

/** Creates a signing key. Nothing is signed, but oidc-provider requires one. */
function createUnusedKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' } as const;
}
