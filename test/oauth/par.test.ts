import { describe, expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { test, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import type { AClient } from '../support/factories.ts';
import { aProofKey, askConsent, browse, exchange, goodRequest, post, queryOf } from './flow.ts';
import { expectAtClient, expectConsentPage, expectOurPage } from './pages.ts';

const { verifier, challenge } = aProofKey();
const goodParams = (client: AClient) => goodRequest(client, challenge, ['teams:read', 'members:read']);

type Changes = Readonly<Record<string, string | undefined>>;

/** Pushes a good request with some parameters changed or left out, with the client's secret where it has one. */
function push(api: Api, client: AClient, changes: Changes = {}): Promise<Answer> {
  const params = Object.entries({ ...goodParams(client), ...changes });
  const given = params.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return post(api, '/oauth/par', client, Object.fromEntries(given));
}

async function pushed(api: Api, client: AClient): Promise<string> {
  const { status, text, body } = await push(api, client);
  expect(status, text).toBe(201);
  return body.request_uri;
}

/** What a client sends the browser with. */
const reference = (client: AClient, requestUri: string) => ({ client_id: client.id, request_uri: requestUri });

const open = (api: Api, params: Readonly<Record<string, string>>) =>
  api.anonymous.get(`/oauth/authorize?${queryOf(params)}`);

function expectRefused(answer: Answer, status: number, error: string): void {
  expect([answer.status, answer.body.error], answer.text).toEqual([status, error]);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': expect.stringMatching(/json/) });
  expect(answer.body).not.toHaveProperty('request_uri');
}

const authorized = (clientId: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
});

describe('a pushed request', () => {
  const CLIENTS = [{ confidential: true }, { confidential: false }] as const;

  test.for(CLIENTS)('of a client that is %j leads to tokens', async (options, { api }) => {
    const client = await api.anOAuthClient(options);
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);

    const answer = await push(api, client);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/),
      expires_in: 60,
    });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
      'ratelimit-limit': expect.any(String),
    });
    const id = await askConsent(api, visitor, reference(client, answer.body.request_uri));
    await visitor.trpc.authorizations.approve.mutate({
      id,
      accountId: account.id,
      teamId: null,
      scopes: ['teams:read'],
    });
    const { location = '' } = (await browse(api, visitor)(`/oauth/authorize/${id}`)).headers;
    const params = new URL(location).searchParams;
    expect([params.get('state'), params.get('iss')]).toEqual(['a-state', 'http://localhost:3000']);
    const tokens = await exchange(api, { client, code: params.get('code') ?? '', verifier });

    expect([tokens.status, tokens.body.scope]).toEqual([200, 'teams:read']);
  });

  test('takes the secret in the header, too', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });

    const answer = await api.anonymous.send({
      method: 'POST',
      path: '/oauth/par',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...authorized(client.id, client.clientSecret ?? ''),
      },
      body: queryOf(goodParams(client)),
    });

    expect(answer.status).toBe(201);
  });

  test('is stored only by the hash of its reference, and the log contains no parameter of it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const before = api.lines.length;

    const requestUri = await pushed(api, client);

    const id = requestUri.slice('urn:ietf:params:oauth:request_uri:'.length);
    const rows = await api.rows<{ row: string }>('select a::text as row from oauth_artifact a');
    expect(rows.filter(({ row }) => row.includes(id))).toEqual([]);
    const lines = JSON.stringify(api.lines.slice(before));
    expect(lines).toContain('"operation":"oauth.par"');
    for (const part of [id, challenge, 'a-state', 'client.example']) expect(lines).not.toContain(part);
  });
});

