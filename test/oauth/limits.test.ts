import { describe, expect, onTestFinished, test } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import type { AClient } from '../support/factories.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { queryOf } from './flow.ts';

async function anApi(settings: Record<string, string>, shared?: Api): Promise<Api> {
  const api = await startApi({ TRUST_PROXY: '1', ...settings }, shared);
  onTestFinished(() => api.close());
  return api;
}

type Proof = { readonly client?: AClient; readonly secret?: string | null; readonly by?: 'basic' | 'post' };

/** Asks about a token at an address, as a trusted proxy reports it. */
function ask(api: Api, address: string, { client, secret = client?.clientSecret, by = 'post' }: Proof = {}) {
  const proof: Record<string, string> = client === undefined ? {} : { client_id: client.id };
  if (by === 'post' && secret) proof['client_secret'] = secret;
  const basic = `Basic ${Buffer.from(`${client?.id}:${secret}`).toString('base64')}`;
  return api.anonymous.send({
    method: 'POST',
    path: '/oauth/introspect',
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

describe('requests from one address', () => {
  test('are bound at every path together, and other addresses are free', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '7', OAUTH_REGISTRATION: 'on' });
    const at = (address: string) => (method: string, path: string) =>
      api.anonymous.send({ method, path, headers: { 'x-forwarded-for': address } });
    const requests = [
      ['GET', '/oauth/authorize'],
      ['GET', '/oauth/authorize/an-id'],
      ['POST', '/oauth/token'],
      ['POST', '/oauth/revoke'],
      ['POST', '/oauth/introspect'],
      ['POST', '/oauth/par'],
      ['POST', '/oauth/register'],
    ] as const;

    for (const [method, path] of requests) expect((await at('192.0.2.1')(method, path)).status).toBe(400);

    for (const [method, path] of requests) {
      const { status, headers, text, body } = await at('192.0.2.1')(method, path);
      expect([path, status]).toEqual([path, 429]);
      // People get a page, clients what they understand.
      if (method === 'GET') expect(text).toContain('The application cannot be connected');
      else expect(body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
      expect(headers['cache-control']).toBe('no-store');
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    expect((await at('192.0.2.2')('POST', '/oauth/token')).status).toBe(400);
  });

  test('omit where redirects lead and empty values', async () => {
    const api = await anApi({ OAUTH_ADDRESS_LIMIT: '1' });
    const paths = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/api/v1'];
    await ask(api, '192.0.2.1');

    for (const path of [...paths, ...paths]) expect((await api.anonymous.get(path)).status).toBe(200);
    expect((await api.anonymous.get('/oauth/jwks')).status).toBe(404);
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
    const changes = (name: string) =>
      [...one.lines, ...other.lines].filter(({ msg }) => String(msg).startsWith(`Redis is ${name}; attempts`)).length;
    const outages = () => changes('unavailable');
    const isShared = () => outages() === changes('available');

    // A replica whose Redis does not answer within 100 ms, as on a busy machine, counts by itself: such a turn proves
    // nothing, and is repeated by other clients at other addresses.
    for (let turnsLeft = 10; ; turnsLeft -= 1) {
      await expect.poll(isShared, { timeout: 10_000 }).toBe(true);
      const [before, network] = [outages(), `192.0.${turnsLeft}`];
      const client = await one.anOAuthClient({ confidential: true });
      const statuses = [
        await times(5, (turn) => ask(replica(turn), `${network}.1`)),
        await times(8, (turn) => ask(replica(turn), `${network}.2`, { client })),
        // What the client did was never counted at its address.
        await times(4, (turn) => ask(replica(turn), `${network}.2`)),
      ];
      if (outages() !== before && turnsLeft > 1) continue;
      expect(statuses).toEqual([
        [400, 400, 400, 429, 429],
        [...Array<number>(6).fill(200), 429, 429],
        [400, 400, 400, 429],
      ]);
      return;
    }
  });
});
