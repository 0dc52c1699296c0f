import { inspect } from 'node:util';
import { decodeJwt } from 'jose';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createRosterAuth, memoryEndedSessions, type RosterAuth } from '#client/server';
import { signClaims } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { handled, pathOf, requestAtEndOfTokens, startProduct, type Product } from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());

type Tokens = { access_token: string; id_token: string };
type Answering = (answered: Response, api: Api) => Response | Promise<Response>;

const json = (status: number, body: object, headers = {}) => Response.json(body, { status, headers });

/** Changes the tokens of an answer. */
const changed =
  (change: (tokens: Tokens, api: Api) => object | Promise<object>): Answering =>
  async (answered, api) =>
    answered.ok ? json(200, await change((await answered.json()) as Tokens, api)) : answered;

/** Changes the claims of the id token, which has a good signature. */
const claiming = (claims: object): Answering =>
  changed(async (tokens, api) => ({
    ...tokens,
    id_token: await signClaims(api.services, { ...decodeJwt(tokens.id_token), ...claims } as Parameters<
      typeof signClaims
    >[1]),
  }));

/** What Roster, or what is between, can answer to a request for tokens, and how the kit says it. */
const FAULTS: readonly (readonly [string, string, Answering])[] = [
  ['a connection that ends', '503 roster_unavailable', () => Promise.reject(new TypeError('fetch failed'))],
  ['an error of Roster', '503 roster_unavailable', () => json(500, { error: 'server_error' })],
  ['a proxy without Roster', '503 roster_unavailable', () => new Response('<h1>Bad Gateway</h1>', { status: 502 })],
  ['a limit', '503 roster_unavailable', () => json(429, { error: 'temporarily_unavailable' })],
  ['a page', '502 answer_invalid', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
  [
    'a part of it',
    '502 answer_invalid',
    () => new Response('{"acc', { headers: { 'content-type': 'application/json' } }),
  ],
  ['an empty answer', '502 answer_invalid', () => json(200, {})],
  ['a wrong secret', '500 client_refused', () => json(401, { error: 'invalid_client' })],
  ['a challenge', '500 client_refused', () => json(401, { error: 'x' }, { 'www-authenticate': 'Basic realm="x"' })],
  ['another refusal', '500 client_refused', () => json(400, { error: 'unauthorized_client' })],
  ['no id token', '502 answer_invalid', changed((tokens) => ({ ...tokens, id_token: undefined }))],
  ['a token of no session', '502 answer_invalid', claiming({ sid: undefined })],
  ['a token of another issuer', '502 answer_invalid', claiming({ iss: 'https://other.example' })],
  ['a token of another client', '502 answer_invalid', claiming({ aud: 'client_other' })],
  [
    'a token of another key',
    '502 answer_invalid',
    changed((tokens) => ({ ...tokens, id_token: forge(tokens.id_token) })),
  ],
];

/** Changes the claims of a token, and not its signature. */
function forge(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: 'acc_other' })).toString('base64url');
  return [header, claims, signature].join('.');
}

/** A product whose server gets such answers, and what it was told of them. */
async function aProduct(api: Api, answering: Answering, path = '/oauth/token') {
  const product = await startProduct(api);
  onTestFinished(() => void product.close());
  const told: unknown[] = [];
  const server = () =>
    createRosterAuth({
      ...product.settings,
      endedSessions: memoryEndedSessions(),
      onError: (error) => void told.push(error),
      fetch: async (input, init) => {
        const answered = await fetch(input, init);
        return pathOf(input) === path ? answering(answered, api) : answered;
      },
    });
  return { product, server, told };
}

const saidBy = (error: unknown): string => {
  const { status, code } = error as { status?: number; code?: string };
  return `${status} ${code}`;
};

const signOut = async (auth: RosterAuth, { appUrl }: Product, request: Request) => {
  const headers = { cookie: request.headers.get('cookie') ?? '', 'sec-fetch-site': 'same-origin' };
  return (await auth.handle(new Request(`${appUrl}/auth/sign-out`, { method: 'POST', headers })))?.status;
};

