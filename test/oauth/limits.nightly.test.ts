import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CLIENT_SOURCES } from '../../src/entities/index.ts';
import { createOAuthRouter } from '../../src/oauth/handler.ts';
import { startApi, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import type { AClient } from '../support/factories.ts';
import { countLockWaits, holdLock } from '../rest/tenants.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { aFirstParty, firstPartyTokens } from './first-party-flow.ts';
import { queryOf } from './flow.ts';

const PATHS = ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/par'] as const;

async function anApi(settings: Record<string, string>, shared?: Api): Promise<Api> {
  const api = await startApi({ TRUST_PROXY: '1', ...settings }, shared);
  onTestFinished(() => api.close());
  return api;
}

type Proof = {
  readonly client?: AClient;
  readonly secret?: string | null;
  readonly by?: 'basic' | 'post';
  readonly path?: string;
};

/** A confidential client that registers itself, at an address of its own. */
async function aRegisteredClient(api: Api): Promise<AClient> {
  const redirectUri = 'https://client.example/callback';
  const { status, text, body } = await api.anonymous.send({
    method: 'POST',
    path: '/oauth/register',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1' },
    body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: 'client_secret_post' }),
  });
  expect(status, text).toBe(201);
  return { id: body.client_id, redirectUri, clientSecret: body.client_secret };
}

/** Asks about a token at an address, as a trusted proxy reports it. */
function ask(
  api: Api,
  address: string,
  { client, secret = client?.clientSecret, by = 'post', path = '/oauth/introspect' }: Proof = {},
) {
  const proof: Record<string, string> = client === undefined ? {} : { client_id: client.id };
  if (by === 'post' && secret) proof['client_secret'] = secret;
  const basic = `Basic ${Buffer.from(`${client?.id}:${secret}`).toString('base64')}`;
  return api.anonymous.send({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': address,
      ...(by === 'basic' && { authorization: basic }),
    },
    body: queryOf({ ...proof, token: 'a-token' }),
  });
}

async function times(count: number, work: (turn: number) => Promise<Answer>): Promise<number[]> {
  const statuses: number[] = [];
  for (let turn = 0; turn < count; turn += 1) statuses.push((await work(turn)).status);
  return statuses;
}

/** What is a constant, and reads nothing. */
const CONSTANT = /^GET \/oauth\/style-\w+\.css$/;

type Layer = {
  readonly route?: { readonly path: string; readonly stack: readonly { readonly method?: string }[] };
  readonly handle: { readonly stack?: readonly Layer[] };
};

/** The routes of a router of Express, as `METHOD /path`; without OPTIONS, and those that refuse other methods. */
const listRoutes = (layers: readonly Layer[] = []): string[] =>
  layers.flatMap(({ route, handle }) =>
    route === undefined
      ? listRoutes(handle.stack)
      : route.stack
          .filter(({ method }) => method !== undefined && method !== 'options')
          .map(({ method }) => `${method?.toUpperCase()} ${route.path}`),
  );

/** The routes below `/oauth`, whichever file adds them. */
const oauthRoutes = (api: Api): (readonly [method: string, path: string])[] =>
  [...new Set(listRoutes((createOAuthRouter(api.http) as unknown as Layer['handle']).stack))] // Express does not type its layers
    .filter((route) => route.includes(' /oauth/') && !CONSTANT.test(route))
    .map((route) => route.replace(':id', 'an-id').split(' ') as [string, string]);

