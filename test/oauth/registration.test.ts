import * as oauth from 'openid-client';
import { describe, expect, onTestFinished } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { CLEANUPS } from '../../src/jobs/cleanup.ts';
import { startApi, startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { aProofKey, browse } from './flow.ts';
import { basic, postForm } from './token-endpoint.ts';
import { approveAt } from './visit.ts';
import { signedIn } from '../support/browser.ts';

const test = testWith(() => startApiAtItsAddress({ OAUTH_REGISTRATION: 'on' }));

const REDIRECT = 'https://client.example/callback';
const PUBLIC = { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };

const register = (api: Api, metadata: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  api.anonymous.send({
    method: 'POST',
    path: '/oauth/register',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });

async function rowOf(api: Api, clientId: string) {
  const [row] = await api.rows<Record<string, unknown>>('select * from oauth_client where id = $1', [clientId]);
  return row;
}

const countClients = async (api: Api): Promise<number> => (await api.rows('select 1 from oauth_client')).length;

describe('registration (RFC 7591)', () => {
  test('is advertised', async ({ api }) => {
    const { body } = await api.anonymous.get('/.well-known/oauth-authorization-server');

    expect(body.registration_endpoint).toBe(`${api.services.config.baseUrl}/oauth/register`);
  });

  test('of a public client gives it an id and no secret', async ({ api }) => {
    const answer = await register(api, { ...PUBLIC, client_name: 'Calendar' });

    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toMatchObject({
      client_id: expect.stringMatching(/^client_[0-9a-v]{26}$/),
      client_id_issued_at: expect.any(Number),
      client_name: 'Calendar',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
    for (const member of ['client_secret', 'registration_access_token', 'registration_client_uri']) {
      expect(answer.body).not.toHaveProperty(member);
    }
    expect(await rowOf(api, answer.body.client_id)).toMatchObject({
      source: 'registration',
      account_id: null,
      name: 'Calendar',
      redirect_uris: [REDIRECT],
      is_native: false,
      is_confidential: false,
    });
    expect(await api.rows('select 1 from oauth_client_secret where client_id = $1', [answer.body.client_id])).toEqual(
      [],
    );
  });

  // RFC 7591, section 2: who leaves the method out has a secret and sends it by Basic.
  test.for([['client_secret_post'], ['client_secret_basic'], [undefined]])(
    'of a confidential client with %s gives it a secret, of which the hash is kept',
    async ([method], { api }) => {
      const { status, body } = await register(api, { redirect_uris: [REDIRECT], token_endpoint_auth_method: method });

      expect(status).toBe(201);
      expect(body).toMatchObject({
        client_secret: expect.stringMatching(/^rst_cs_/),
        client_secret_expires_at: 0,
        token_endpoint_auth_method: method ?? 'client_secret_basic',
      });
      expect(await rowOf(api, body.client_id)).toMatchObject({ is_confidential: true });
      expect(
        await api.rows('select secret_hash, last4, expires_at from oauth_client_secret where client_id = $1', [
          body.client_id,
        ]),
      ).toEqual([
        { secret_hash: hashSecret(body.client_secret), last4: body.client_secret.slice(-4), expires_at: null },
      ]);
      expect(JSON.stringify(await rowOf(api, body.client_id))).not.toContain(body.client_secret);
    },
  );

  test('takes no id and no secret of the client’s own', async ({ api }) => {
    const { body } = await register(api, {
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'client_secret_post',
      client_id: 'own',
      client_secret: 'own secret',
    });

    expect(body.client_id).toMatch(/^client_/);
    expect(body.client_secret).toMatch(/^rst_cs_/);
  });

  test('ignores unknown members, and fetches no URL that it names', async ({ api }) => {
    const { status, body } = await register(api, {
      ...PUBLIC,
      scope: 'teams:read openid',
      software_id: 'calendar',
      client_uri: 'https://client.example/\u0000',
      logo_uri: 'javascript:alert(1)',
      sector_identifier_uri: 'https://127.0.0.1/',
      jwks_uri: 'https://127.0.0.1/',
      jwks: { keys: 'none' },
      source: 'operator',
      is_verified: true,
      account_id: 'acc_1',
    });

    expect(status).toBe(201);
    const row = await rowOf(api, body.client_id);
    expect(row).toMatchObject({ source: 'registration', account_id: null });
    expect(JSON.stringify([body, row])).not.toMatch(/teams:read|calendar|127\.0\.0\.1|javascript|operator|acc_1/);
  });

  test('without a name goes by where it sends people', async ({ api }) => {
    const names = [REDIRECT, 'https://client.example:8443/', 'http://127.0.0.1:3000/callback', 'com.example.app:/cb'];
    const registered = await Promise.all(
      names.map((uri) => register(api, { ...PUBLIC, redirect_uris: [uri], application_type: 'native' })),
    );

    const rows = await Promise.all(registered.map(({ body }) => rowOf(api, body.client_id)));
    expect(rows.map((row) => row?.['name'])).toEqual([
      'client.example',
      'client.example:8443',
      '127.0.0.1:3000',
      'com.example.app:/cb',
    ]);
  });

  test('of a client on people’s own devices lets it listen at any port', async ({ api }) => {
    const { body } = await register(api, { ...PUBLIC, redirect_uris: ['http://127.0.0.1/callback', REDIRECT] });

    expect(body.application_type).toBe('native');
    expect(await rowOf(api, body.client_id)).toMatchObject({ is_native: true });
    const redirectUri = 'http://127.0.0.1:51004/callback';
    const { challenge } = aProofKey();
    const url = new URL(`${api.services.config.baseUrl}/oauth/authorize`);
    url.search = new URLSearchParams({
      client_id: body.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'teams:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString();
    expect((await approveAt(api, url)).href).toMatch(/^http:\/\/127\.0\.0\.1:51004\/callback\?code=/);
  });
});

describe('what a registration answers', () => {
  test('has the name without the white space at its ends, of at most 100 characters', async ({ api }) => {
    const name = '🏔'.repeat(100);
    const { status, body } = await register(api, { ...PUBLIC, client_name: ` ${name}\u3000` });

    expect([status, body.client_name]).toEqual([201, name]);
    expect(await rowOf(api, body.client_id)).toMatchObject({ name });
  });

  test('names no member of OpenID Connect', async ({ api }) => {
    const { body } = await register(api, { ...PUBLIC, client_name: 'Calendar' });

    expect(Object.keys(body).toSorted()).toEqual([
      'application_type',
      'client_id',
      'client_id_issued_at',
      'client_name',
      'grant_types',
      'redirect_uris',
      'require_pushed_authorization_requests',
      'response_types',
      'token_endpoint_auth_method',
    ]);
  });

  test.for([
    ['http://localhost:3118/callback', undefined],
    ['http://127.0.0.1/callback', 'client_secret_post'],
    ['cursor://anysphere.cursor-retrieval/callback', undefined],
    ['com.example.app:/callback', 'client_secret_basic'],
  ])('gives the native client %s that asks for %s no secret', async ([uri, method], { api }) => {
    const { status, body } = await register(api, { redirect_uris: [uri], token_endpoint_auth_method: method });

    expect(status).toBe(201);
    expect(body).toMatchObject({ application_type: 'native', token_endpoint_auth_method: 'none' });
    expect(body).not.toHaveProperty('client_secret');
    expect(body).not.toHaveProperty('client_secret_expires_at');
    expect(await rowOf(api, body.client_id)).toMatchObject({ is_native: true, is_confidential: false });
    expect(await api.rows('select from oauth_client_secret where client_id = $1', [body.client_id])).toEqual([]);
  });

  test('names the redirect URI that is invalid', async ({ api }) => {
    const wrong = 'http://client.example/callback';

    const { body } = await register(api, { ...PUBLIC, redirect_uris: [REDIRECT, wrong] });

    expect(body.error).toBe('invalid_redirect_uri');
    expect(body.error_description).toContain(wrong);
    expect(body.error_description).not.toContain(REDIRECT);
  });

  test('can be read by a page of any origin, also when it is an error', async ({ api }) => {
    const origin = 'https://inspector.example';
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const preflight = await api.anonymous.send({ method: 'OPTIONS', path: '/oauth/register', headers });

    expect(preflight.status).toBe(204);
    for (const { headers: sent } of [
      preflight,
      await register(api, PUBLIC, { origin }),
      await register(api, {}, { origin }),
    ]) {
      expect(sent['access-control-allow-origin']).toBe('*');
      expect(sent['access-control-allow-credentials']).toBeUndefined();
    }
  });
});

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const FLOW = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };

describe('a registration is narrowed to what is offered, and answers it', () => {
  test.for([
    [
      'Claude',
      {
        client_name: 'Claude',
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        grant_types: ['authorization_code', 'refresh_token', JWT_BEARER],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      FLOW,
    ],
    [
      'a client with grants for devices and servers',
      {
        ...PUBLIC,
        grant_types: ['client_credentials', 'authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
      { grant_types: ['authorization_code'], response_types: ['code'] },
    ],
    [
      'a client with hybrid flows',
      {
        ...PUBLIC,
        response_types: ['code id_token', 'code', 'token'],
        grant_types: ['authorization_code', 'implicit'],
      },
      { grant_types: ['authorization_code'], response_types: ['code'] },
    ],
    [
      'a client whose library sends null for what it does not set',
      {
        ...PUBLIC,
        ...Object.fromEntries(
          `client_name grant_types response_types application_type scope logo_uri contacts jwks jwks_uri software_id
           require_pushed_authorization_requests first_party skip_consent`
            .split(/\s+/)
            .map((member) => [member, null]),
        ),
      },
      { ...FLOW, application_type: 'web', require_pushed_authorization_requests: false },
    ],
    [
      'a client with white space around its name',
      { ...PUBLIC, client_name: ' Calendar\n' },
      { client_name: 'Calendar' },
    ],
  ] as const)('%s', async ([, metadata, registered], { api }) => {
    const { status, body } = await register(api, metadata);

    expect([status, body]).toEqual([201, expect.objectContaining(registered)]);
    expect(JSON.stringify(body)).not.toMatch(/null|jwt-bearer|credentials|implicit/);
  });

  test('a method that is null is one left out: the client gets a secret', async ({ api }) => {
    const { status, body } = await register(api, { redirect_uris: [REDIRECT], token_endpoint_auth_method: null });

    expect([status, body.token_endpoint_auth_method]).toEqual([201, 'client_secret_basic']);
    expect(body.client_secret).toMatch(/^rst_cs_/);
  });

  test.for([
    [{ client_name: 'a'.repeat(101) }, 'client_name must have at most 100 characters'],
    [{ client_name: 'Calendar\u202e' }, 'client_name is not readable'],
    [{ grant_types: [JWT_BEARER] }, 'grant_types must contain authorization_code'],
    [{ response_types: ['token'] }, 'response_types must contain code'],
  ] as const)('what is refused says why: %j', async ([change, reason], { api }) => {
    expect((await register(api, { ...PUBLIC, ...change })).body.error_description).toBe(reason);
  });

  test('a method that is not offered names the three', async ({ api }) => {
    const { body } = await register(api, { ...PUBLIC, token_endpoint_auth_method: 'private_key_jwt' });

    for (const method of ['none', 'client_secret_basic', 'client_secret_post'])
      expect(body.error_description).toContain(method);
  });
});

describe('a public client that sends an empty secret by Basic', () => {
  const form = { grant_type: 'refresh_token', refresh_token: 'x' };
  const send = (api: Api, path: string, id: string, more = {}) =>
    postForm(api, path, { ...form, token: 'x', ...more }, basic(encodeURIComponent(id), ''));

  test('is one without a secret', async ({ api }) => {
    const { body } = await register(api, PUBLIC);

    expect((await send(api, '/oauth/token', body.client_id)).body.error).toBe('invalid_grant');
    expect((await send(api, '/oauth/token', body.client_id, { client_id: body.client_id })).body.error).toBe(
      'invalid_grant',
    );
    expect((await send(api, '/oauth/revoke', body.client_id)).status).toBe(200);
    expect((await send(api, '/oauth/par', body.client_id)).body.error_description).not.toMatch(/auth/);
  });

  test('and is neither one with a secret nor another one', async ({ api }) => {
    const { body: other } = await register(api, PUBLIC);
    const { body } = await register(api, { redirect_uris: [REDIRECT] });

    expect((await send(api, '/oauth/token', body.client_id)).body.error).toBe('invalid_client');
    expect((await send(api, '/oauth/token', other.client_id, { client_id: body.client_id })).status).toBeGreaterThan(
      399,
    );
    expect((await send(api, '/oauth/token', other.client_id, { client_id: body.client_id })).body.error).not.toBe(
      'invalid_grant',
    );
  });
});

describe('registration is rejected', () => {
  const native = (uri: string) => ({ redirect_uris: [uri], application_type: 'native' });

  test.for([
    ['a client that wants to be trusted', { first_party: true }, 'invalid_client_metadata'],
    ['a client that says it is not', { first_party: false }, 'invalid_client_metadata'],
    ['a client that wants no consent page', { skip_consent: true }, 'invalid_client_metadata'],

    ['a name with a line break', { client_name: 'Calendar\nby Roster' }, 'invalid_client_metadata'],
    ['a name with a line separator', { client_name: 'Calendar\u2028by Roster' }, 'invalid_client_metadata'],
    ['a name with a null character', { client_name: 'Calendar\u0000' }, 'invalid_client_metadata'],
    ['a name that turns the text', { client_name: 'Calendar \u202erotsoR' }, 'invalid_client_metadata'],
    ['a name that isolates text', { client_name: '\u2067Calendar' }, 'invalid_client_metadata'],
    ['a name that is no text', { client_name: '\ud800' }, 'invalid_client_metadata'],
    ['a name that nobody sees', { client_name: ' \u200b\u3164' }, 'invalid_client_metadata'],
    ['a name of Braille blanks', { client_name: '\u2800' }, 'invalid_client_metadata'],
    ['a name with a tag in no flag', { client_name: 'Calendar\u{e0041}' }, 'invalid_client_metadata'],
    ['an empty name', { client_name: '' }, 'invalid_client_metadata'],
    ['a name of 101 characters', { client_name: 'a'.repeat(101) }, 'invalid_client_metadata'],
    ['a name that is a number', { client_name: 1 }, 'invalid_client_metadata'],

    ['no redirect', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['redirects left out', { redirect_uris: undefined }, 'invalid_redirect_uri'],
    ['redirects that are null', { redirect_uris: null }, 'invalid_redirect_uri'],
    ['redirects that are a text', { redirect_uris: REDIRECT }, 'invalid_redirect_uri'],
    ['redirects that are an object', { redirect_uris: { 0: REDIRECT } }, 'invalid_redirect_uri'],
    ['a redirect that is null', { redirect_uris: [REDIRECT, null] }, 'invalid_redirect_uri'],
    ['a redirect that is a number', { redirect_uris: [1] }, 'invalid_redirect_uri'],
    ['a redirect that is a list', { redirect_uris: [[REDIRECT]] }, 'invalid_redirect_uri'],
    ['a relative redirect', { redirect_uris: ['/callback'] }, 'invalid_redirect_uri'],
    ['a redirect over http', { redirect_uris: ['http://client.example/'] }, 'invalid_redirect_uri'],
    ['one of two over http', { redirect_uris: [REDIRECT, 'http://client.example/'] }, 'invalid_redirect_uri'],
    ['a redirect to a name like an address', { redirect_uris: ['http://127.0.0.1.example/'] }, 'invalid_redirect_uri'],
    ['a redirect to another loopback', { redirect_uris: ['http://127.1/'] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a script of a native client', native('javascript:alert(1)'), 'invalid_redirect_uri'],
    ['data of a native client', native('data:text/html,hello'), 'invalid_redirect_uri'],
    ['a scheme anybody may claim', native('calendar:/callback'), 'invalid_redirect_uri'],
    ['a name below localhost', native('http://app.localhost/'), 'invalid_redirect_uri'],
    [
      '21 redirects',
      { redirect_uris: Array.from({ length: 21 }, (_, i) => `${REDIRECT}/${i}`) },
      'invalid_redirect_uri',
    ],
    ['the same redirect twice', { redirect_uris: [REDIRECT, REDIRECT] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: [`${REDIRECT}#here`] }, 'invalid_redirect_uri'],
    ['an empty fragment', { redirect_uris: [`${REDIRECT}#`] }, 'invalid_redirect_uri'],
    ['a user in a redirect', { redirect_uris: ['https://user@client.example/'] }, 'invalid_redirect_uri'],
    ['another host after a user', { redirect_uris: ['http://127.0.0.1:1@client.example/'] }, 'invalid_redirect_uri'],
    ['a redirect with a wildcard host', { redirect_uris: ['https://*.client.example\\@/'] }, 'invalid_redirect_uri'],
    ['a redirect of 2001 characters', { redirect_uris: [REDIRECT.padEnd(2001, 'a')] }, 'invalid_redirect_uri'],

    ['no grant type', { grant_types: [] }, 'invalid_client_metadata'],
    ['a refresh alone', { grant_types: ['refresh_token'] }, 'invalid_client_metadata'],
    ['another grant type', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['grant types that are a text', { grant_types: 'authorization_code' }, 'invalid_client_metadata'],
    ['no response type', { response_types: [] }, 'invalid_client_metadata'],
    ['the implicit flow', { response_types: ['token'] }, 'invalid_client_metadata'],
    ['another application type', { application_type: 'spa' }, 'invalid_client_metadata'],
    ['keys instead of a secret', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['a method that is a number', { token_endpoint_auth_method: 1 }, 'invalid_client_metadata'],
    ['a wrong flag', { require_pushed_authorization_requests: 'yes' }, 'invalid_client_metadata'],
  ] as const)('for %s', async ([, change, error], { api }) => {
    const before = await countClients(api);

    const answer = await register(api, { ...PUBLIC, ...change });

    expect([answer.status, answer.body.error]).toEqual([400, error]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(await countClients(api)).toBe(before);
  });

  test.for([['[]'], ['null'], ['"text"'], ['{'], ['']])(
    'for a body that is no object: %s',
    async ([body = ''], { api }) => {
      const answer = await register(api, body);

      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatch(/^invalid_/);
    },
  );

  test('for a form, and for what does not end', async ({ api }) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const long = { ...PUBLIC, software_statement: 'a'.repeat(60_000) };

    expect((await register(api, `redirect_uris=${encodeURIComponent(REDIRECT)}`, form)).body.error).toBe(
      'invalid_request',
    );
    expect((await register(api, long)).body.error).toBe('invalid_request');
  });

  test('for a change of what is registered', async ({ api }) => {
    const { body } = await register(api, PUBLIC);

    for (const path of ['/oauth/register', `/oauth/register/${body.client_id}`]) {
      const answer = await api.anonymous.send({ method: 'PUT', path, body: JSON.stringify(PUBLIC) });
      expect([404, 405]).toContain(answer.status);
    }
    expect(await api.anonymous.get(`/oauth/register/${body.client_id}`)).toBeProblem('route_not_found');
  });
});

describe('a client that registered itself', () => {
  test.for([['none'], ['client_secret_post'], ['client_secret_basic']])(
    'with %s connects through the library',
    async ([method = ''], { api }) => {
      const config = await oauth.dynamicClientRegistration(
        new URL(api.services.config.baseUrl),
        { ...PUBLIC, client_name: 'Calendar', token_endpoint_auth_method: method },
        method === 'client_secret_basic' ? oauth.ClientSecretBasic() : undefined,
        { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] },
      );
      const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
      const account = await api.anAccount();
      const visitor = await signedIn(api, account);
      const url = oauth.buildAuthorizationUrl(config, {
        redirect_uri: REDIRECT,
        scope: 'teams:read',
        code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });

      const answer = await approveAt(api, url, { account, visitor });
      const tokens = await oauth.authorizationCodeGrant(config, answer, { pkceCodeVerifier });
      const next = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '');

      expect((await api.as(next.access_token).get('/api/v1/credential')).status).toBe(200);
      expect(await visitor.trpc.grants.list.query()).toMatchObject([
        { client: { id: config.clientMetadata().client_id, name: 'Calendar' }, scopes: ['teams:read'] },
      ]);
    },
  );

  test('is not verified on the consent page', async ({ api }) => {
    const { body } = await register(api, { ...PUBLIC, client_name: 'Roster' });
    const visitor = await signedIn(api, await api.anAccount());
    const query = new URLSearchParams({
      client_id: body.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'teams:read',
      code_challenge: aProofKey().challenge,
      code_challenge_method: 'S256',
    });

    const { headers } = await browse(api, visitor)(`/oauth/authorize?${query.toString()}`);
    const id = headers.location?.split('/').at(-1) ?? '';

    expect((await visitor.trpc.authorizations.read.query({ id })).client).toEqual({
      id: body.client_id,
      name: 'Roster',
      redirectHost: 'client.example',
      isVerified: false,
      source: 'registration',
      madeBy: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('is forgotten after 30 days without a grant', async ({ api }) => {
    const [used, unused, young] = await Promise.all([1, 2, 3].map(async () => (await register(api, PUBLIC)).body));
    await api.aGrant(await api.anAccount(), { client: { id: used.client_id } });
    await api.rows(`update oauth_client set cleanup_at = now() - interval '1 s' where id = any($1)`, [
      [used.client_id, unused.client_id],
    ]);

    await api.rows(CLEANUPS.cleanup_oauth_clients.batch(api.services.config));

    expect(await rowOf(api, used.client_id)).toBeDefined();
    expect(await rowOf(api, young.client_id)).toBeDefined();
    expect(await rowOf(api, unused.client_id)).toBeUndefined();
    const gone = await api.anonymous.get(`/oauth/authorize?client_id=${unused.client_id}&response_type=code`);
    expect(gone.status).toBe(400);
    expect(gone.text).toContain('invalid_client');
  });
});

describe('registration from one address', () => {
  test('is bound by those that are refused apart, ten times as high', async () => {
    const api = await startApi({ OAUTH_REGISTRATION: 'on', OAUTH_REGISTRATION_LIMIT: '1' });
    onTestFinished(() => api.close());
    const wrong = () => register(api, { ...PUBLIC, redirect_uris: [] });
    const statuses: number[] = [];
    for (let times = 0; times < 9; times += 1) statuses.push((await wrong()).status);

    expect(new Set(statuses)).toEqual(new Set([400]));
    expect((await register(api, PUBLIC)).status).toBe(201);
    expect((await register(api, PUBLIC)).status).toBe(429);
    expect((await register(api, PUBLIC)).status).toBe(429);
  });

  test('is bound; another address is free', async () => {
    const api = await startApi({ OAUTH_REGISTRATION: 'on', TRUST_PROXY: '1', OAUTH_REGISTRATION_LIMIT: '2' });
    onTestFinished(() => api.close());
    const from = (address: string) => register(api, PUBLIC, { 'x-forwarded-for': address });

    const answers = [await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')];

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0);
    expect(answers[2]?.body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
    expect(await countClients(api)).toBe(2);
    expect((await from('192.0.2.2')).status).toBe(201);
    // What people do there is counted for itself.
    const { trpc } = api.visitor();
    expect(await trpc.auth.forgotPassword.mutate({ email: 'nobody@example.com' })).toBeDefined();
  });
});

/**
 * A client that knows nothing but the address of the API, as those of the Model Context Protocol do
 * (its specification, "Authorization", with RFC 9728, 8414, 7591 and 8707), without a library.
 */
describe('a client that starts from the API', () => {
  test('finds its way to a token by what the answers say', async ({ api }) => {
    const api401 = await fetch(`${api.services.config.baseUrl}/api/v1/credential`);
    expect(api401.status).toBe(401);
    const challenge = api401.headers.get('www-authenticate') ?? '';
    const resourceMetadata = /^Bearer .*resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';

    const { resource, authorization_servers: servers, scopes_supported: scopes } = await json(resourceMetadata);
    // RFC 9728, section 3.3: it has to be the resource that was asked.
    expect(api401.url.startsWith(resource)).toBe(true);
    const server = await json(new URL('/.well-known/oauth-authorization-server', servers[0]).href);
    expect(server.issuer).toBe(servers[0]);
    expect(server.code_challenge_methods_supported).toContain('S256');

    const redirectUri = 'http://127.0.0.1:33418/callback';
    const client = await json(server.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'An assistant',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: scopes.join(' '),
      }),
    });
    expect(client).not.toHaveProperty('client_secret');

    const { verifier, challenge: codeChallenge } = aProofKey();
    const url = new URL(server.authorization_endpoint);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
      state: 'a-state',
      scope: scopes.join(' '),
      resource,
    }).toString();
    const owner = await api.anAccount();
    await api.aTeam({ owner });
    const answer = await approveAt(api, url, { account: owner });
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({ state: 'a-state', iss: server.issuer });

    const tokens = await json(server.token_endpoint, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: client.client_id,
        code: answer.searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: redirectUri,
        resource,
      }),
    });
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: scopes.join(' ') });
    expect(
      await json(`${resource}/teams`, { headers: { authorization: `Bearer ${tokens.access_token}` } }),
    ).toHaveLength(1);

    const next = await json(server.token_endpoint, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: client.client_id,
        refresh_token: tokens.refresh_token,
        resource,
      }),
    });
    expect(await json(`${resource}/credential`, { headers: { authorization: `Bearer ${next.access_token}` } })).toEqual(
      {
        kind: 'oauth-grant',
        audience: 'personal',
        team: null,
        scopes,
      },
    );
  });

  // eslint-disable-next-line typescript/no-explicit-any -- documents that the test looks into as it knows them
  async function json(url: string, init?: RequestInit): Promise<any> {
    const response = await fetch(url, init);
    if (!response.ok) throw new Error(`${url} → ${response.status} ${await response.text()}`);
    return response.json();
  }
});
