import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import {
  createRosterAuth,
  memoryEndedSessions,
  postgresEndedSessions,
  redisEndedSessions,
  type EndedSessions,
} from '#client/server';
import { signClaims } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasRedis, redisCli, startRedis, type TestRedis } from '../support/redis.ts';
import { pathOf, requestOf, startProduct, type Product } from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());
/** As the comment of `postgresEndedSessions` has it. */
const TABLE =
  'create table if not exists roster_ended_session (session_id text primary key, until timestamptz not null)';

let redis: TestRedis | undefined;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(() => redis?.stop());

type Store = { readonly open: () => EndedSessions; readonly count: () => Promise<number> };

async function postgres({ databaseUrl }: Api): Promise<Store> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  onTestFinished(() => pool.end());
  await pool.query('drop table if exists roster_ended_session');
  await pool.query(TABLE);
  onTestFinished(() => void pool.query('drop table roster_ended_session'));
  return {
    open: () => postgresEndedSessions(pool),
    count: async () => (await pool.query('select from roster_ended_session')).rows.length,
  };
}

/** The client of `ioredis`, or one with the method of that of `redis`. */
const inRedis = (as: (client: Redis) => Parameters<typeof redisEndedSessions>[0]) => async (): Promise<Store> => {
  const { port = 0, url = '' } = redis ?? {};
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  redisCli(port, 'flushall');
  return { open: () => redisEndedSessions(as(client)), count: () => client.dbsize() };
};

const SHARED: readonly (readonly [string, (api: Api) => Promise<Store>])[] = [
  ['PostgreSQL', postgres],
  ...(hasRedis
    ? ([
        ['Redis, by ioredis', inRedis((client) => client)],
        [
          'Redis, by redis',
          inRedis((client) => ({ sendCommand: ([name = '', ...args]) => client.call(name, ...args) })),
        ],
        [
          'Redis, by a client that reads numbers as texts',
          inRedis((client) => ({ call: async (name, ...args) => String(await client.call(name, ...args)) })),
        ],
      ] as const)
    : []),
];

/** Tells a server of the product that a session has ended, as Roster does. @returns its status */
async function tell(auth: Product['auth'], { api, baseUrl, client, appUrl }: Product, sid: string, age = 0) {
  const iat = Math.floor(Date.now() / 1000) - age;
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = { iss: baseUrl, aud: client.id, iat, exp: iat + age + 120, jti: sid, events, sid };
  const token = await signClaims(api.services, claims as Parameters<typeof signClaims>[1], 'logout+jwt');
  const post = () => ({ method: 'POST', body: new URLSearchParams({ logout_token: token }) });
  const send = async () => (await auth.handle(new Request(`${appUrl}/auth/back-channel-logout`, post())))?.status ?? 0;
  return { status: await send(), again: send };
}

// Guarantees that a sign-out reaches all servers of a product, whichever of them Roster has told.
describe.for(SHARED)('sign-outs that are remembered in %s', ([, open]) => {
  test('end the session on each server behind a balancer', async ({ api }) => {
    const product = await startProduct(api);
    onTestFinished(() => void product.close());
    const store = await open(api);
    const [told, other] = [1, 2].map(() => createRosterAuth({ ...product.settings, endedSessions: store.open() }));
    await product.signIn();
    const request = requestOf(product);
    const { id = '' } = (await other?.getSession(request)) ?? {};

    expect((await tell(told as Product['auth'], product, id)).status).toBe(200);
    expect(await told?.getSession(request)).toBeNull();
    expect(await other?.getSession(request)).toBeNull();
  });

  test('are forgotten once no token of the session can be valid', async ({ api }) => {
    const { open: openStore, count } = await open(api);
    const store = openStore();
    await store.add('ses_past', Date.now() - 1000);
    await store.add('ses_now', Date.now() + 60_000);
    await store.add('ses_now', Date.now() + 30_000);

    expect([await store.has('ses_past'), await store.has('ses_now'), await store.has('ses_other')]).toEqual([
      false,
      true,
      false,
    ]);
    await expect.poll(count).toBe(1);
  });
});

