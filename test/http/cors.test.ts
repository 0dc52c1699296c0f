import { describe, expect } from 'vitest';
import { postForm } from '../oauth/token-endpoint.ts';
import { startApi, test, testWith, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';

const PAGE = 'https://page.example';

const listed = testWith(() => startApi({ TRPC_ORIGINS: `${PAGE},https://other.example` }));

const onDevices = testWith(() => startApi({ OAUTH_REDIRECT_SCHEMES: 'capacitor' }));

const listOf = (header: string | undefined) => (header ?? '').split(', ').toSorted();
const from = (api: Api, path: string, origin: string, headers: Record<string, string> = {}, method = 'GET') =>
  api.anonymous.send({ method, path, headers: { origin, ...headers } });
const preflight = (api: Api, path: string, origin = PAGE, asked = 'POST') =>
  from(
    api,
    path,
    origin,
    { 'access-control-request-method': asked, 'access-control-request-headers': 'authorization, content-type' },
    'OPTIONS',
  );
const corsOf = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('/api/v1 is for pages of any origin, with a bearer credential', () => {
  const cases: readonly (readonly [
    what: string,
    send: (api: Api, origin: string) => Promise<Answer>,
    status: number,
  ])[] = [
    [
      'an answer',
      async (api, origin) =>
        from(api, '/api/v1/teams', origin, {
          authorization: `Bearer ${(await api.anApiKey(await api.anAccount())).secret}`,
        }),
      200,
    ],
    ['a missing credential', (api, origin) => from(api, '/api/v1/teams', origin), 401],
    [
      'a cookie, which is none',
      (api, origin) => from(api, '/api/v1/teams', origin, { cookie: 'roster_session_3000=x' }),
      401,
    ],
    ['an unknown path', (api, origin) => from(api, '/api/v1/nothing', origin), 404],
    ['a wrong method', (api, origin) => from(api, '/api/v1/teams', origin, {}, 'PUT'), 405],
    ['the document', (api, origin) => from(api, '/api/v1/openapi.json', origin), 200],
  ];

  test.for(cases)('%s can be read, with the rate', async ([, send, status], { api }) => {
    for (const origin of [PAGE, 'null', 'http://localhost:5173']) {
      const answer = await send(api, origin);

      expect(answer.status).toBe(status);
      expect(corsOf(answer).toSorted()).toEqual(['access-control-allow-origin', 'access-control-expose-headers']);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(listOf(answer.headers['access-control-expose-headers'])).toEqual(
        [
          'RateLimit-Limit',
          'RateLimit-Remaining',
          'RateLimit-Reset',
          'RateLimit-Policy',
          'RateLimit',
          'Retry-After',
          'WWW-Authenticate',
          'X-Request-Id',
        ].toSorted(),
      );
    }
  });

  test.for(['/api/v1/teams', '/api/v1/me', '/api/v1/api-keys/x', '/api/v1/teams/x/members/y'])(
    '%s may be asked beforehand',
    async (path, { api }) => {
      const { status, headers } = await preflight(api, path);

      expect(status).toBe(204);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(listOf(headers['access-control-allow-headers'])).toEqual([
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'X-Request-Id',
      ]);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );
});

describe('everything else is for its own origin', () => {
  test.for([
    ['GET', '/trpc/listTeams'],
    ['POST', '/trpc/auth.signIn'],
    ['GET', '/oauth/authorize'],
    ['POST', '/oauth/introspect'],
    ['POST', '/oauth/register'],
    ['GET', '/oauth/consent/x'],
    ['GET', '/'],
    ['GET', '/docs'],
    ['GET', '/healthz'],
    ['GET', '/problems'],
    ['GET', '/nothing'],
  ] as const)('%s %s', async ([method, path], { api }) => {
    const json = { 'content-type': 'application/json' };

    expect(corsOf(await from(api, path, PAGE, method === 'POST' ? json : {}, method))).toEqual([]);
    expect(corsOf(await preflight(api, path))).toEqual([]);
  });
});

describe('/trpc with TRPC_ORIGINS', () => {
  listed('is for pages of those origins, with a bearer credential', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());

    for (const origin of [PAGE, 'https://other.example']) {
      const answer = await from(api, '/trpc/listTeams', origin, { authorization: `Bearer ${secret}` });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin]);
      expect(answer.headers['access-control-expose-headers']).toMatch(/RateLimit-Remaining/);
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
      expect((await preflight(api, '/trpc/listTeams', origin)).headers['access-control-allow-origin']).toBe(origin);
    }
  });

  listed.for([
    `${PAGE}:444`,
    'http://page.example',
    'https://page.example.evil.example',
    'https://sub.page.example',
    'null',
  ])('is not for %s', async (origin, { api }) => {
    expect(corsOf(await from(api, '/trpc/listTeams', origin))).toEqual([]);
    expect(corsOf(await preflight(api, '/trpc/listTeams', origin))).toEqual([]);
  });

  // Guarantees that no cache gives an answer for one origin to another.
  listed('says that its answers depend on the origin', async ({ api }) => {
    for (const origin of [PAGE, 'https://elsewhere.example']) {
      expect((await from(api, '/trpc/listTeams', origin)).headers.vary).toMatch(/\borigin\b/i);
    }
  });
});

