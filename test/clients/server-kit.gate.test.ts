import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, SignJWT, generateKeyPair } from 'jose';
import { describe, expect, onTestFinished } from 'vitest';
import { createRosterAuth } from '#client/server';
import { signClaims } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import {
  createBrowser,
  handled,
  pathOf,
  requestAtEndOfTokens,
  requestOf,
  startProduct,
  type Product,
} from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());

async function aProduct(api: Api, options: Parameters<typeof startProduct>[1] = {}): Promise<Product> {
  const product = await startProduct(api, options);
  onTestFinished(() => void product.close());
  return product;
}

async function signedInProduct(api: Api, options: Parameters<typeof startProduct>[1] = {}): Promise<Product> {
  const product = await aProduct(api, options);
  await product.signIn();
  expect((await product.me()).status).toBe(200);
  return product;
}

const cookiesOf = ({ browser, appUrl }: Product) => browser.jarOf(appUrl);

describe('a sign-in', () => {
  test('leads through Roster without a page and back to where the user was', async ({ api }) => {
    const product = await aProduct(api);
    const { appUrl, baseUrl } = product;
    expect((await product.me()).status).toBe(401);

    const { response, way } = await product.signIn('?returnTo=/me%3Ftab%3D2%23top');

    expect(way.map((url) => url.replace(/\?.*/, '').replace(appUrl, 'app').replace(baseUrl, 'roster'))).toEqual([
      'app/auth/sign-in',
      'roster/oauth/authorize',
      expect.stringMatching(/^roster\/oauth\/authorize\//),
      'app/auth/callback',
      'app/me',
    ]);
    expect(way.at(-1)).toBe(`${appUrl}/me?tab=2#top`);
    expect(await response.json()).toMatchObject({ user: { id: product.account.id, email: product.account.email } });
    expect([...cookiesOf(product).keys()]).toEqual(['__Host-roster']);
  });

  test('is as the documentation lists it for who is signed in at Roster', async ({ api }) => {
    const product = await aProduct(api);
    const { way } = await product.signIn('');
    const named = way.map((url) => {
      const { origin, pathname } = new URL(url);
      return `GET ${origin === product.appUrl ? 'product' : 'Roster'} ${pathname.replace(/(authorize\/).+/, '$1…')}`;
    });
    const journey = readFileSync(join(import.meta.dirname, '../../docs/journey.md'), 'utf8');
    const [, listed] = journey.matchAll(/```text\n([\s\S]*?)\n```/g);
    expect(named).toEqual(listed?.[1]?.split('\n'));
  });

  test.for([
    ['another site', 'https://evil.example/'],
    ['another site without a scheme', '//evil.example/'],
    ['a backslash', '/\\evil.example'],
    ['a tab', '/\t/evil.example'],
    ['a script', 'javascript:alert(1)'],
    ['a URL in another', 'blob:https://app.example.com//evil.example/'],
    ['another port', 'http://127.0.0.1:1/'],
    ['a user name', 'http://x@evil.example/'],
    ['two slashes in the path', '/.//evil.example'],
    ['two slashes after dots', '/..//evil.example'],
    ['encoded slashes', '/%2f%2fevil.example'],
    ['an encoded backslash', '/%5cevil.example'],
    ['a line end', '/\r\nlocation: https://evil.example/'],
    ['the own host as a user name', 'https://app.example.com@evil.example/'],
    ['the own origin inside of another scheme', 'blob:https://app.example.com/x'],
    ['a scheme without slashes', 'http:evil.example'],
  ])('returns to no other site: %s', async ([, returnTo], { api }) => {
    const product = await aProduct(api);

    const { way } = await product.signIn(`?${new URLSearchParams({ returnTo: returnTo ?? '' }).toString()}`);

    expect(way.at(-1)).toMatch(/^https:\/\/app\.example\.com\/(?!\/)/);
  });

  test('returns to the beginning, and to no path of its own, for an address of another site', async ({ api }) => {
    const product = await aProduct(api);
    const { way } = await product.signIn(`?returnTo=${encodeURIComponent('https://evil.example/me')}`);
    expect(way.at(-1)).toBe(`${product.appUrl}/`);
  });

  test('that another browser began is begun anew, and never ends in the session of the one who began it', async ({
    api,
  }) => {
    const product = await aProduct(api);
    const stranger = createBrowser(product.appAt);
    const begun = await stranger.send(`${product.appUrl}/auth/sign-in`);
    for (const [name, value] of product.browser.jarOf(product.baseUrl))
      stranger.jarOf(product.baseUrl).set(name, value);
    let callback = begun.headers.get('location') ?? '';
    while (!callback.startsWith(product.appUrl))
      callback = new URL((await stranger.send(callback)).headers.get('location') ?? '', callback).href;

    const victim = createBrowser(product.appAt);
    const { way } = await victim.open(callback);

    expect(way[1]).toContain('/auth/sign-in?again=1');
    expect(victim.jarOf(product.appUrl).has('__Host-roster')).toBe(false);
  });

  test('whose cookies are blocked ends with an error, not in a circle', async ({ api }) => {
    const product = await aProduct(api);
    const { browser, appUrl } = product;
    let url = `${appUrl}/auth/sign-in`;
    let status = 303;
    for (let hops = 0; status < 400 && hops < 20; hops += 1) {
      browser.jarOf(appUrl).clear();
      const response = await browser.send(url);
      status = response.status;
      url = new URL(response.headers.get('location') ?? '', url).href;
    }

    expect(status).toBe(400);
  });

  test('that is killed between code and cookie succeeds when the callback is opened again', async ({ api }) => {
    const product = await aProduct(api);
    const { browser, appUrl } = product;
    const team = await api.aTeam({ owner: product.account });
    const begun = await browser.send(`${appUrl}/auth/sign-in?returnTo=/me&team=${team.slug}`);
    let callback = begun.headers.get('location') ?? '';
    while (!callback.startsWith(appUrl))
      callback = new URL((await browser.send(callback)).headers.get('location') ?? '', callback).href;
    const waiting = new Map(browser.jarOf(appUrl));
    await browser.send(callback);
    browser.jarOf(appUrl).clear();
    for (const [name, value] of waiting) browser.jarOf(appUrl).set(name, value);

    const { response, way } = await browser.open(callback);

    expect(await response.json()).toMatchObject({ user: { id: product.account.id }, team: { id: team.id } });
    expect(way.at(-1)).toBe(`${appUrl}/me`);
  });

  test('that Roster refuses returns with its error', async ({ api }) => {
    const product = await aProduct(api);
    product.browser.jarOf(product.baseUrl).clear();

    const { way } = await product.signIn('?prompt=none&returnTo=/me');

    expect(way.at(-1)).toBe(`${product.appUrl}/me?sign_in_error=login_required`);
  });

  test('of many tabs keeps the latest five', async ({ api }) => {
    const product = await aProduct(api);
    const begun: string[] = [];
    for (let tab = 0; tab < 8; tab += 1) {
      const { headers } = await product.browser.send(`${product.appUrl}/auth/sign-in`);
      begun.push(headers.getSetCookie()[0]?.split('=')[0] ?? '');
    }

    expect([...cookiesOf(product).keys()]).toEqual(begun.slice(-5));
  });

  test('of a link with long parameters leaves room for the headers of the next request', async ({ api }) => {
    const product = await aProduct(api);
    const random = (length: number) => randomBytes(length).toString('base64url').slice(0, length);
    for (const returnTo of [random(1900), '€'.repeat(900), random(1900), random(1900)]) {
      const query = new URLSearchParams({ returnTo: `/${returnTo}`, team: random(255) });
      const { status } = await product.browser.send(`${product.appUrl}/auth/sign-in?${query.toString()}`);
      expect(status).toBe(303);
      expect([...cookiesOf(product).values()].join('').length).toBeLessThanOrEqual(3600);
    }
    const refused = await product.browser.send(`${product.appUrl}/auth/sign-in?team=${random(260)}`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });
});

describe('a session', () => {
  test('that is changed, or of another secret or application, is none', async ({ api }) => {
    const product = await signedInProduct(api);
    const sealed = cookiesOf(product).get('__Host-roster') ?? '';
    const other = createRosterAuth({ ...product.settings, secret: 'another secret of at least 32 characters' });
    const withCookie = (value: string) =>
      new Request(`${product.appUrl}/`, { headers: { cookie: `__Host-roster=${value}` } });

    const changed = sealed.slice(0, -3) + (sealed.endsWith('A') ? 'B' : 'A') + sealed.slice(-2);
    expect(await product.auth.getSession(withCookie(sealed))).not.toBeNull();
    expect(await product.auth.getSession(withCookie(changed))).toBeNull();
    expect(await product.auth.getSession(withCookie(''))).toBeNull();
    expect(await product.auth.getSession(withCookie('9.x'))).toBeNull();
    expect(await other.getSession(withCookie(sealed))).toBeNull();
    const sibling = createRosterAuth({ ...product.settings, clientId: 'client_other' });
    expect(await sibling.getSession(withCookie(sealed))).toBeNull();
    expect(sealed).not.toContain(product.account.email);
    // What the kit has sealed for another purpose, with the same key.
    const begun = await product.browser.send(`${product.appUrl}/auth/sign-in`);
    const pending = /=([^;]+)/.exec(begun.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
    expect(await product.auth.getSession(withCookie(`1.${pending}`))).toBeNull();
  });

  test('outlives a change of the secret that keeps the former one', async ({ api }) => {
    const product = await signedInProduct(api);
    const renewed = createRosterAuth({
      ...product.settings,
      secret: ['a new secret with at least 32 characters', String(product.settings.secret)],
    });
    const cookie = `__Host-roster=${cookiesOf(product).get('__Host-roster') ?? ''}`;

    expect(await renewed.getSession(new Request(`${product.appUrl}/`, { headers: { cookie } }))).not.toBeNull();
  });

  test('is refreshed before its tokens end, once for all requests of a page', async ({ api }) => {
    const product = await signedInProduct(api);
    const calls: string[] = [];
    const late = createRosterAuth({
      ...product.settings,
      fetch: async (input, init) => {
        calls.push(pathOf(input));
        const response = await fetch(input, init);
        if (!calls.at(-1)?.endsWith('/oauth/token')) return response;
        // As if the tokens ended within the margin.
        const body = (await response.json()) as object;
        return Response.json({ ...body, expires_in: 5 });
      },
    });
    const { response } = await handled(late, product);
    const cookie = response.headers.getSetCookie().find((each) => each.startsWith('__Host-roster=')) ?? '';
    const request = () => new Request(`${product.appUrl}/`, { headers: { cookie: cookie.split(';')[0] ?? '' } });
    calls.length = 0;

    const sessions = await Promise.all(Array.from({ length: 10 }, () => late.getSession(request())));

    expect(sessions.every((session) => session?.user.id === product.account.id)).toBe(true);
    expect(sessions[0]?.setCookies.length).toBeGreaterThan(0);
    expect(calls.filter((path) => path === '/oauth/token')).toHaveLength(1);
  });

  test('ends at its next refresh once the session at Roster has ended', async ({ api }) => {
    const product = await aProduct(api);
    const request = await requestAtEndOfTokens(product);
    expect(await product.auth.getSession(request)).not.toBeNull();
    const later = await requestAtEndOfTokens(product);
    await product.visitor.trpc.auth.signOut.mutate();

    expect(await product.auth.getSession(later)).toBeNull();
  });

  test('goes on while Roster is away until its tokens end, and is 503 afterwards, never signed out', async ({
    api,
  }) => {
    const product = await signedInProduct(api);
    const away = createRosterAuth({ ...product.settings, fetch: () => Promise.reject(new TypeError('fetch failed')) });

    expect(await away.getSession(requestOf(product))).not.toBeNull();
    await expect(away.getSession(await requestAtEndOfTokens(product))).rejects.toMatchObject({
      status: 503,
      code: 'roster_unavailable',
    });
  });

  test('has what pages may know of it', async ({ api }) => {
    const product = await signedInProduct(api);

    const response = await product.browser.send(`${product.appUrl}/auth/session`);

    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = (await response.json()) as object;
    expect(Object.keys(body).toSorted()).toEqual(['isStale', 'provedAt', 'team', 'user']);
    expect(JSON.stringify(body)).not.toMatch(/rst_/);
    expect(await (await createBrowser(product.appAt).send(`${product.appUrl}/auth/session`)).json()).toBeNull();
  });
});

describe('a sign-out', () => {
  test('ends the session of the product and that of Roster, without a page, and comes back', async ({ api }) => {
    const product = await aProduct(api);
    const { appUrl, baseUrl, browser } = product;
    const team = await api.aTeam({ owner: product.account });
    await product.signIn(`?team=${team.id}`);
    expect(await (await product.me()).json()).toMatchObject({ team: { id: team.id } });
    await api.rows('update oauth_client set post_logout_redirect_uris = $2 where id = $1', [
      product.client.id,
      [`${appUrl}/`],
    ]);

    const { way } = await browser.open(`${appUrl}/auth/sign-out`, { method: 'POST' });

    expect(way.map((url) => url.replace(/\?.*/, ''))).toEqual([
      `${appUrl}/auth/sign-out`,
      `${baseUrl}/oauth/logout`,
      `${appUrl}/`,
    ]);
    // However many permissions the team has, they are not in the URL.
    const hint = new URL(way[1] ?? '').searchParams.get('id_token_hint') ?? '';
    expect(decodeJwt(hint)).toMatchObject({ sub: product.account.id, sid: expect.any(String) });
    expect(decodeJwt(hint)).not.toHaveProperty('roster_team');
    expect((await product.me()).status).toBe(401);
    const again = await product.signIn('?prompt=none&returnTo=/');
    expect(again.way.at(-1)).toBe(`${appUrl}/?sign_in_error=login_required`);
  });

  test('of which Roster tells ends the session at the next request', async ({ api }) => {
    const product = await signedInProduct(api);
    const session = await product.auth.getSession(requestOf(product));
    const claims = {
      iss: product.baseUrl,
      aud: product.client.id,
      iat: Math.floor(Date.now() / 1000),
      exp: Math.floor(Date.now() / 1000) + 120,
      jti: 'a-token',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      sid: session?.id ?? '',
      sub: product.account.id,
    };
    const tell = async (changes: object, type?: 'logout+jwt') => {
      const token = await signClaims(api.services, { ...claims, ...changes }, type);
      const body = new URLSearchParams({ logout_token: token });
      return (await fetch(`${product.appAt}/auth/back-channel-logout`, { method: 'POST', body })).status;
    };

    expect(await tell({ aud: 'client_other' }, 'logout+jwt')).toBe(400);
    expect(await tell({ iss: 'https://other.example' }, 'logout+jwt')).toBe(400);
    expect(await tell({ nonce: 'x' }, 'logout+jwt')).toBe(400);
    expect(await tell({ events: {} }, 'logout+jwt')).toBe(400);
    expect(await tell({ sid: undefined }, 'logout+jwt')).toBe(400);
    expect(await tell({ exp: claims.iat - 600 }, 'logout+jwt')).toBe(400);
    expect(await tell({})).toBe(400);
    expect((await product.me()).status).toBe(200);
    expect(await tell({}, 'logout+jwt')).toBe(200);
    expect((await product.me()).status).toBe(401);
  });

  test.for([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling domain, to which the cookie is sent too', { 'sec-fetch-site': 'same-site' }],
    ['an address bar', { 'sec-fetch-site': 'none' }],
  ] as const)('from %s is refused, as is every change of the kit', async ([, headers], { api }) => {
    const product = await signedInProduct(api);
    for (const path of ['/auth/sign-out', '/auth/team', '/roster/trpc/createTeam']) {
      const response = await product.browser.send(product.appUrl + path, { method: 'POST', headers });
      expect(response.status, path).toBe(403);
    }
    expect((await product.browser.send(`${product.appUrl}/roster/trpc/getMe`, { headers })).status).toBe(403);
    expect((await product.me()).status).toBe(200);
  });

  test('from a browser without Sec-Fetch-Site needs the origin of the product', async ({ api }) => {
    const product = await signedInProduct(api);
    const cookie = [...cookiesOf(product)].map((pair) => pair.join('=')).join('; ');
    const call = async (headers: Record<string, string>) =>
      (
        await product.auth.handle(
          new Request(`${product.appUrl}/roster/trpc/getMe`, { headers: { cookie, ...headers } }),
        )
      )?.status;

    for (const origin of ['https://evil.example', 'https://sub.app.example.com', 'http://app.example.com', 'null'])
      expect(await call({ origin }), origin).toBe(403);
    expect(await call({})).toBe(403);
    expect(await call({ origin: product.appUrl })).toBe(200);
  });

  test('is believed only of Roster', async ({ api }) => {
    const product = await signedInProduct(api);
    const session = await product.auth.getSession(requestOf(product));
    const { privateKey } = await generateKeyPair('RS256');
    const forged = await new SignJWT({
      sid: session?.id ?? '',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt' })
      .setIssuer(product.baseUrl)
      .setAudience(product.client.id)
      .setIssuedAt()
      .setJti('1')
      .sign(privateKey);
    const unsigned = `${Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString('base64url')}.${forged.split('.')[1]}.`;

    for (const token of [forged, unsigned, '', 'x']) {
      const response = await fetch(`${product.appAt}/auth/back-channel-logout`, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      });
      expect(response.status, token).toBe(400);
    }
    expect((await product.me()).status).toBe(200);
  });
});

describe('a recent proof', () => {
  /** Makes the only proof of the session one by password, so many seconds ago. */
  const proveAgo = ({ api, account }: Product, seconds: number) =>
    api.rows('update session set proofs = $2, proven_at = null where account_id = $1', [
      account.id,
      { password: new Date(Date.now() - seconds * 1000).toISOString() },
    ]);

  // Guarantees that the page goes on in the team in which it asked, and however long its user takes.
  test.for([0, 120])('that takes %i seconds keeps the team of the session', async (seconds, { api }) => {
    const { now } = Date;
    /** The clock of the product alone: Roster, in the same process, has its own. */
    let late = 0;
    const product = await aProduct(api, {
      fetch: async (input, init) => {
        Date.now = now;
        return fetch(input, init).finally(() => (Date.now = () => now() + late));
      },
    });
    const { appUrl, baseUrl, browser, visitor, account, me } = product;
    const team = await api.aTeam({ owner: account });
    await product.signIn(`?team=${team.slug}`);
    const { way } = await browser.open(`${appUrl}/auth/prove`);
    const id = /\/oauth\/consent\/([^/?]+)/.exec(way.at(-1) ?? '')?.[1] ?? '';
    for (const [name, value] of browser.jarOf(baseUrl)) visitor.cookies.set(name, value);
    const confirm = () => visitor.trpc.authorizations.continue.mutate({ id, accountId: account.id });
    await expect(confirm()).rejects.toMatchObject({ data: { problem: { code: 'proof_required' } } });
    await proveAgo(product, 0);
    let callback = new URL((await confirm()).redirectTo, baseUrl).href;
    while (!callback.startsWith(appUrl))
      callback = new URL((await browser.send(callback)).headers.get('location') ?? '', callback).href;
    try {
      late = seconds * 1000;
      Date.now = () => now() + late;
      expect((await browser.open(callback)).way.at(-1)).toBe(`${appUrl}/auth/proved`);
    } finally {
      late = 0;
      Date.now = now;
    }
    expect(await (await me()).json()).toMatchObject({ user: { id: account.id }, team: { id: team.id } });
  });

  test('that Roster did not ask for is none', async ({ api }) => {
    const product = await signedInProduct(api);
    const { appUrl, browser } = product;
    await proveAgo(product, 120);
    const url = new URL((await browser.send(`${appUrl}/auth/prove`)).headers.get('location') ?? '');
    url.searchParams.delete('max_age');
    const { way } = await browser.open(url.href);
    expect(way.at(-1)).toBe(`${appUrl}/auth/proved?sign_in_error=proof_missing`);
  });
});

describe('procedures of Roster', () => {
  const call = (product: Product, path: string, init: RequestInit = {}) =>
    product.browser.send(`${product.appUrl}/roster/trpc/${path}`, init);

  test('are called with the session, whose token the page does not see', async ({ api }) => {
    const product = await signedInProduct(api);

    const created = await call(product, 'createTeam', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Engines' }),
    });
    const listed = await call(product, 'listTeams,getMe?batch=1');

    expect(created.status, await created.clone().text()).toBe(200);
    expect(await listed.json()).toMatchObject([
      { result: { data: [{ name: 'Engines' }] } },
      { result: { data: { email: product.account.email } } },
    ]);
    expect(created.headers.has('set-cookie')).toBe(false);
  });

  test('are called by who is signed in, by their names alone', async ({ api }) => {
    const product = await signedInProduct(api);

    expect((await createBrowser(product.appAt).send(`${product.appUrl}/roster/trpc/listTeams`)).status).toBe(401);
    for (const path of [
      '..%2f..%2foauth%2ftoken',
      'a/b',
      '%2e%2e/api/v1/me',
      '',
      'auth.policy',
      'getMe,auth.signOut?batch=1',
      'sessions.list',
      'operator.search',
      'constructor',
      'getMe,',
      `${'getMe,'.repeat(20)}getMe?batch=1`,
    ])
      expect((await call(product, path)).status, path).toBe(404);
    expect((await call(product, 'listTeams', { method: 'DELETE' })).status).toBe(405);
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect((await call(product, 'createTeam', { method: 'POST', body })).status).toBe(413);
  });

  test('answer no cookie of Roster', async ({ api }) => {
    const product = await signedInProduct(api, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!pathOf(input).startsWith('/trpc/')) return response;
        const headers = new Headers(response.headers);
        headers.append('set-cookie', '__Host-roster=x; Path=/; Secure');
        return new Response(response.body, { status: response.status, headers });
      },
    });
    const response = await call(product, 'getMe');
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, []]);
  });

  test('keep the cookies and other headers of the browser from Roster', async ({ api }) => {
    const seen: Headers[] = [];
    const product = await signedInProduct(api, {
      fetch: (input, init) => {
        seen.push(new Headers(init?.headers));
        return fetch(input, init);
      },
    });
    await call(product, 'listTeams', { headers: { 'x-forwarded-for': '1.2.3.4', authorization: 'Bearer x' } });

    expect([...(seen.at(-1)?.keys() ?? [])].toSorted()).toEqual(['accept', 'accept-language', 'authorization']);
    expect(seen.at(-1)?.get('authorization')).toMatch(/^Bearer rst_/);
  });
});

describe('a kit', () => {
  test.for([
    ['secret', 'short'],
    ['baseUrl', 'http://auth.example.com'],
    ['baseUrl', 'https://auth.example.com/path'],
    ['appUrl', 'app.example.com'],
  ])('is not made with a wrong %s: %s', async ([name, value], { api }) => {
    const { settings } = await aProduct(api);
    expect(() => createRosterAuth({ ...settings, [name ?? '']: value })).toThrow(name);
  });
});