describe('a pushed request is rejected like one that is not pushed', () => {
  test.for<[what: string, error: string, changes: Changes]>([
    ['no PKCE', 'invalid_request', { code_challenge: undefined, code_challenge_method: undefined }],
    ['a plain challenge', 'invalid_request', { code_challenge_method: 'plain' }],
    ['no method', 'invalid_request', { code_challenge_method: undefined }],
    ['response type token', 'unsupported_response_type', { response_type: 'token' }],
    ['response mode fragment', 'invalid_request', { response_mode: 'fragment' }],
    ['response mode form_post', 'invalid_request', { response_mode: 'form_post' }],
    ['a scope nobody knows', 'invalid_scope', { scope: 'teams:read profile' }],
    ['another resource', 'invalid_target', { resource: 'https://other.example' }],
    ['a request object', 'request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['a pushed request in itself', 'request_uri_not_supported', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
    ['a NUL', 'invalid_request', { state: 'a\0b' }],
    ['a look-alike: suffix', 'invalid_request', { redirect_uri: 'https://client.example/callback/' }],
    ['a look-alike: case', 'invalid_request', { redirect_uri: 'https://client.example/Callback' }],
    ['a look-alike: port', 'invalid_request', { redirect_uri: 'https://client.example:443/callback' }],
    ['a look-alike: user', 'invalid_request', { redirect_uri: 'https://client.example@evil.example/callback' }],
    ['a look-alike: scheme', 'invalid_request', { redirect_uri: 'http://client.example/callback' }],
    ['another redirect URI', 'invalid_request', { redirect_uri: 'https://evil.example/callback' }],
    ['a redirect URI on this device', 'invalid_request', { redirect_uri: 'http://127.0.0.1:7777/callback' }],
  ])('%s: %s', async ([, error, changes], { api }) => {
    const client = await api.anOAuthClient({ confidential: true });

    expectRefused(await push(api, client, changes), 400, error);
  });

  test('a parameter that comes twice', async ({ api }) => {
    const client = await api.anOAuthClient();
    const path = '/oauth/par';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };

    for (const name of ['state', 'redirect_uri', 'scope', 'client_id']) {
      const body = `${queryOf(goodParams(client))}&${queryOf({ [name]: 'x' })}`;
      const { status, body: answer } = await api.anonymous.send({ method: 'POST', path, headers, body });
      expect([name, status, answer.error]).toEqual([name, 400, 'invalid_request']);
    }
  });

  test.for([
    ['application/json', '{}'],
    ['multipart/form-data; boundary=b', '--b--'],
    ['application/x-www-form-urlencoded', `state=${'x'.repeat(60 * 1024)}`, 413],
    ['application/x-www-form-urlencoded', ''],
  ] as const)('a body of %s', async ([type, body, status = 400], { api }) => {
    const sent = { method: 'POST', path: '/oauth/par', headers: { 'content-type': type }, body };

    expectRefused(await api.anonymous.send(sent), status, 'invalid_request');
  });
});

describe('a client proves itself before it pushes', () => {
  test('by its own secret', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });
    const other = await api.anOAuthClient({ confidential: true });
    const secret = client.clientSecret ?? '';

    for (const clientSecret of [null, 'wrong', '(hashed)', `${secret}x`, secret.slice(0, -1), other.clientSecret]) {
      const params = goodParams(client);
      expectRefused(await post(api, '/oauth/par', { ...client, clientSecret }, params), 401, 'invalid_client');
    }
    expect((await push(api, client)).status).toBe(201);
  });

  test('in the header, which an error there names', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...authorized(client.id, 'wrong'),
    };

    const answer = await api.anonymous.send({
      method: 'POST',
      path: '/oauth/par',
      headers,
      body: queryOf(goodParams(client)),
    });

    expectRefused(answer, 401, 'invalid_client');
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm="http:\/\/localhost:3000"/);
  });

  test('or is one that has none, and then sends none', async ({ api }) => {
    const client = await api.anOAuthClient();

    expectRefused(await push(api, { ...client, clientSecret: 'a-secret' }), 401, 'invalid_client');
    expectRefused(await push(api, { ...client, id: 'client_00000000000000000000000000' }), 401, 'invalid_client');
  });
});