test('sign-outs that are remembered in the process are forgotten, too, also out of their order', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = memoryEndedSessions();
  void store.add('ses_a', Date.now() + 1000);
  void store.add('ses_b', Date.now() + 2000);
  expect([store.has('ses_a'), store.has('ses_b')]).toEqual([true, true]);
  vi.setSystemTime(Date.now() + 1500);
  expect([store.has('ses_a'), store.has('ses_b')]).toEqual([false, true]);
});

// Guarantees that a store of the product that is away locks nobody out: its sessions go on as without one.
describe.for<[string, () => Promise<never>]>([
  ['fails', () => Promise.reject(new Error('store'))],
  ['does not answer', () => new Promise(() => undefined)],
])('a store that %s', ([, fail]) => {
  test('leaves users in, is asked again later, and is told to the product', async ({ api }) => {
    const told: { code: string }[] = [];
    let asked = 0;
    const has = () => {
      asked += 1;
      return fail();
    };
    const product = await startProduct(api, {
      endedSessions: { add: fail, has },
      onError: (error) => void told.push(error),
    });
    onTestFinished(() => void product.close());
    await product.signIn();
    for (let i = 0; i < 3; i += 1) expect((await product.me()).status).toBe(200);
    expect(asked).toBe(1);
    expect(told).toMatchObject([{ code: 'ended_sessions_unavailable' }]);

    // Roster sends it again.
    expect((await tell(product.auth, product, 'ses_x')).status).toBe(503);
    expect(told).toHaveLength(2);
  });
});

describe('a logout token', () => {
  test('is remembered longer than an access token lives', async ({ api }) => {
    let until = 0;
    let seconds = 0;
    const product = await startProduct(api, {
      endedSessions: { add: (_, end) => void (until = end), has: () => false },
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        const body = response.ok ? ((await response.clone().json()) as { expires_in?: number }) : {};
        seconds = body.expires_in ?? seconds;
        return response;
      },
    });
    onTestFinished(() => void product.close());
    await product.signIn();

    expect((await tell(product.auth, product, 'ses_x')).status).toBe(200);
    expect(seconds).toBeGreaterThan(0);
    expect(until).toBeGreaterThan(Date.now() + seconds * 1000);
  });

  test('that is replayed ends nothing but its own session', async ({ api }) => {
    const product = await startProduct(api);
    onTestFinished(() => void product.close());
    await product.signIn();
    const { id = '' } = (await product.auth.getSession(requestOf(product))) ?? {};
    const { again } = await tell(product.auth, product, id);
    await product.visitor.trpc.auth.signOut.mutate();
    const { cookies } = await signedIn(api, product.account);
    for (const [name, value] of cookies) product.browser.jarOf(product.baseUrl).set(name, value);
    await product.signIn();
    expect((await product.me()).status).toBe(200);

    expect(await again()).toBe(200);
    expect((await product.me()).status).toBe(200);
    expect((await tell(product.auth, product, id, 700)).status).toBe(400);
  });

  test('whose keys cannot be read is sent again by Roster', async ({ api }) => {
    const product = await startProduct(api);
    onTestFinished(() => void product.close());
    const auth = createRosterAuth({
      ...product.settings,
      fetch: (input, init) =>
        pathOf(input) === '/oauth/jwks' ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init),
    });
    expect((await tell(auth, product, 'ses_x')).status).toBe(503);
  });

  test('changes nothing before the next refresh where nothing is remembered', async ({ api }) => {
    const product = await startProduct(api);
    onTestFinished(() => void product.close());
    const { endedSessions: _, ...settings } = product.settings;
    const told: { code: string }[] = [];
    const forgetful = createRosterAuth({ ...settings, onError: (error) => void told.push(error) });
    await product.signIn();
    const request = requestOf(product);
    const { id = '' } = (await forgetful.getSession(request)) ?? {};
    await product.visitor.trpc.auth.signOut.mutate();

    for (let i = 0; i < 2; i += 1) expect((await tell(forgetful, product, id)).status).toBe(200);
    expect(await forgetful.getSession(request)).not.toBeNull();
    expect(told).toMatchObject([{ code: 'ended_sessions_missing' }]);
  });
});