describe('the token endpoint is for pages that a public client is sent back to', () => {
  const refresh = (api: Api, clientId: string, origin: string) =>
    postForm(api, '/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: clientId }, { origin });

  test('and may be asked beforehand', async ({ api }) => {
    const { status, headers } = await preflight(api, '/oauth/token');

    expect([status, headers['access-control-allow-methods']]).toEqual([204, 'POST']);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('of the origin of an https redirect', async ({ api }) => {
    const { id } = await api.anOAuthClient({ redirectUri: `${PAGE}/callback` });

    const own = await refresh(api, id, PAGE);

    expect(own.body.error).toBe('invalid_grant');
    expect(own.headers['access-control-allow-origin']).toBe(PAGE);
    expect(own.headers.vary).toMatch(/\borigin\b/i);
    expect(own.headers).not.toHaveProperty('access-control-allow-credentials');
    for (const origin of ['https://elsewhere.example', 'http://page.example', `${PAGE}:444`, 'null']) {
      expect((await refresh(api, id, origin)).headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  onDevices.for([
    ['http://127.0.0.1/callback', 'http://127.0.0.1'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:5173'],
    ['http://localhost:3000/callback', 'http://localhost:8080'],
    ['http://[::1]/callback', 'http://[::1]:1'],
    ['com.example.app:/callback', 'com.example.app://localhost'],
    ['capacitor://localhost/callback', 'capacitor://localhost'],
  ] as const)('of an application on a device with the redirect %s, at %s', async ([redirectUri, origin], { api }) => {
    const { id } = await api.anOAuthClient({ redirectUri, native: true });

    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/par']) {
      const { headers, body } = await postForm(api, path, { client_id: id, token: 'x' }, { origin });
      expect([path, body?.error]).not.toEqual([path, 'invalid_client']);
      expect([path, headers['access-control-allow-origin']]).toEqual([path, origin]);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  // Guarantees that sandboxed pages, whose origin is null as well, are not taken for an application.
  test.for([
    ['com.example.app:/callback', 'null'],
    ['com.example.app:/callback', 'com.example.other://localhost'],
    ['com.example.app:/callback', 'com.example.app.evil://localhost'],
    ['http://127.0.0.1/callback', 'http://localhost'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1.evil.example'],
    ['http://127.0.0.1/callback', 'https://127.0.0.1'],
    ['https://page.example/callback', 'http://localhost:5173'],
  ] as const)('and not of the redirect %s at %s, which is answered anyway', async ([redirectUri, origin], { api }) => {
    const { id } = await api.anOAuthClient({ redirectUri, native: true });

    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/par']) {
      const { status, headers, body } = await postForm(api, path, { client_id: id, token: 'x' }, { origin });
      expect([path, headers]).toEqual([path, expect.not.objectContaining({ 'access-control-allow-origin': origin })]);
      if (path === '/oauth/revoke') expect(status).toBe(200);
      else expect(body.error_description).not.toMatch(/origin/);
    }
  });

  test('and not of a client that is not known', async ({ api }) => {
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/par'])
      for (const form of [{ client_id: 'client_unknown', token: 'x' }, { token: 'x' }]) {
        const { status, headers } = await postForm(api, path, form, { origin: PAGE });
        expect(status).toBeGreaterThanOrEqual(400);
        expect([path, headers]).toEqual([path, expect.not.objectContaining({ 'access-control-allow-origin': PAGE })]);
      }
  });

  test('and not of a client that keeps a secret, which pages cannot', async ({ api }) => {
    const { id, clientSecret } = await api.anOAuthClient({ redirectUri: `${PAGE}/callback`, confidential: true });

    const answer = await postForm(
      api,
      '/oauth/token',
      { grant_type: 'refresh_token', refresh_token: 'x', client_id: id, client_secret: clientSecret ?? '' },
      { origin: PAGE },
    );

    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });
});
