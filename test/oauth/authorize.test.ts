import { describe, expect } from 'vitest';
import { removeIgnoredParameters } from '../../src/oauth/request-parameters.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AClient } from '../support/factories.ts';
import { aProofKey, askConsent, browse, goodRequest, queryOf } from './flow.ts';
import { expectAtClient, expectConsentPage, expectOurPage } from './pages.ts';

type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;

const { challenge } = aProofKey();
const RESOURCE = 'http://localhost:3000/api/v1';

/** The path of a good request with some parameters changed, left out, or sent more than once. */
function requestOf(client: AClient, changes: Changes = {}): string {
  const params = Object.entries<Changes[string]>({ ...goodRequest(client, challenge, ['teams:read']), ...changes });
  return `/oauth/authorize?${queryOf(
    params.flatMap(([name, values]) =>
      values === undefined ? [] : [values].flat().map((value) => [name, value] as const),
    ),
  )}`;
}

const ask = (api: Api, client: AClient, changes: Changes = {}, headers: Readonly<Record<string, string>> = {}) =>
  api.anonymous.send({ method: 'GET', path: requestOf(client, changes), headers });

const OF_OPENID: Changes = {
  nonce: 'a-nonce',
  max_age: '-1',
  prompt: ['login', 'toString'],
  display: 'popup',
  claims: '{"id_token":{}}',
  claims_locales: 'de',
  ui_locales: 'de',
  id_token_hint: 'x',
  login_hint: 'a\0b',
  acr_values: 'x',
  registration: '{}',
};

describe('an authorization request', () => {
  test.for<[what: string, changes: Changes]>([
    ['as it should be', {}],
    ['for the API by its name', { resource: RESOURCE }],
    ['for the API by its name twice', { resource: [RESOURCE, RESOURCE] }],
    ['with the one response mode there is', { response_mode: 'query' }],
    ['with a prompt for what is always asked', { prompt: 'consent' }],
    ['without a state', { state: undefined }],
    ['without a redirect URI, where the client has one', { redirect_uri: undefined }],
    ['with parameters that nobody knows', { audience: 'x', more: ['1', '2'], unknown: 'a\0b' }],
    ['with parameters of OpenID Connect', OF_OPENID],
    ['without a page, which is no promise of OAuth', { prompt: 'none' }],
    ['with scopes of OpenID Connect', { scope: 'openid teams:read offline_access' }],
    ['without a scope', { scope: undefined }],
    ['with an empty scope', { scope: '' }],
    ['with a scope of spaces', { scope: '  ' }],
    ['for MCP by its name', { resource: 'http://localhost:3000/mcp' }],
  ])('%s leads to the consent page', async ([, changes], { api }) => {
    expectConsentPage(await ask(api, await api.anOAuthClient(), changes));
  });

  test('has the headers of every answer, and is named in the log without anything of it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const before = api.lines.length;

    const good = await ask(api, client, { state: 'a-secret-state' }, { 'x-request-id': 'mine-1' });
    const bad = await ask(api, client, { state: 'a-secret-state', code_challenge: undefined });
    const none = await ask(api, client, { client_id: 'nobody', state: 'a-secret-state' });

    expect(good.headers['x-request-id']).toBe('mine-1');
    for (const { headers } of [good, bad, none]) {
      expect(headers).toMatchObject({
        'x-request-id': expect.any(String),
        'ratelimit-limit': expect.any(String),
        'ratelimit-remaining': expect.any(String),
        'ratelimit-reset': expect.any(String),
      });
    }
    const lines = api.lines.slice(before);
    expect(lines.filter(({ msg }) => msg === 'request').map(({ operation, status }) => [operation, status])).toEqual([
      ['oauth.authorize', 303],
      ['oauth.authorize', 303],
      ['oauth.authorize', 400],
    ]);
    const id = good.headers.location?.split('/').at(-1) ?? '';
    for (const part of ['a-secret-state', challenge, 'client.example', '/oauth/', id])
      expect(JSON.stringify(lines)).not.toContain(part);
  });
});