describe('requests from one address', () => {
  test('are bound at every route below /oauth together, and other addresses are free', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '13', OAUTH_REGISTRATION: 'on', RATE_LIMIT: '9' });
    const at = (address: string) => (method: string, path: string) =>
      api.anonymous.send({ method, path, headers: { 'x-forwarded-for': address } });
    const routes = oauthRoutes(api);
    expect(routes.map((route) => route.join(' '))).toEqual(
      expect.arrayContaining(['GET /oauth/jwks', 'GET /oauth/userinfo', 'POST /oauth/par']),
    );
    expect(routes).toHaveLength(13);

    for (const [method, path] of routes)
      expect([path, (await at('192.0.2.1')(method, path)).status]).not.toContain(429);

    for (const [method, path] of routes) {
      const { status, headers, text, body } = await at('192.0.2.1')(method, path);
      expect([path, status]).toEqual([path, 429]);
      // People get a page, clients what they understand.
      if (/^.oauth.(?:authorize|logout)/.test(path)) expect(text).toContain('The application cannot be connected');
      else if (/jwks|userinfo/.test(path)) expect(body).toMatchObject({ code: 'rate_limited' });
      else expect(body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
      expect(headers['cache-control']).toBe('no-store');
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    expect((await at('192.0.2.2')('POST', '/oauth/token')).status).toBe(400);
    // Nothing of this consumed the rate limit of the API.
    expect((await at('192.0.2.1')('GET', '/healthz')).headers['ratelimit-remaining']).toBe('9');
  });

  test('with a wrong operator key count there, too', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '2', RATE_LIMIT: '9' });
    const { secret } = await api.anOperatorKey({ scopes: ['credentials:verify'] });
    const { secret: wrong } = await api.anOperatorKey({ revoked: true });
    const by = (key: string) =>
      api.as(key).send({ method: 'POST', path: '/oauth/introspect', headers: { 'x-forwarded-for': '192.0.2.1' } });

    expect(await times(3, () => by(wrong))).toEqual([401, 401, 429]);
    expect((await by(secret)).status).toBe(400);
    const { headers } = await api.anonymous.send({
      method: 'GET',
      path: '/healthz',
      headers: { 'x-forwarded-for': '192.0.2.1' },
    });
    expect(headers['ratelimit-remaining']).toBe('9');
  });

  test('about the user of a token count for its grant alone', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '6', RATE_LIMIT: '9' });
    const tokens: string[] = [];
    for (let turn = 0; turn < 2; turn += 1)
      tokens.push((await firstPartyTokens(api, await aFirstParty(api), { scope: 'openid teams:read' })).access);
    const ask = (token = '') =>
      api.as(token).send({
        method: 'GET',
        path: '/oauth/userinfo',
        headers: { 'x-forwarded-for': '192.0.2.7' },
      });

    expect(await times(8, () => ask(tokens[0]))).toEqual([...Array<number>(6).fill(200), 429, 429]);
    expect((await ask(tokens[1])).status).toBe(200);
    // The API has its own count of the same grant.
    expect((await api.as(tokens[0] ?? '').get('/api/v1/teams')).headers['ratelimit-remaining']).toBe('8');
  });

  test('are not bound at the documents of discovery, which are constants', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '1' });
    const paths = [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-protected-resource/api/v1',
    ];
    await ask(api, '192.0.2.1');

    for (const path of [...paths, ...paths])
      expect(
        (await api.anonymous.send({ method: 'GET', path, headers: { 'x-forwarded-for': '192.0.2.1' } })).status,
      ).toBe(200);
    expect((await ask(api, '192.0.2.1')).status).toBe(429);
  });

  test('count by /64 where it is one of IPv6', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '3' });

    expect(await times(4, (turn) => ask(api, `2001:db8:0:1::${turn + 1}`))).toEqual([400, 400, 400, 429]);
    expect((await ask(api, '2001:db8:0:2::1')).status).toBe(400);
  });
});

