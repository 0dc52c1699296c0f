import { decodeJwt } from 'jose';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createRosterAuth, memoryEndedSessions, type RosterAuth } from '#client/server';
import { rotateKeys, signClaims } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import {
  cookieOf,
  handled,
  pathOf,
  requestAtEndOfTokens,
  requestOf,
  requestWith,
  startProduct,
  withLifetime,
  type Product,
} from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());

async function aProduct(api: Api): Promise<Product> {
  const product = await startProduct(api);
  onTestFinished(() => void product.close());
  return product;
}

/** A server of the product that sends its requests otherwise. */
const serverOf = ({ settings }: Product, send: typeof fetch = fetch): RosterAuth =>
  createRosterAuth({ ...settings, endedSessions: memoryEndedSessions(), fetch: send });

const isTokenRequest = (input: Parameters<typeof fetch>[0]): boolean => pathOf(input) === '/oauth/token';

describe('clocks', () => {
  /** As if Roster’s clock were ahead by as many seconds, or behind. */
  const ahead =
    (api: Api, seconds: number): typeof fetch =>
    async (input, init) => {
      const response = await fetch(input, init);
      if (!isTokenRequest(input) || !response.ok) return response;
      const body = (await response.json()) as { id_token: string };
      const claims = decodeJwt(body.id_token);
      const times = ['iat', 'exp', 'auth_time'].map((name) => [name, Number(claims[name]) + seconds]);
      const moved = { ...claims, ...Object.fromEntries(times) } as Parameters<typeof signClaims>[1];
      return Response.json({ ...body, id_token: await signClaims(api.services, moved) });
    };

  test('of Roster and the product can differ by a minute, and more is named', async ({ api }) => {
    const product = await aProduct(api);
    for (const seconds of [-50, 50, -600 - 50]) {
      const { response } = await handled(serverOf(product, ahead(api, seconds)), product);
      expect([response.status, seconds]).toEqual([303, seconds]);
    }

    const { response } = await handled(serverOf(product, ahead(api, -600 - 90)), product);
    expect([response.status, await response.json()]).toMatchObject([500, { error: 'clock_wrong' }]);
    expect(cookieOf(response.headers.getSetCookie())).toBe('');
  });

  test('that differ too much while a session is refreshed leave it until its token ends', async ({ api }) => {
    const product = await aProduct(api);
    const late = serverOf(product, ahead(api, -1200));
    const session = await late.getSession(await requestAtEndOfTokens(product, 60));
    expect(session).toMatchObject({ user: { id: product.account.id }, isStale: true });
    await expect(late.getSession(await requestAtEndOfTokens(product))).rejects.toMatchObject({ code: 'clock_wrong' });
  });
});

describe('a refresh', () => {
  test('by two tabs and by two servers at once revokes nothing, and all of its cookies are good', async ({ api }) => {
    const product = await aProduct(api);
    const servers = [serverOf(product), serverOf(product)];
    const request = await requestAtEndOfTokens(product);
    const found = await Promise.all(
      servers.flatMap((server) => [
        server.getSession(request),
        server.getSession(request),
        server.switchTeam(request, ''),
      ]),
    );
    expect(found.map((session) => session?.user.id)).toEqual(found.map(() => product.account.id));

    for (const session of found) {
      const cookie = cookieOf(session?.setCookies ?? []);
      for (const server of servers)
        expect((await server.getSession(requestWith(product, cookie)))?.user.id).toBe(product.account.id);
      const { status } = await api.as(session?.accessToken ?? '').get('/api/v1/credential');
      expect(status).toBe(200);
    }
    expect((await serverOf(product).getSession(request))?.user.id).toBe(product.account.id);
  });

  test('whose cookie the browser does not store is repeated when its tokens end, and then sees that the session ended', async ({
    api,
  }) => {
    const product = await aProduct(api);
    const server = serverOf(product, withLifetime(1));
    const request = await requestAtEndOfTokens(product);
    expect(await server.getSession(request)).not.toBeNull();
    await product.visitor.trpc.auth.signOut.mutate();
    expect(await server.getSession(request)).toBeNull();
  });

  test('after a rotation of the keys of Roster checks the new key at once, as a sign-in does', async ({ api }) => {
    const product = await aProduct(api);
    const server = serverOf(product);
    await handled(server, product);
    const request = await requestAtEndOfTokens(product);
    await rotateKeys(api.services);

    expect((await server.getSession(request))?.user.id).toBe(product.account.id);
    await rotateKeys(api.services);
    expect(cookieOf((await handled(server, product)).response.headers.getSetCookie())).not.toBe('');
  });
});

