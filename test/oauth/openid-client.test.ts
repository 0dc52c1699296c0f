import * as oauth from 'openid-client';
import { describe, expect } from 'vitest';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import type { AClient } from '../support/factories.ts';
import { approveAt, denyAt } from './visit.ts';

const test = testWith(() => startApiAtItsAddress());
const testWithDpop = testWith(() => startApiAtItsAddress({ OAUTH_DPOP: 'on' }));

/** What the library knows of the service and of itself, from nothing but the issuer's address and its registration. */
const discover = (api: Api, { id, clientSecret }: AClient, proof = oauth.ClientSecretPost) =>
  oauth.discovery(
    new URL(api.services.config.baseUrl),
    id,
    clientSecret ?? undefined,
    clientSecret === null ? oauth.None() : proof(clientSecret),
    { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] },
  );

type Asked = { redirectUri: string; scope?: string };

/** What a client asks for, and what it remembers to check the answer with. */
async function aRequest({ redirectUri, scope = 'profile:read teams:read' }: Asked) {
  const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
  const expectedState = oauth.randomState();
  return {
    parameters: {
      redirect_uri: redirectUri,
      scope,
      state: expectedState,
      code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    },
    checks: { pkceCodeVerifier, expectedState },
  };
}

/** The whole way to tokens, as the library's documentation has it. */
async function connect(api: Api, config: oauth.Configuration, asked: Asked, visit?: Parameters<typeof approveAt>[2]) {
  const { parameters, checks } = await aRequest(asked);
  const answer = await approveAt(api, oauth.buildAuthorizationUrl(config, parameters), visit);
  return oauth.authorizationCodeGrant(config, answer, checks);
}

const call = (
  api: Api,
  config: oauth.Configuration,
  token: string,
  path = '/credential',
  options?: oauth.DPoPOptions,
) =>
  oauth.fetchProtectedResource(
    config,
    token,
    new URL(`${api.services.config.baseUrl}/api/v1${path}`),
    'GET',
    undefined,
    undefined,
    options,
  );

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('It was not refused.'),
    (error: unknown) => error,
  );

/** What the library proves to hold a key with, twice. */
const twoKeys = (config: oauth.Configuration) =>
  Promise.all([1, 2].map(async () => ({ DPoP: oauth.getDPoPHandle(config, await oauth.randomDPoPKeyPair()) })));

const nativeRedirect = 'http://127.0.0.1/callback';