// Guarantees that no answer of Roster, or of what is before it, leaves the kit as anything but an error of its own, and
// that nobody who has a valid token notices.
describe('instead of tokens', () => {
  test.for(FAULTS)('%s is %s, in each route', async ([, said, answering], { api }) => {
    const { product, server, told } = await aProduct(api, answering);
    const team = await api.aTeam({ owner: product.account });
    const [ended, alive] = [await requestAtEndOfTokens(product), await requestAtEndOfTokens(product, 60)];

    const { response } = await handled(server(), product);
    const { error } = (await response.json()) as { error: string };
    expect(`${response.status} ${error}`).toBe(said);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await server().getSession(ended).catch(saidBy)).toBe(said);
    expect(await server().switchTeam(alive, team.id).catch(saidBy)).toBe(said);
    expect(await server().getSession(alive)).toMatchObject({ user: { id: product.account.id }, isStale: true });
    expect(await signOut(server(), product, alive)).toBe(303);

    // A sign-in and a session that goes on; what is thrown is told by who catches it.
    expect(told.map(saidBy)).toEqual([said, said]);
    const logged = inspect(told, { depth: null, showHidden: true });
    expect(logged).not.toMatch(/rst_|eyJ|acc_/);
  });

  test('those of another account are refused where somebody is signed in', async ({ api }) => {
    const { product, server } = await aProduct(api, claiming({ sub: 'acc_other' }));
    const team = await api.aTeam({ owner: product.account });
    expect(
      await server()
        .getSession(await requestAtEndOfTokens(product))
        .catch(saidBy),
    ).toBe('502 answer_invalid');
    const alive = await requestAtEndOfTokens(product, 60);
    expect(await server().getSession(alive)).toMatchObject({ user: { id: product.account.id }, isStale: true });
    expect(await server().switchTeam(alive, team.id).catch(saidBy)).toBe('502 answer_invalid');
  });

  test('keys that cannot be read say nothing about the tokens', async ({ api }) => {
    const { product, server } = await aProduct(api, () => json(503, {}), '/oauth/jwks');
    const { response } = await handled(server(), product);
    expect([response.status, await response.json()]).toMatchObject([503, { error: 'roster_unavailable' }]);
  });
});

describe.for(['authorization_endpoint', 'token_endpoint', 'end_session_endpoint', 'jwks_uri'])(
  'metadata of Roster',
  (name) => {
    test(`without a valid ${name} are none`, async ({ api }) => {
      const { product, server, told } = await aProduct(
        api,
        async (answered) => json(200, { ...((await answered.json()) as object), [name]: 'x' }),
        '/.well-known/openid-configuration',
      );
      const { appUrl } = product;
      const alive = await requestAtEndOfTokens(product, 60);
      const ending = { method: 'POST', body: new URLSearchParams({ logout_token: 'x' }) };
      for (const request of [
        new Request(`${appUrl}/auth/sign-in`),
        new Request(`${appUrl}/auth/back-channel-logout`, ending),
      ])
        expect((await server().handle(request))?.status).toBe(502);
      expect(await server().getSession(alive)).toMatchObject({ isStale: true });
      expect(await signOut(server(), product, alive)).toBe(303);
      expect(told.map(saidBy)).toEqual(told.map(() => '502 answer_invalid'));
    });
  },
);