describe('the reference to a pushed request', () => {
  const FORM = { error_description: expect.any(String), state: 'a-state' };

  test.for([
    'urn:ietf:params:oauth:request_uri:',
    `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`,
    'urn:ietf:params:oauth:request_uri:%00',
  ])('leads nowhere where there is none: %s', async (requestUri, { api }) => {
    const client = await api.anOAuthClient();

    const answer = await open(api, { ...reference(client, requestUri), state: 'a-state' });

    expectAtClient(answer, client.redirectUri, { error: 'invalid_request_uri', ...FORM });
  });

  test('is good for a minute', async ({ api }) => {
    const client = await api.anOAuthClient();
    const requestUri = await pushed(api, client);
    const key = hashSecret(`PushedAuthorizationRequest:${requestUri.split(':').at(-1)}`);
    const aged = await api.rows(
      `update oauth_artifact set expires_at = expires_at - interval '1 min',
         payload = jsonb_set(payload, '{exp}', to_jsonb((payload->>'exp')::int - 60))
       where key_hash = $1 returning key_hash`,
      [key],
    );
    expect(aged).toHaveLength(1);

    const answer = await open(api, { ...reference(client, requestUri), state: 'a-state' });

    expectAtClient(answer, client.redirectUri, { error: 'invalid_request_uri', ...FORM });
  });

  test('is good for one code, also where two pages were opened with it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const account = await api.anAccount();
    const requestUri = await pushed(api, client);
    const visitors = [await signedIn(api, account), await signedIn(api, account)];
    const ways = [];
    for (const visitor of visitors)
      ways.push({ visitor, id: await askConsent(api, visitor, reference(client, requestUri)) });

    const answers = [];
    for (const { visitor, id } of ways) {
      await visitor.trpc.authorizations.approve.mutate({
        id,
        accountId: account.id,
        teamId: null,
        scopes: ['teams:read'],
      });
      answers.push(await browse(api, visitor)(`/oauth/authorize/${id}`));
    }
    const later = await open(api, { ...reference(client, requestUri), state: 'a-state' });

    expectAtClient(answers[0]!, client.redirectUri, { code: expect.any(String), state: 'a-state' });
    expectAtClient(answers[1]!, client.redirectUri, { error: 'invalid_request_uri', ...FORM });
    expectAtClient(later, client.redirectUri, { error: 'invalid_request_uri', ...FORM });
  });

  test('is valid only for the client that pushed it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const other = await api.anOAuthClient({ redirectUri: 'https://other.example/callback' });
    const requestUri = await pushed(api, client);

    const answer = await open(api, reference(other, requestUri));

    expect(answer.headers.location).toMatch(/^https:\/\/other\.example\/callback\?error=invalid_request_object&/);
    expectOurPage(await open(api, { request_uri: requestUri }), 'invalid_request');
    expectConsentPage(await open(api, reference(client, requestUri)));
  });

  test('is all that counts beside the client: what stands next to it changes nothing', async ({ api }) => {
    const client = await api.anOAuthClient();
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);
    const id = await askConsent(api, visitor, {
      ...reference(client, await pushed(api, client)),
      redirect_uri: 'https://evil.example/',
      scope: 'api-keys:write',
      code_challenge: aProofKey().challenge,
      prompt: 'none',
    });

    expect((await visitor.trpc.authorizations.read.query({ id })).scopes).toEqual(['teams:read', 'members:read']);
    await visitor.trpc.authorizations.deny.mutate({ id });
    const answer = await browse(api, visitor)(`/oauth/authorize/${id}`);

    expectAtClient(answer, client.redirectUri, { error: 'access_denied', ...FORM });
  });

  test('does not allow another redirect URI than a direct request', async ({ api }) => {
    const client = await api.anOAuthClient();
    const requestUri = `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`;

    const answer = await open(api, { ...reference(client, requestUri), redirect_uri: 'https://evil.example/' });

    expectOurPage(answer, 'invalid_redirect_uri');
  });
});

test('a page of the client can read the answer to a pushed request, a page of another origin cannot', async ({
  api,
}) => {
  const client = await api.anOAuthClient();
  const from = (origin: string, method = 'POST') =>
    api.anonymous.send({
      method,
      path: '/oauth/par',
      headers:
        method === 'POST'
          ? { origin, 'content-type': 'application/x-www-form-urlencoded' }
          : { origin, 'access-control-request-method': 'POST' },
      ...(method === 'POST' && { body: queryOf(goodParams(client)) }),
    });

  const preflight = await from('https://client.example', 'OPTIONS');
  const own = await from('https://client.example');
  const foreign = await from('https://evil.example');

  expect([preflight.status, preflight.headers['access-control-allow-methods']]).toEqual([204, 'POST']);
  expect([own.status, own.headers['access-control-allow-origin']]).toEqual([201, 'https://client.example']);
  expect(foreign.status).toBe(201);
  for (const { headers } of [preflight, own, foreign])
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  expect(foreign.headers).not.toHaveProperty('access-control-allow-origin');
});

describe('the parameters of a request', () => {
  const KILOBYTES = 8;
  const TOO_LARGE = `the parameters have more than ${KILOBYTES * 1024} bytes`;
  // What is not stored is not counted; control characters take six bytes as they are stored.
  const LARGE: readonly (readonly [string, Changes])[] = [
    ['state', { state: 'a'.repeat(KILOBYTES * 1024) }],
    ['control characters', { state: '\u0001'.repeat(1500) }],
    ['letters of two bytes', { state: 'ä'.repeat(4000) }],
    ['code_challenge', { code_challenge: 'a'.repeat(KILOBYTES * 1024) }],
  ];

  test.for(LARGE)('have at most 8 KB, pushed or in the URL: %s', async ([, changes], { api }) => {
    const client = await api.anOAuthClient();
    const before = await countRequests(api, client);

    const answer = await push(api, client, changes);
    expectRefused(answer, 400, 'invalid_request');
    expect(answer.body.error_description).toBe(TOO_LARGE);
    const page = await open(api, { ...goodParams(client), ...(changes as Record<string, string>) }).catch(() => null);
    if (page?.status !== 431) {
      expectOurPage(page as Answer, 'invalid_request');
      expect(page?.text).toContain(TOO_LARGE);
    }
    expect(await countRequests(api, client)).toBe(before);
  });

  test('are stored up to this bound, and ignored ones are not counted', async ({ api }) => {
    const client = await api.anOAuthClient();

    const { status, text } = await push(api, client, { state: 'a'.repeat(7000), nonce: 'a'.repeat(20_000) });

    expect(status, text).toBe(201);
  });
});

async function countRequests(api: Api, client: AClient): Promise<number> {
  const sql = `select from authorization_request where payload::text like '%' || $1 || '%'`;
  return (await api.rows(sql, [client.id])).length;
}