describe('openid-client discovers', () => {
  test('what the server can do, without a word of OpenID Connect', async ({ api }) => {
    const config = await discover(api, await api.anOAuthClient());

    const metadata = config.serverMetadata();

    const { baseUrl } = api.services.config;
    expect(metadata).toMatchObject({
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/oauth/authorize`,
      token_endpoint: `${baseUrl}/oauth/token`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(metadata.supportsPKCE()).toBe(true);
    expect(metadata).not.toHaveProperty('jwks_uri');
  });

  test('that clients do not register themselves, unless that is switched on', async ({ api }) => {
    const metadata = { redirect_uris: ['https://client.example/callback'] };

    const registering = oauth.dynamicClientRegistration(new URL(api.services.config.baseUrl), metadata, undefined, {
      algorithm: 'oauth2',
      execute: [oauth.allowInsecureRequests],
    });

    expect(await errorOf(registering)).toMatchObject({ message: expect.stringContaining('registration_endpoint') });
    expect(await api.anonymous.post('/oauth/register', metadata)).toBeProblem('route_not_found');
  });
});

describe('a public client', () => {
  test('connects, calls the API, refreshes and revokes', async ({ api }) => {
    const client = await api.anOAuthClient();
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const config = await discover(api, client);

    const tokens = await connect(api, config, client, { account: owner });
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'profile:read teams:read' });
    expect(tokens.expiresIn()).toBeGreaterThan(3590);
    expect(await (await call(api, config, tokens.access_token, '/teams')).json()).toMatchObject([{ id: team.id }]);

    const next = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(next.access_token).not.toBe(tokens.access_token);
    expect(next.refresh_token).not.toBe(tokens.refresh_token);
    expect((await call(api, config, next.access_token)).status).toBe(200);

    await oauth.tokenRevocation(config, next.refresh_token ?? '');
    const refused = (await errorOf(call(api, config, next.access_token))) as oauth.WWWAuthenticateChallengeError;
    expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
    expect(refused.cause).toEqual([
      {
        scheme: 'bearer',
        parameters: {
          error: 'invalid_token',
          resource_metadata: `${api.services.config.baseUrl}/.well-known/oauth-protected-resource/api/v1`,
        },
      },
    ]);
    expect(await errorOf(oauth.refreshTokenGrant(config, next.refresh_token ?? ''))).toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('connects to one team', async ({ api }) => {
    const client = await api.anOAuthClient();
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const config = await discover(api, client);

    const { access_token: token, scope } = await connect(api, config, client, { account: owner, team });

    expect(scope).toBe('teams:read');
    expect(await (await call(api, config, token)).json()).toEqual({
      kind: 'oauth-grant',
      audience: 'team',
      team: { id: team.id },
      scopes: ['teams:read'],
    });
  });

  test('pushes its request, and gets a URL that does not contain it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { parameters, checks } = await aRequest(client);

    const url = await oauth.buildAuthorizationUrlWithPAR(config, parameters);
    expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    const tokens = await oauth.authorizationCodeGrant(config, await approveAt(api, url), checks);

    expect((await call(api, config, tokens.access_token)).status).toBe(200);
  });

  test('hears nothing about tokens, not even its own', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { access_token: token } = await connect(api, config, client);

    expect(await oauth.tokenIntrospection(config, token)).toEqual({ active: false });
  });
});

describe.each([
  ['client_secret_post', oauth.ClientSecretPost],
  ['client_secret_basic', oauth.ClientSecretBasic],
])('a confidential client with %s', (_method, proof) => {
  test('connects by a pushed request, introspects, refreshes and revokes', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });
    const config = await discover(api, client, proof);
    const { parameters, checks } = await aRequest(client);

    const url = await oauth.buildAuthorizationUrlWithPAR(config, parameters);
    const tokens = await oauth.authorizationCodeGrant(config, await approveAt(api, url), checks);
    expect(await oauth.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: true,
      client_id: client.id,
      scope: 'profile:read teams:read',
      iss: api.services.config.baseUrl,
      aud: `${api.services.config.baseUrl}/api/v1`,
    });
    const next = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '');
    await oauth.tokenRevocation(config, next.access_token);

    expect(await oauth.tokenIntrospection(config, next.access_token)).toEqual({ active: false });
    expect(await errorOf(call(api, config, next.access_token))).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
  });

  test('is rejected with another secret', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });
    const { clientSecret } = await api.anOAuthClient({ confidential: true });
    const right = await discover(api, client, proof);
    const wrong = await discover(api, { ...client, clientSecret }, proof);
    const { parameters, checks } = await aRequest(client);
    const answer = await approveAt(api, oauth.buildAuthorizationUrl(right, parameters));

    const refused = (await errorOf(oauth.authorizationCodeGrant(wrong, answer, checks))) as { status: number };

    expect(refused.status).toBe(401);
    expect((await oauth.authorizationCodeGrant(right, answer, checks)).token_type).toBe('bearer');
  });
});

describe('a native client', () => {
  test.for([
    [nativeRedirect, 'http://127.0.0.1:49152/callback'],
    [nativeRedirect, 'http://127.0.0.1:8080/callback'],
    ['http://[::1]/callback', 'http://[::1]:50000/callback'],
    ['com.example.app:/callback', 'com.example.app:/callback'],
  ])('that registered %s listens at %s', async ([registered = '', redirectUri = ''], { api }) => {
    const config = await discover(api, await api.anOAuthClient({ native: true, redirectUri: registered }));
    const { parameters, checks } = await aRequest({ redirectUri });

    const answer = await approveAt(api, oauth.buildAuthorizationUrl(config, parameters));
    expect(answer.href.startsWith(redirectUri)).toBe(true);
    const tokens = await oauth.authorizationCodeGrant(config, answer, checks);

    expect((await call(api, config, tokens.access_token)).status).toBe(200);
  });
});

describe('the library understands', () => {
  test('a denial, once it is sure who sent it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { parameters, checks } = await aRequest(client);

    const answer = await denyAt(api, oauth.buildAuthorizationUrl(config, parameters));
    const [mixedUp, unsigned] = [new URL(answer), new URL(answer)];
    mixedUp.searchParams.set('iss', 'https://attacker.example');
    unsigned.searchParams.delete('iss');

    const denied = await errorOf(oauth.authorizationCodeGrant(config, answer, checks));
    expect(denied).toBeInstanceOf(oauth.AuthorizationResponseError);
    expect(denied).toMatchObject({ error: 'access_denied' });
    for (const forged of [mixedUp, unsigned]) {
      expect(await errorOf(oauth.authorizationCodeGrant(config, forged, checks))).toBeInstanceOf(oauth.ClientError);
    }
  });

  test.for([
    ['an unknown scope', { scope: 'teams:read world:rule' }, 'invalid_scope'],
    ['another resource', { resource: 'https://elsewhere.example/api' }, 'invalid_target'],
    ['another way to answer', { response_mode: 'fragment' }, 'invalid_request'],
    ['no proof key', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['a plain proof key', { code_challenge_method: 'plain' }, 'invalid_request'],
  ] as const)('why a request with %s is refused', async ([, change, error], { api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { parameters, checks } = await aRequest(client);

    const answer = await approveAt(api, oauth.buildAuthorizationUrl(config, { ...parameters, ...change }));

    const refused = await errorOf(oauth.authorizationCodeGrant(config, answer, checks));
    expect(refused).toBeInstanceOf(oauth.AuthorizationResponseError);
    expect(refused).toMatchObject({ error });
  });

  test('a pushed request that is rejected', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { parameters } = await aRequest({ ...client, scope: 'world:rule' });

    const refused = await errorOf(oauth.buildAuthorizationUrlWithPAR(config, parameters));

    expect(refused).toBeInstanceOf(oauth.ResponseBodyError);
    expect(refused).toMatchObject({ error: 'invalid_scope', status: 400 });
  });

  test('a wrong verifier, which leaves the code good', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { parameters, checks } = await aRequest(client);
    const answer = await approveAt(api, oauth.buildAuthorizationUrl(config, parameters));

    const wrong = { ...checks, pkceCodeVerifier: oauth.randomPKCECodeVerifier() };
    const refused = await errorOf(oauth.authorizationCodeGrant(config, answer, wrong));

    expect(refused).toBeInstanceOf(oauth.ResponseBodyError);
    expect(refused).toMatchObject({ error: 'invalid_grant', status: 400 });
    expect((await oauth.authorizationCodeGrant(config, answer, checks)).token_type).toBe('bearer');
  });

  test('a scope that a token lacks', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const { access_token: token } = await connect(api, config, { ...client, scope: 'teams:read' });

    const refused = (await errorOf(call(api, config, token, '/me'))) as oauth.WWWAuthenticateChallengeError;

    expect(refused.status).toBe(403);
    expect(refused.cause).toMatchObject([
      { scheme: 'bearer', parameters: { error: 'insufficient_scope', scope: 'profile:read' } },
    ]);
  });
});

describe('tokens bound to a key (DPoP)', () => {
  testWithDpop('are got, used and refreshed with it alone', async ({ api }) => {
    const client = await api.anOAuthClient({ native: true, redirectUri: nativeRedirect });
    const config = await discover(api, client);
    const [own, others] = await twoKeys(config);
    const { parameters, checks } = await aRequest(client);
    const answer = await approveAt(api, oauth.buildAuthorizationUrl(config, parameters));

    const tokens = await oauth.authorizationCodeGrant(config, answer, checks, undefined, own);

    expect(tokens.token_type).toBe('dpop');
    expect((await call(api, config, tokens.access_token, '/credential', own)).status).toBe(200);
    for (const options of [others, undefined]) {
      const refused = await errorOf(call(api, config, tokens.access_token, '/credential', options));
      expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
    }
    const refreshToken = tokens.refresh_token ?? '';
    for (const options of [others, undefined]) {
      expect(await errorOf(oauth.refreshTokenGrant(config, refreshToken, undefined, options))).toMatchObject({
        error: 'invalid_grant',
      });
    }
    const next = await oauth.refreshTokenGrant(config, refreshToken, undefined, own);
    expect(next.token_type).toBe('dpop');
    expect((await call(api, config, next.access_token, '/credential', own)).status).toBe(200);
  });

  testWithDpop('begin with a code that is bound to it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);
    const [own, others] = await twoKeys(config);

    const exchanges = [own, others, undefined].map(async (options) => {
      const { parameters, checks } = await aRequest(client);
      const url = await oauth.buildAuthorizationUrlWithPAR(config, parameters, own);
      const answer = await approveAt(api, url);
      return oauth.authorizationCodeGrant(config, answer, checks, undefined, options);
    });

    const [good, ...refused] = await Promise.all(
      exchanges.map((exchange) => exchange.catch((error: unknown) => error)),
    );
    expect(good).toMatchObject({ token_type: 'dpop' });
    expect(refused).toMatchObject([{ error: 'invalid_grant' }, { error: 'invalid_grant' }]);
  });

  testWithDpop('are no duty: other clients go on as before', async ({ api }) => {
    const client = await api.anOAuthClient();
    const config = await discover(api, client);

    const tokens = await connect(api, config, client);

    expect(tokens.token_type).toBe('bearer');
    expect((await call(api, config, tokens.access_token)).status).toBe(200);
  });
});