describe('a request that the client may hear of goes to its redirect URI, with state and issuer', () => {
  test.for<[what: string, error: string, changes: Changes]>([
    ['no PKCE', 'invalid_request', { code_challenge: undefined, code_challenge_method: undefined }],
    ['a plain challenge', 'invalid_request', { code_challenge_method: 'plain' }],
    ['a challenge of a method nobody knows', 'invalid_request', { code_challenge_method: 's256' }],
    ['a challenge without a method, which would be plain', 'invalid_request', { code_challenge_method: undefined }],
    ['a method without a challenge', 'invalid_request', { code_challenge: undefined }],
    ['a challenge that is too short', 'invalid_request', { code_challenge: challenge.slice(1) }],
    ['a challenge that is too long', 'invalid_request', { code_challenge: 'a'.repeat(129) }],
    ['a challenge that is none', 'invalid_request', { code_challenge: `${challenge.slice(1)}=` }],
    ['response type token', 'unsupported_response_type', { response_type: 'token' }],
    ['response type code token', 'unsupported_response_type', { response_type: 'code token' }],
    ['response type id_token', 'unsupported_response_type', { response_type: 'id_token', nonce: 'a-nonce' }],
    ['response type none', 'unsupported_response_type', { response_type: 'none' }],
    ['response type CODE', 'unsupported_response_type', { response_type: 'CODE' }],
    ['no response type', 'invalid_request', { response_type: undefined }],
    ['response mode fragment', 'invalid_request', { response_mode: 'fragment' }],
    ['response mode form_post', 'invalid_request', { response_mode: 'form_post' }],
    ['response mode jwt', 'unsupported_response_mode', { response_mode: 'jwt' }],
    ['response mode web_message', 'unsupported_response_mode', { response_mode: 'web_message' }],
    ['another fault and a fragment', 'invalid_request', { response_mode: 'fragment', code_challenge: undefined }],
    ['another fault and a form', 'invalid_request', { response_mode: 'form_post', code_challenge: undefined }],
    ['a request object', 'request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['a request by reference', 'request_uri_not_supported', { request_uri: 'https://client.example/request' }],
    ['a resource nobody knows', 'invalid_target', { resource: 'http://localhost:3000/api/v2' }],
    ['a resource that looks like the API', 'invalid_target', { resource: `${RESOURCE}//` }],
    ['a resource of another case', 'invalid_target', { resource: RESOURCE.replace('api', 'API') }],
    ['a resource of another host', 'invalid_target', { resource: 'http://evil.example/api/v1' }],
    ['a resource beside the API', 'invalid_target', { resource: [RESOURCE, 'https://other.example'] }],
    ['two resources', 'invalid_target', { resource: [RESOURCE, 'http://localhost:3000/mcp'] }],
    ['a resource that is no URI', 'invalid_target', { resource: '/api/v1' }],
  ])('%s: %s', async ([, error, changes], { api }) => {
    const client = await api.anOAuthClient();

    const answer = await ask(api, client, changes);

    const description = new URL(answer.headers.location ?? '').searchParams.get('error_description');
    expectAtClient(answer, client.redirectUri, {
      error,
      state: 'a-state',
      ...(description !== null && { error_description: description }),
    });
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  test.for<[what: string, scope: string | undefined, named: string | undefined]>([
    ['claims of OpenID Connect as scopes', 'openid teams:read profile', 'profile'],
    ['a scope in another case', 'Teams:Read', 'Teams:Read'],
    ['a permission in place of a scope', 'teams:*', 'teams:*'],
    ['what can be no scope', 'teams:read "all"', undefined],
  ])('%s: invalid_scope', async ([, scope, named], { api }) => {
    const client = await api.anOAuthClient();

    expectAtClient(await ask(api, client, { scope }), client.redirectUri, {
      error: 'invalid_scope',
      error_description: expect.any(String),
      state: 'a-state',
      ...(named !== undefined && { scope: named }),
    });
  });

  test('a state comes back as it was', async ({ api }) => {
    const client = await api.anOAuthClient();
    const state = 'a b&c=d#e%20"<ä>\r\nset-cookie: x=y';

    const answer = await ask(api, client, { state, code_challenge: undefined });

    expectAtClient(answer, client.redirectUri, {
      error: 'invalid_request',
      error_description: expect.any(String),
      state,
    });
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  test.for([
    ['https://client.example/callback?tenant=7', '&'],
    ["https://client.example/callback?a=b%20c+d&e=%7E~'(x)&f&g=&=h&a=b%20c", '&'],
    ['https://client.example/callback?error=mine&state=theirs', '&'],
    ['https://client.example/callback?', ''],
    ['https://client.example', '?'],
    ['https://client.example/a%2fb/%c3%a4', '?'],
  ])('%s comes back byte for byte', async ([redirectUri = '', separator], { api }) => {
    const client = await api.anOAuthClient({ redirectUri });
    const visitor = await signedIn(api, await api.anAccount());

    const refused = (await ask(api, client, { code_challenge: undefined })).headers.location;
    const { id } = await askedIn(api, visitor, client);
    const { redirectTo } = await visitor.trpc.authorizations.deny.mutate({ id });
    const denied = (await browse(api, visitor)(new URL(redirectTo).pathname)).headers.location;

    expect(refused?.startsWith(`${redirectUri}${separator}error=invalid_request&`), refused).toBe(true);
    expect(denied?.startsWith(`${redirectUri}${separator}error=access_denied&`), denied).toBe(true);
    for (const location of [refused, denied]) expect(location?.match(/state=a-state/g)).toHaveLength(1);
  });
});

async function askedIn(api: Api, visitor: Visitor, client: AClient) {
  return { id: await askConsent(api, visitor, goodRequest(client, challenge, ['teams:read'])) };
}

describe('a parameter that comes twice', () => {
  const PARAMETERS = ['response_type', 'scope', 'state', 'code_challenge', 'code_challenge_method', 'request_uri'];

  test.for(PARAMETERS)('%s is rejected', async (name, { api }) => {
    const client = await api.anOAuthClient();
    const { [name]: value = 'consent' }: Readonly<Record<string, string>> = goodRequest(client, challenge, [
      'teams:read',
    ]);

    expectAtClient(await ask(api, client, { [name]: [value, value] }), client.redirectUri, {
      error: 'invalid_request',
      error_description: `'${name}' parameter must not be provided twice`,
      ...(name !== 'state' && { state: 'a-state' }),
    });
  });

  test('client_id gets our error page', async ({ api }) => {
    const client = await api.anOAuthClient();

    expectOurPage(await ask(api, client, { client_id: [client.id, client.id] }), 'invalid_request');
  });

  // Guarantees that a URL of 16 KB costs what a short one does: its parsing takes the square of the repetitions.
  test('scope is rejected, and passed on a few times, if it comes a thousand times', async ({ api }) => {
    const client = await api.anOAuthClient();
    const scope = Array.from({ length: 1000 }, () => 'x');

    expectAtClient(await ask(api, client, { scope }), client.redirectUri, {
      error: 'invalid_request',
      error_description: `'scope' parameter must not be provided twice`,
      state: 'a-state',
    });
    expect(removeIgnoredParameters(new URLSearchParams('scope=x&'.repeat(1000))).size).toBeLessThan(20);
  });

  // Guarantees that of two values neither is used: only registered URIs receive the error.
  test.for([0, 1])('redirect_uri is not followed, whichever is the other one: %i', async (at, { api }) => {
    const client = await api.anOAuthClient();
    const uris = ['https://evil.example/', 'https://evil.example/'].with(at, client.redirectUri);

    expectAtClient(await ask(api, client, { redirect_uri: uris }), client.redirectUri, {
      error: 'invalid_request',
      error_description: expect.any(String),
      state: 'a-state',
    });
  });
});

/** That no request leads to the URI, neither a good one nor one that is refused. */
async function expectNoWayTo(api: Api, client: AClient, redirectUri: string): Promise<void> {
  const refused: Changes[] = [{}, { code_challenge: undefined }, { scope: 'all' }, { request: 'x' }];
  for (const changes of refused) {
    expectOurPage(await ask(api, client, { ...changes, redirect_uri: redirectUri }), 'invalid_redirect_uri');
  }
}

describe('a redirect URI is the registered one to the letter', () => {
  test.for([
    'https://evil.example/callback',
    'https://client.example/callback/',
    'https://client.example/callback2',
    'https://client.example/callback/../other',
    'https://client.example/x/../callback',
    'https://client.example//callback',
    'https://client.example/callback?next=https://evil.example',
    'https://client.example/callback?',
    'https://client.example/callback#fragment',
    'https://client.example/callback#',
    'https://client.example/Callback',
    'https://client.example/%63allback',
    'https://client.example/callback%00',
    'https://client.example/callback\0',
    ' https://client.example/callback',
    'https://client.example/callback ',
    'https://client.example/callback\r\nx: y',
    'https://CLIENT.example/callback',
    'HTTPS://client.example/callback',
    'https://client.example./callback',
    'https://sub.client.example/callback',
    'https://client.example.evil.example/callback',
    'https://evil.example/https://client.example/callback',
    'https://client.example:443/callback',
    'https://client.example:8443/callback',
    'https://user@client.example/callback',
    'https://client.example@evil.example/callback',
    'https://client.example:pass@evil.example/callback',
    'https://evil.example\\@client.example/callback',
    'https://client.example\\.evil.example/callback',
    'https:/client.example/callback',
    '//client.example/callback',
    '/callback',
    'callback',
    'http://client.example/callback',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:7777/callback',
    'javascript:alert(1)//https://client.example/callback',
    'data:text/html,<script>alert(1)</script>',
    'com.example.client:/callback',
    'urn:ietf:wg:oauth:2.0:oob',
  ])('%j is not', async (redirectUri, { api }) => {
    await expectNoWayTo(api, await api.anOAuthClient(), redirectUri);
  });

  test('of any of several, and never left out where there are several', async ({ api }) => {
    const client = await api.anOAuthClient();
    await api.rows('update oauth_client set redirect_uris = $2 where id = $1', [
      client.id,
      [client.redirectUri, 'https://client.example/second'],
    ]);

    expectConsentPage(await ask(api, client, { redirect_uri: 'https://client.example/second' }));
    expectOurPage(await ask(api, client, { redirect_uri: undefined }), 'invalid_request');
    await expectNoWayTo(api, client, 'https://client.example/third');
  });

  test('and the page that says so is in the language of the browser', async ({ api }) => {
    const headers = { 'accept-language': 'fr-CA, en;q=0.5' };
    const answer = await ask(api, await api.anOAuthClient(), { redirect_uri: 'https://evil.example/' }, headers);

    expectOurPage(answer, 'invalid_redirect_uri');
    expect(answer.text).toContain('<html lang="fr" dir="ltr">');
    expect(answer.text).toContain('<h1>L’application ne peut pas être connectée</h1>');
  });

  test('of the client itself, not of another one', async ({ api }) => {
    const other = await api.anOAuthClient({ redirectUri: 'https://other.example/callback' });

    await expectNoWayTo(api, await api.anOAuthClient(), other.redirectUri);
  });
});

describe('a native client is reached on this device', () => {
  test.for([
    ['http://127.0.0.1/cb', 'http://127.0.0.1/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:65535/cb'],
    ['http://127.0.0.1:8080/cb', 'http://127.0.0.1:9090/cb'],
    ['http://[::1]/cb', 'http://[::1]:7777/cb'],
    ['http://localhost/cb', 'http://localhost:7777/cb'],
    ['http://localhost:3118', 'http://localhost:51004'],
    ['cursor://anysphere.cursor-retrieval/callback', 'cursor://anysphere.cursor-retrieval/callback'],
    ['com.example.app:/cb', 'com.example.app:/cb'],
  ])('registered %s, by %s', async ([registered = '', redirectUri = ''], { api }) => {
    const client = await api.anOAuthClient({ native: true, redirectUri: registered });

    expectConsentPage(await ask(api, client, { redirect_uri: redirectUri }));
    const refused = await ask(api, client, { redirect_uri: redirectUri, code_challenge: undefined });

    expect(refused.headers.location?.slice(0, redirectUri.length + 1)).toBe(`${redirectUri}?`);
  });

  test.for([
    'http://127.0.0.1:7777/other',
    'http://127.0.0.1:7777/cb/',
    'http://127.0.0.1:7777/CB',
    'http://127.0.0.1:7777/cb?x=1',
    'http://127.0.0.1:7777/cb#x',
    'http://127.0.0.1:7777',
    'http://127.0.0.1:70000/cb',
    'http://127.0.0.1:-1/cb',
    'http://127.0.0.1:x/cb',
    'http://localhost:7777/cb',
    'http://localhost/cb',
    'http://[::1]:7777/cb',
    'http://127.0.0.2:7777/cb',
    'http://127.1:7777/cb',
    'http://2130706433:7777/cb',
    'http://127.0.0.1.:7777/cb',
    'http://127.0.0.1.evil.example:7777/cb',
    'http://user@127.0.0.1:7777/cb',
    'http://127.0.0.1:7777@evil.example/cb',
    'http://evil.example:7777/cb',
    'https://127.0.0.1:7777/cb',
    'HTTP://127.0.0.1:7777/cb',
    'com.example.app:/cb',
  ])('registered http://127.0.0.1/cb, not by %s', async (redirectUri, { api }) => {
    await expectNoWayTo(
      api,
      await api.anOAuthClient({ native: true, redirectUri: 'http://127.0.0.1/cb' }),
      redirectUri,
    );
  });
});

describe('an unknown client causes no redirect', () => {
  test.for<[what: string, error: string, clientId: string | undefined]>([
    ['none', 'invalid_request', undefined],
    ['an empty one', 'invalid_request', ''],
    ['one in no form of ours', 'invalid_client', 'nobody'],
    ['one that never was', 'invalid_client', 'client_00000000000000000000000000'],
    ['a URL, while documents are off', 'invalid_client', 'https://client.example/client.json'],
    ['a NUL', 'invalid_client', 'client_\0'],
    ['HTML', 'invalid_client', '<script>alert(1)</script>'],
    ['a member of every object', 'invalid_client', '__proto__'],
  ])('%s: %s', async ([, error, clientId], { api }) => {
    const client = await api.anOAuthClient();

    expectOurPage(await ask(api, client, { client_id: clientId }), error);
    expectOurPage(await ask(api, client, { client_id: clientId, redirect_uri: 'https://evil.example/' }), error);
  });

  test('a client that was deleted', async ({ api }) => {
    const client = await api.anOAuthClient();
    await api.rows('delete from oauth_client where id = $1', [client.id]);

    expectOurPage(await ask(api, client), 'invalid_client');
  });

  test('our page shows nothing that a request brings along', async ({ api }) => {
    const client = await api.anOAuthClient();
    const html = '"><img src=x onerror=alert(1)>';

    for (const name of ['scope', 'state', 'response_type', 'response_mode', 'prompt', 'resource', 'code_challenge']) {
      const answer = await ask(api, client, { redirect_uri: html, [name]: html });
      expectOurPage(answer, 'invalid_redirect_uri');
      expect(answer.text).not.toContain('onerror');
    }
  });
});

// Guarantees that a person in front of a browser reads a page, also where a client would read JSON.
test('too many requests from an address get our page', async ({ api }) => {
  const limited = await startApi({ OAUTH_ADDRESS_LIMIT: '1' }, api);
  const client = await api.anOAuthClient();

  const [first, second] = [await ask(limited, client), await ask(limited, client)];
  const later = await limited.anonymous.get('/oauth/authorize/an-id');
  await limited.close();

  expectConsentPage(first);
  for (const answer of [second, later]) {
    expect(answer.headers).toMatchObject({ 'retry-after': expect.any(String), 'ratelimit-limit': expect.any(String) });
    expectOurPage({ ...answer, status: answer.status === 429 ? 400 : 0 }, 'temporarily_unavailable');
  }
});

const FOREIGN: Readonly<Record<string, string>> = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/evil',
  'x-original-url': '/evil',
  forwarded: 'host=evil.example;proto=https',
};

describe('the host that a request names', () => {
  test('decides nothing', async ({ api }) => {
    const client = await api.anOAuthClient();

    const answer = await ask(api, client, {}, FOREIGN);
    const refused = await ask(api, client, { code_challenge: undefined }, FOREIGN);
    const page = await ask(api, client, { client_id: 'nobody' }, FOREIGN);

    expectConsentPage(answer);
    expect(String(answer.headers['set-cookie'])).not.toMatch(/evil|domain|secure/i);
    expectAtClient(refused, client.redirectUri, {
      error: 'invalid_request',
      error_description: expect.any(String),
      state: 'a-state',
    });
    expectOurPage(page, 'invalid_client');
  });

  test('decides nothing in a target in absolute form either', async ({ api }) => {
    const path = `http://evil.example${requestOf(await api.anOAuthClient())}`;

    const answer = await api.anonymous.send({ method: 'GET', path, headers: { host: 'evil.example' } });

    expectConsentPage(answer);
    expect(String(answer.headers['set-cookie'])).not.toMatch(/evil/);
  });
});

describe('the cookies of a request', () => {
  test('are bound to this browser, and not available to scripts or to requests of other sites', async ({ api }) => {
    const answer = await ask(api, await api.anOAuthClient());
    const id = answer.headers.location?.split('/').at(-1) ?? '';

    const cookies = (answer.headers['set-cookie'] ?? []).map((cookie) => attributesOf(cookie));

    expect(cookies).toEqual([
      { name: 'roster_browser_3000', path: '/', samesite: 'lax', httponly: true, 'max-age': '172800', expires: true },
      ...['roster_resume_3000', 'roster_resume_3000.sig'].map((name) => ofALink(name, `/oauth/authorize/${id}`)),
    ]);
  });

  test('are sent only over https if the service uses it, and the browser’s only to this host', async ({ api }) => {
    const secure = await startApi({ BASE_URL: 'https://roster.example' }, api);
    const client = await api.anOAuthClient();

    const answer = await ask(secure, client);
    const refused = await ask(secure, client, { code_challenge: undefined });
    await secure.close();

    const cookies = (answer.headers['set-cookie'] ?? []).map((cookie) => attributesOf(cookie));
    expect(cookies[0]).toEqual({
      name: '__Host-roster_browser',
      path: '/',
      'max-age': '172800',
      expires: true,
      samesite: 'lax',
      httponly: true,
      secure: true,
    });
    expect(cookies).toHaveLength(3);
    for (const cookie of cookies) expect(cookie).toMatchObject({ httponly: true, secure: true, samesite: 'lax' });
    expect(new URL(refused.headers.location ?? '').searchParams.get('iss')).toBe('https://roster.example');
  });

  test('keep a browser the same in all its requests, unless what it sends is no token', async ({ api }) => {
    const client = await api.anOAuthClient();
    const visitor = await signedIn(api, await api.anAccount());
    const browserAfter = async () => {
      await browse(api, visitor)(requestOf(client));
      return visitor.cookies.get('roster_browser_3000');
    };

    const first = await browserAfter();
    const second = await browserAfter();
    visitor.cookies.set('roster_browser_3000', 'chosen-by-somebody');
    const third = await browserAfter();

    expect(first).toMatch(/^[\w-]{43}$/);
    expect(second).toBe(first);
    expect(third).toMatch(/^[\w-]{43}$/);
    expect(third).not.toBe(first);
  });
});

/** A cookie without its value, and with its time as whether that is as long as a link is valid, and at most two days. */
function attributesOf(cookie: string): Record<string, unknown> {
  const [pair = '', ...attributes] = cookie.split('; ');
  const entries = attributes.map((attribute): [string, unknown] => {
    const [name = '', value] = attribute.split('=');
    return [name.toLowerCase(), name.toLowerCase() === 'expires' ? isInDays(value) : (value?.toLowerCase() ?? true)];
  });
  const path = /path=([^;]+)/i.exec(cookie)?.[1];
  return { name: pair.slice(0, pair.indexOf('=')), ...Object.fromEntries(entries), path };
}

function isInDays(expires = ''): boolean {
  const hours = (Date.parse(expires) - Date.now()) / 3_600_000;
  return hours > 24 && hours <= 48;
}

const ofALink = (name: string, path: string) => ({ name, path, samesite: 'lax', httponly: true, expires: true });

describe('a path under /oauth', () => {
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

  test.for<[path: string, allowed: string[]]>([
    ['/oauth/authorize', ['GET', 'HEAD', 'POST']],
    ['/oauth/authorize/an-id', ['GET', 'HEAD']],
    ['/oauth/token', ['POST', 'OPTIONS']],
    ['/oauth/revoke', ['POST', 'OPTIONS']],
    ['/oauth/par', ['POST', 'OPTIONS']],
    ['/oauth/introspect', ['POST']],
  ])('%s refuses methods but %j', async ([path, allowed], { api }) => {
    for (const method of METHODS) {
      const answer = await api.anonymous.send({ method, path });
      if (allowed.includes(method)) expect(answer.status, method).not.toBe(405);
      else {
        expect(answer.status, method).toBe(405);
        expect(answer.headers.allow).toBe(allowed.join(', '));
        if (method !== 'HEAD') expect(answer).toBeProblem('method_not_allowed');
      }
    }
  });

  test.for([
    '/oauth/register',
    '/oauth/end-session',
    '/oauth/end-session/confirm',
    '/oauth/authorize/',
    '/oauth/authorize/an-id/more',
    '/OAuth/authorize',
    '/oauth/Authorize',
    '/oauth/%61uthorize',
    '/oauth/token/',
    '/oauth/me',
    '/oauth',
  ])('%s is none', async (path, { api }) => {
    for (const method of ['GET', 'POST'])
      expect(await api.anonymous.send({ method, path })).toBeProblem('route_not_found');
  });

  test('answers HEAD as GET, without a body', async ({ api }) => {
    const client = await api.anOAuthClient();

    const good = await api.anonymous.send({ method: 'HEAD', path: requestOf(client) });
    const bad = await api.anonymous.send({ method: 'HEAD', path: requestOf(client, { client_id: 'nobody' }) });

    expectConsentPage(good);
    expect([bad.status, good.text, bad.text]).toEqual([400, '', '']);
  });
});

// URL libraries add the slash, and RFC 3986 says that scheme and host have no case.
test.for([`${RESOURCE}/`, RESOURCE.replace('http://localhost', 'HTTP://LocalHost')])(
  'the resource %s is the API',
  async (resource, { api }) => {
    const client = await api.anOAuthClient();
    const { headers } = await ask(api, client, { resource });

    expect(headers.location).toMatch(/^\/oauth\/consent\//);
  },
);