describe('requests of a client', () => {
  test.each(['post', 'basic'] as const)('that proves its secret (%s) count for it, wherever it is', async (by) => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '2', OAUTH_CLIENT_LIMIT: '5' });
    const [client, other] = [
      await api.anOAuthClient({ confidential: true }),
      await api.anOAuthClient({ confidential: true }),
    ];

    expect(await times(5, (turn) => ask(api, `192.0.2.${turn % 2}`, { client, by }))).toEqual(Array(5).fill(200));
    const refused = await ask(api, '192.0.2.3', { client, by });

    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask(api, '192.0.2.1', { client: other, by })).status).toBe(200);
  });

  // A product refreshes the tokens of all its users from one address.
  test.each(['post', 'basic'] as const)(
    'that is first-party (%s) have no limit for tokens, many at once, and whatever else its address sends',
    async (by) => {
      const api = await anApi({ OAUTH_ADDRESS_LIMIT: '3', OAUTH_CLIENT_LIMIT: '4' });
      const scene = await aFirstParty(api);
      const { client } = scene;
      const tokens = await firstPartyTokens(api, scene);
      const basic = `Basic ${Buffer.from(`${client.id}:${client.clientSecret}`).toString('base64')}`;
      const refreshAs = (secret: string | null, authorization = basic) =>
        api.anonymous.send({
          method: 'POST',
          path: '/oauth/token',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            'x-forwarded-for': '192.0.2.1',
            ...(by === 'basic' && { authorization }),
          },
          body: queryOf({
            grant_type: 'refresh_token',
            refresh_token: tokens.refresh,
            ...(by === 'post' && { client_id: client.id, client_secret: secret ?? '' }),
          }),
        });
      const own = () => refreshAs(client.clientSecret);

      const atOnce = await Promise.all(Array.from({ length: 12 }, own));
      expect(atOnce.map(({ status }) => status)).toEqual(Array(12).fill(200));
      expect(await times(6, own)).toEqual(Array(6).fill(200));

      // What others send from there is limited, and does not keep the product out.
      expect(await times(4, () => ask(api, '192.0.2.1'))).toEqual([400, 400, 400, 429]);
      expect((await own()).status).toBe(200);
      const { clientSecret: foreign } = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
      for (const secret of [foreign, 'rst_cs_invented', '']) {
        const proof = `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}`;
        expect((await refreshAs(secret, proof)).status, secret ?? '').toBe(429);
      }
      // Other requests of clients that the operator created are not kept out either.
      const plain = await api.anOAuthClient({ confidential: true });
      for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/par'])
        expect((await ask(api, '192.0.2.1', { client: plain, by, path })).status, path).not.toBe(429);
      expect((await ask(api, '192.0.2.1', { client: plain, by, path: '/oauth/token' })).status).toBe(429);
      // Its other requests count.
      const asked = await times(5, () => ask(api, '192.0.2.2', { client, by, path: '/oauth/revoke' }));
      expect(asked).toEqual([200, 200, 200, 200, 429]);
      expect((await own()).status).toBe(200);
    },
  );

  // Guarantees that they wait in a turn of their own, and not in that of all that their address sends.
  test('that is first-party refresh 400 tokens at once', async () => {
    const api = await anApi({});
    const { client, visitor } = await aFirstParty(api);
    const { refresh } = await firstPartyTokens(api, { client, visitor });
    const lock = await holdLock(api, 'select from oauth_token_family for update', []);
    const sent = Array.from({ length: 400 }, () =>
      fetch(`http://127.0.0.1:${api.port}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: queryOf({
          grant_type: 'refresh_token',
          refresh_token: refresh,
          client_id: client.id,
          client_secret: client.clientSecret ?? '',
        }),
      }),
    );
    const { writeQueue } = api.services.db;
    await vi.waitFor(() => expect(writeQueue.length).toBeGreaterThan(200), { timeout: PATIENCE_MS });
    await lock.release();
    const answers = await Promise.all(sent);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('that is first-party have a limit for tokens if the operator sets it', async () => {
    const api = await anApi({ OAUTH_CLIENT_LIMIT: '3' });
    const { client } = await aFirstParty(api);
    const operator = api.as(await api.anOperatorKey());
    const set = (id: string, hasTokenLimit: unknown) => operator.patch(`/operator/v1/clients/${id}`, { hasTokenLimit });
    const sent = () => times(4, () => ask(api, '192.0.2.1', { client, path: '/oauth/token' }));

    expect(await sent()).toEqual([400, 400, 400, 400]);
    expect((await set(client.id, true)).body).toMatchObject({ id: client.id, hasTokenLimit: true });
    expect(await sent()).toEqual([400, 400, 400, 429]);
    expect((await set(client.id, false)).body).toMatchObject({ hasTokenLimit: false });
    expect(await sent()).toEqual([400, 400, 400, 400]);

    expect(await set(client.id, null)).toBeProblem('validation_failed');
    const plain = await api.anOAuthClient({ confidential: true });
    const browsers = await api.anOAuthClient({ firstParty: ['teams:read'] });
    for (const { id } of [plain, browsers]) {
      expect((await set(id, false)).body.errors).toMatchObject([{ pointer: '/hasTokenLimit' }]);
      expect((await set(id, true)).body).toMatchObject({ id, hasTokenLimit: true });
    }
    const listed: { id: string; hasTokenLimit: boolean }[] = (await operator.get('/operator/v1/clients')).body.clients;
    expect(listed.map(({ id, hasTokenLimit }) => [id, hasTokenLimit])).toEqual([
      [client.id, false],
      [plain.id, true],
      [browsers.id, true],
    ]);
    const publicClient = { name: 'Public', redirectUris: ['https://client.example/'], isConfidential: false };
    const create = (given: object) => operator.post('/operator/v1/clients', { ...publicClient, ...given });
    expect((await create({ hasTokenLimit: false })).body.errors).toMatchObject([{ pointer: '/hasTokenLimit' }]);
    expect((await create({})).body.client).toMatchObject({ hasTokenLimit: true });
  });

  test('are looked up ten times as often as an address can send, and no further if their secrets are wrong', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '1' });
    const { client } = await aFirstParty(api);
    const { clientSecret: wrong } = await api.anOAuthClient({ confidential: true });
    const path = '/oauth/token';
    expect((await ask(api, '192.0.2.1', { path })).status).toBe(400);
    const own = (address: string) => ask(api, address, { client, path });

    // Its own secrets do not count, however many are on their way.
    expect(await times(15, () => own('192.0.2.1'))).toEqual(Array(15).fill(400));
    const counted = vi.spyOn(api.http.attempts.oauthByAddress, 'consume');
    const lock = await holdLock(api, 'lock table oauth_client_secret in access exclusive mode');
    const atOnce = Array.from({ length: 15 }, () => own('192.0.2.1'));
    await vi.waitFor(() => expect(counted).toHaveBeenCalledTimes(15), { timeout: PATIENCE_MS });
    await vi.waitFor(async () => expect(await countLockWaits(api)).toBeGreaterThan(0), { timeout: PATIENCE_MS });
    await lock.release();
    expect((await Promise.all(atOnce)).map(({ status }) => status)).toEqual(Array(15).fill(400));
    expect(await times(9, () => ask(api, '192.0.2.1', { client, secret: wrong, path }))).toEqual(Array(9).fill(429));
    expect((await own('192.0.2.1')).status).toBe(400);
    expect((await ask(api, '192.0.2.1', { client, secret: wrong, path })).status).toBe(429);
    expect((await own('192.0.2.1')).status).toBe(429);
    expect((await own('192.0.2.2')).status).toBe(400);
  });

  // Guarantees that a secret is no way around all limits.
  test('count for it above the limit of the address, also if they are refused before the secret is compared', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '1', OAUTH_CLIENT_LIMIT: '10' });
    const client = await api.anOAuthClient({ confidential: true });
    expect((await ask(api, '192.0.2.1')).status).toBe(400);
    const basic = Buffer.from(`${client.id}:${client.clientSecret}`).toString('base64');
    const unreadable = (address: string, path: string) =>
      api.anonymous.send({
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': address,
          authorization: `Basic ${basic}`,
        },
        body: '{}',
      });

    const statuses = await times(12, (turn) => unreadable('192.0.2.1', PATHS[turn % PATHS.length] ?? ''));

    expect(statuses).toEqual([...Array<number>(10).fill(400), 429, 429]);
    expect((await ask(api, '192.0.2.2', { client })).status).toBe(429);
  });

  // Guarantees that nobody gets a new limit with each client that they register or create.
  const SELF_MADE = CLIENT_SOURCES.filter((source) => source !== 'operator' && source !== 'document');
  const cases = SELF_MADE.flatMap((source) => PATHS.map((path) => [source, path] as const));

  test.each(cases)('that the operator did not create (%s) count at the address: %s', async (source, path) => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '2', OAUTH_REGISTRATION: 'on' });
    const client =
      source === 'account'
        ? await api.anOAuthClient({ confidential: true, owner: await api.anAccount() })
        : await aRegisteredClient(api);

    const statuses = await times(4, () => ask(api, '192.0.2.1', { client, path }));

    expect(statuses.slice(0, 2)).not.toContain(429);
    expect(statuses.slice(2)).toEqual([429, 429]);
    expect((await ask(api, '192.0.2.2', { client, path })).status).not.toBe(429);
  });

  test('with a wrong secret, or none to have, count at the address', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '4' });
    const client = await api.anOAuthClient({ confidential: true });
    const { clientSecret: secret } = await api.anOAuthClient({ confidential: true });
    const publicClient = await api.anOAuthClient();

    const guesses = [
      await ask(api, '192.0.2.1', { client, secret }),
      await ask(api, '192.0.2.1', { client, secret, by: 'basic' }),
      await ask(api, '192.0.2.1', { client, secret: null }),
      await ask(api, '192.0.2.1', { client: publicClient }),
    ];

    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 200]);
    expect((await ask(api, '192.0.2.1', { client, secret })).status).toBe(429);
    // Nobody else's wrong secrets keep the client out.
    expect((await ask(api, '192.0.2.2', { client })).status).toBe(200);
  });
});

describe.skipIf(!hasRedis)('replicas on one Redis', () => {
  test('count addresses and clients together, and give back to all', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const settings = { REDIS_URL: redis.url, OAUTH_ADDRESS_LIMIT: '3', OAUTH_CLIENT_LIMIT: '6' };
    const one = await anApi(settings);
    const other = await anApi(settings, one);
    const replica = (turn: number): Api => (turn % 2 === 0 ? one : other);
    const client = await one.anOAuthClient({ confidential: true });
    const statuses = [
      await times(5, (turn) => ask(replica(turn), '192.0.2.1')),
      await times(8, (turn) => ask(replica(turn), '192.0.2.2', { client })),
      // What the client did was never counted at its address.
      await times(4, (turn) => ask(replica(turn), '192.0.2.2')),
    ];

    expect(statuses).toEqual([
      [400, 400, 400, 429, 429],
      [...Array<number>(6).fill(200), 429, 429],
      [400, 400, 400, 429],
    ]);
  });
});