test.for([
  ['', ''],
  ['longer than what Roster reads', 'x'.repeat(60_000)],
] as const)('a callback with a code that is none is refused, and is no fault: %s', async ([, code], { api }) => {
  const { product, server, told } = await aProduct(api, (answered) => answered);
  const auth = server();
  const begun = await auth.handle(new Request(`${product.appUrl}/auth/sign-in`));
  const cookie = begun?.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const state = new URL(begun?.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const answer = new URLSearchParams({ state, code, iss: product.baseUrl });
  const callback = new Request(`${product.appUrl}/auth/callback?${answer.toString()}`, { headers: { cookie } });
  expect((await auth.handle(callback))?.status).toBe(400);
  expect(told).toEqual([]);
});

test.for(['token=1', 'id_token=1', 'response=1', 'state=2', 'code=2'])(
  'a callback with %s too is refused',
  async (added, { api }) => {
    const { product, server } = await aProduct(api, (answered) => answered);
    const auth = server();
    const begun = await auth.handle(new Request(`${product.appUrl}/auth/sign-in`));
    const cookie = begun?.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    let callback = begun?.headers.get('location') ?? '';
    while (!callback.startsWith(product.appUrl))
      callback = new URL((await product.browser.send(callback)).headers.get('location') ?? '', callback).href;
    const response = await auth.handle(new Request(`${callback}&${added}`, { headers: { cookie } }));
    expect([response?.status, await response?.json()]).toMatchObject([400, { error: 'sign_in_failed' }]);
  },
);

describe('a Roster that accepts connections and does not answer', () => {
  /** A server of the product whose requests wait, and the number of them. */
  async function aSilence(api: Api) {
    const waiting: (() => void)[] = [];
    const { product, server } = await aProduct(
      api,
      (answered) => new Promise((resolve) => void waiting.push(() => resolve(answered))),
    );
    return { product, server, waiting };
  }

  test('leaves a user with a valid token in, whose next request gets the tokens that came late', async ({ api }) => {
    const { product, server, waiting } = await aSilence(api);
    const auth = server();
    const request = await requestAtEndOfTokens(product, 60);
    expect(await auth.getSession(request)).toMatchObject({ isStale: true });
    for (const answer of waiting) answer();
    await expect.poll(() => auth.getSession(request)).toMatchObject({ isStale: false });
    expect(waiting).toHaveLength(1);
  });

  test('makes one request wait for all others, also of users whose tokens have ended', async ({ api }) => {
    let asked = 0;
    const { product, server } = await aProduct(api, () => {
      asked += 1;
      return Promise.reject(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    });
    const auth = server();
    const requests = await Promise.all(Array.from({ length: 3 }, () => requestAtEndOfTokens(product)));
    for (const request of requests) expect(await auth.getSession(request).catch(saidBy)).toBe('503 roster_unavailable');
    expect(asked).toBe(1);
  });
});

test('a role that has become too large for a cookie leaves its user in until the token ends', async ({ api }) => {
  const permissions = Array.from({ length: 500 }, () => crypto.randomUUID());
  const { product, server, told } = await aProduct(
    api,
    claiming({ roster_team: { id: 'team_x', slug: 'x', externalId: null, role: 'owner', permissions } }),
  );
  const alive = await requestAtEndOfTokens(product, 60);
  expect(await server().getSession(alive)).toMatchObject({ user: { id: product.account.id }, isStale: true });
  expect(told.map(saidBy)).toEqual(['500 session_too_large']);
  expect(
    await server()
      .getSession(await requestAtEndOfTokens(product))
      .catch(saidBy),
  ).toBe('500 session_too_large');
});

test.for([
  [
    'throws',
    () => {
      throw new Error('of the product');
    },
  ],
  ['rejects', () => Promise.reject(new Error('of the product'))],
] as const)('an `onError` that %s changes no answer', async ([, onError], { api }) => {
  const { product } = await aProduct(api, (answered) => answered);
  const auth = createRosterAuth({ ...product.settings, fetch: () => Promise.reject(new TypeError('away')), onError });
  expect((await auth.handle(new Request(`${product.appUrl}/auth/sign-in`)))?.status).toBe(503);
  // oxlint-disable-next-line eslint/no-console -- where the kit tells it
  const logged = vi.mocked(console.error);
  await expect.poll(() => logged.mock.calls).toMatchObject([[{ message: 'of the product' }]]);
  logged.mockClear();
});