describe('Roster that is away', () => {
  test('for a minute leaves users signed in, who are told that their data is old, and is asked again later', async ({
    api,
  }) => {
    const product = await aProduct(api);
    let isAway = true;
    let asked = 0;
    const server = serverOf(product, (input, init) => {
      if (!isTokenRequest(input)) return fetch(input, init);
      asked += 1;
      return isAway ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    });
    const request = await requestAtEndOfTokens(product, 60);
    for (let i = 0; i < 5; i += 1)
      expect(await server.getSession(request)).toMatchObject({ user: { id: product.account.id }, isStale: true });
    expect(asked).toBe(1);
    const shown = await server.handle(new Request(`${product.appUrl}/auth/session`, request));
    expect(await shown?.json()).toMatchObject({ isStale: true });

    isAway = false;
    expect(await serverOf(product).getSession(request)).toMatchObject({ isStale: false });
  });

  test.for([
    ['is away', 503],
    ['fails', 500],
  ] as const)(
    'because it %s is asked again when five seconds have passed, whatever the clock says',
    async ([, status], { api }) => {
      const product = await aProduct(api);
      let isAway = true;
      const server = serverOf(product, async (input, init) =>
        isAway && isTokenRequest(input) ? Response.json({}, { status }) : fetch(input, init),
      );
      const request = await requestAtEndOfTokens(product, 60);
      expect(await server.getSession(request)).toMatchObject({ isStale: true });
      isAway = false;

      const [day, steady] = [Date.now.bind(Date), performance.now.bind(performance)];
      vi.spyOn(Date, 'now').mockImplementation(() => day() - 30_000);
      vi.spyOn(performance, 'now').mockImplementation(() => steady() + 5000);
      expect(await server.getSession(request)).toMatchObject({ isStale: false });
    },
  );
});

test('what is answered as a fault is told to the product with its cause, and what users do wrong is not', async ({
  api,
}) => {
  const product = await aProduct(api);
  const told: { code: string; cause?: unknown }[] = [];
  const cause = new TypeError('getaddrinfo ENOTFOUND auth.localhost');
  const auth = createRosterAuth({
    ...product.settings,
    fetch: () => Promise.reject(cause),
    onError: (error) => void told.push(error),
  });
  const response = await auth.handle(new Request(`${product.appUrl}/auth/sign-in`));
  expect(response?.status).toBe(503);
  expect(await response?.text()).not.toContain('ENOTFOUND');
  expect((await auth.handle(new Request(`${product.appUrl}/auth/team`, { method: 'POST' })))?.status).toBe(403);
  expect(told).toMatchObject([{ code: 'roster_unavailable', cause }]);
  expect(() => auth.respond(cause)).toThrow(cause);
});

test('a page that closes during a call of a procedure is no fault of Roster', async ({ api }) => {
  const product = await aProduct(api);
  await product.signIn();
  const told: unknown[] = [];
  const closing = new AbortController();
  const auth = createRosterAuth({
    ...product.settings,
    onError: (error) => void told.push(error),
    fetch: (input, init) => {
      if (pathOf(input).startsWith('/trpc/')) closing.abort();
      return fetch(input, init);
    },
  });
  const headers = { cookie: requestOf(product).headers.get('cookie') ?? '', 'sec-fetch-site': 'same-origin' };
  const init = { headers, signal: closing.signal };
  expect((await auth.handle(new Request(`${product.appUrl}/roster/trpc/getMe`, init)))?.status).toBe(400);
  expect(told).toEqual([]);
});

describe('a sign-out', () => {
  test('while Roster does not answer still leads there, where the session goes on', async ({ api }) => {
    const product = await aProduct(api);
    let isAway = false;
    const server = serverOf(product, (input, init) =>
      isAway ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init),
    );
    const request = await requestAtEndOfTokens(product, 60);
    const headers = { cookie: request.headers.get('cookie') ?? '', 'sec-fetch-site': 'same-origin' };
    const signOut = async (of: RosterAuth) =>
      (await of.handle(new Request(`${product.appUrl}/auth/sign-out`, { method: 'POST', headers })))?.headers;
    expect(await server.getSession(request)).not.toBeNull();
    isAway = true;
    const left = await signOut(server);
    const url = new URL(left?.get('location') ?? '');
    expect(url.pathname).toBe('/oauth/logout');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: product.client.id,
      post_logout_redirect_uri: `${product.appUrl}/`,
    });
    expect(left?.getSetCookie().join()).toContain('Max-Age=0');

    await product.visitor.trpc.auth.signOut.mutate();
    expect((await signOut(serverOf(product)))?.get('location')).toBe('/');
  });

  test('in one of two tabs is not undone by a request of the other that is on its way', async ({ api }) => {
    const product = await aProduct(api);
    const signedOut = Promise.withResolvers<void>();
    const refreshing = Promise.withResolvers<void>();
    let isFirst = true;
    const server = serverOf(product, async (input, init) => {
      const response = await fetch(input, init);
      if (isTokenRequest(input) && isFirst) {
        isFirst = false;
        refreshing.resolve();
        await signedOut.promise;
      }
      return response;
    });
    const request = await requestAtEndOfTokens(product);
    const other = server.getSession(request);
    await refreshing.promise;
    const headers = { cookie: request.headers.get('cookie') ?? '', 'sec-fetch-site': 'same-origin' };
    const answer = await server.handle(new Request(`${product.appUrl}/auth/sign-out`, { method: 'POST', headers }));
    signedOut.resolve();

    expect(answer?.headers.get('location')).toContain('/oauth/logout?id_token_hint=');
    expect(await other).toBeNull();
    expect(await server.getSession(request)).toBeNull();
  });
});

describe('another account that signed in meanwhile', () => {
  test('is not replaced by the one before, whose refresh is on its way', async ({ api }) => {
    const product = await aProduct(api);
    const signedInAgain = Promise.withResolvers<void>();
    const refreshing = Promise.withResolvers<void>();
    let isFirst = true;
    const server = serverOf(product, async (input, init) => {
      const response = await fetch(input, init);
      if (isTokenRequest(input) && isFirst) {
        isFirst = false;
        refreshing.resolve();
        await signedInAgain.promise;
      }
      return response;
    });
    const request = await requestAtEndOfTokens(product);
    const late = server.getSession(request);
    await refreshing.promise;
    const { cookies } = await signedIn(api, await api.anAccount());
    for (const [name, value] of cookies) product.browser.jarOf(product.baseUrl).set(name, value);
    const { response } = await handled(server, product, '', request.headers.get('cookie') ?? '');
    expect(response.headers.getSetCookie().join()).toContain('__Host-roster=1.');
    signedInAgain.resolve();
    expect(await late).toBeNull();
  });

  /** Replaces who is signed in at Roster in the browser. */
  async function replaceAccount({ api, browser, baseUrl, visitor }: Product) {
    const other = await api.anAccount();
    await visitor.trpc.auth.signOut.mutate();
    const { cookies } = await signedIn(api, other);
    browser.jarOf(baseUrl).clear();
    for (const [name, value] of cookies) browser.jarOf(baseUrl).set(name, value);
    return other;
  }

  test('never becomes the user of a session: that ends, and the next sign-in is theirs', async ({ api }) => {
    const product = await aProduct(api);
    const request = await requestAtEndOfTokens(product);
    const other = await replaceAccount(product);
    expect(await product.auth.getSession(request)).toBeNull();
    await product.signIn();
    expect((await product.auth.getSession(requestOf(product)))?.user.id).toBe(other.id);
  });

  test('does not prove for the user, whose page learns that there is no proof', async ({ api }) => {
    const product = await aProduct(api);
    const { appUrl, browser } = product;
    await product.signIn();
    const before = requestOf(product);
    await replaceAccount(product);

    const begun = await browser.send(`${appUrl}/auth/prove`);
    const url = new URL(begun.headers.get('location') ?? '');
    expect(url.searchParams.get('login_hint')).toBe(product.account.id);
    // The page of Roster lets its user take the other account.
    for (const name of ['login_hint', 'max_age']) url.searchParams.delete(name);
    const { response, way } = await browser.open(url.href);

    expect(way.at(-1)).toBe(`${appUrl}/auth/proved?sign_in_error=another_account`);
    expect(await response.text()).toContain("'refused'");
    expect(requestOf(product).headers.get('cookie')).toBe(before.headers.get('cookie'));
  });

  test('does not prove for a page whose session has ended', async ({ api }) => {
    const product = await aProduct(api);
    const { appUrl, browser } = product;
    await product.signIn();
    browser.jarOf(appUrl).clear();
    await replaceAccount(product);

    const { way } = await browser.open(`${appUrl}/auth/prove`);

    expect(way.at(-1)).toBe(`${appUrl}/auth/proved?sign_in_error=login_required`);
    expect([...browser.jarOf(appUrl)]).toEqual([]);
  });
});

test('a response of another server, or of no sign-in of it, is refused by its name (mix-up)', async ({ api }) => {
  const product = await aProduct(api);
  const { appUrl, browser } = product;
  const begun = await browser.send(`${appUrl}/auth/sign-in`);
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
  for (const iss of ['https://other.example', undefined]) {
    const query = new URLSearchParams({ code: 'x', state, ...(iss !== undefined && { iss }) });
    const response = await browser.send(`${appUrl}/auth/callback?${query.toString()}`);
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'sign_in_failed' }]);
  }
});
