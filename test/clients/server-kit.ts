import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import {
  createRosterAuth,
  memoryEndedSessions,
  toExpress,
  type RosterAuth,
  type RosterAuthOptions,
} from '#client/server';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';

type Jar = Map<string, string>;

const SCOPES = ['profile:read', 'teams:read', 'teams:write', 'members:read', 'api-keys:write'] as const;

/** The product that users see, behind a proxy that ends TLS. */
const APP_URL = 'https://app.example.com';

/**
 * A browser with cookies for each origin. It follows redirects, also between origins.
 * @param appAt where the server of the product listens
 */
export function createBrowser(appAt: string) {
  const jars = new Map<string, Jar>();
  const jarOf = (origin: string): Jar => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = jarOf(new URL(url).origin);
    const headers = new Headers({ 'sec-fetch-site': 'same-origin', ...(init.headers as Record<string, string>) });
    if (jar.size > 0) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url.replace(APP_URL, appAt), { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      if (/Max-Age=0(;|$)/i.test(cookie) || /expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Opens an address as the browser does: up to ten redirects. @returns the last answer, and the addresses on the way */
  async function open(url: string, init: RequestInit = {}) {
    const way = [url];
    let response = await send(url, init);
    for (let location = response.headers.get('location'); location !== null && way.length <= 10;) {
      way.push(new URL(location, way.at(-1)).href);
      response = await send(way.at(-1) ?? '');
      location = response.headers.get('location');
    }
    return { response, way };
  }

  return { jarOf, send, open };
}

export type KitBrowser = ReturnType<typeof createBrowser>;

type Served = { readonly appAt: string; readonly close: () => unknown };

/** The routes that every product of the tests has, on Express. */
async function serveWithExpress(auth: RosterAuth): Promise<Served> {
  const roster = toExpress(auth);
  const app = express();
  app.use(roster);
  app.get('/me', roster.session, (req, res) => {
    const { roster: session } = req as unknown as { roster: { user: object; team: object | null } }; // set by the kit
    res.json({ user: session.user, team: session.team });
  });
  app.post('/danger', roster.permission('edit_team_settings'), (_req, res) => {
    res.json({ done: true });
  });
  return serveAt(createServer(app));
}

/** Listens on loopback. */
export async function serveAt(server: Server): Promise<Served> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listening on TCP
  return { appAt: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** A product with the kit, its first-party client, and a user with a team who is signed in at Roster. */
export async function startProduct(
  api: Api,
  options: Partial<RosterAuthOptions> = {},
  serve: (auth: RosterAuth) => Promise<Served> = serveWithExpress,
) {
  const appUrl = APP_URL;
  const { baseUrl } = api.services.config;
  const client = await api.anOAuthClient({
    confidential: true,
    firstParty: SCOPES,
    redirectUri: `${appUrl}/auth/callback`,
  });
  const ended = memoryEndedSessions();
  const settings: RosterAuthOptions = {
    baseUrl,
    appUrl,
    clientId: client.id,
    clientSecret: client.clientSecret ?? '',
    secret: 'a secret of the product with 32 characters',
    scopes: SCOPES,
    endedSessions: ended,
    onError: () => undefined,
    ...options,
  };
  const auth = createRosterAuth(settings);
  const { appAt, close } = await serve(auth);

  const account = await api.anAccount();
  const visitor = await signedIn(api, account);
  const browser = createBrowser(appAt);
  for (const [name, value] of visitor.cookies) browser.jarOf(baseUrl).set(name, value);
  return {
    api,
    auth,
    settings,
    account,
    visitor,
    browser,
    appUrl,
    appAt,
    baseUrl,
    client,
    ended,
    signIn: (query = '') => browser.open(`${appUrl}/auth/sign-in${query}`),
    me: () => browser.send(`${appUrl}/me`),
    close,
  };
}

export type Product = Awaited<ReturnType<typeof startProduct>>;

/**
 * Signs in by hand at a kit that no server has.
 * @param former the cookie of who was signed in before
 */
export async function handled(auth: Product['auth'], product: Product, query = '', former = '') {
  const { browser, appUrl } = product;
  const begun = await auth.handle(new Request(`${appUrl}/auth/sign-in${query}`));
  let callback = begun?.headers.get('location') ?? '';
  while (!callback.startsWith(appUrl))
    callback = new URL((await browser.send(callback)).headers.get('location') ?? '', callback).href;
  const cookie = begun?.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const response = await auth.handle(new Request(callback, { headers: { cookie: `${former}; ${cookie}` } }));
  if (response === undefined) throw new Error('The kit did not answer.');
  return { response };
}

export const requestWith = (product: Product, cookie: string): Request =>
  new Request(`${product.appUrl}/`, { headers: { cookie: `__Host-roster=${cookie}` } });

export const requestOf = (product: Product): Request =>
  requestWith(product, product.browser.jarOf(product.appUrl).get('__Host-roster') ?? '');

/** The path that a `fetch` asks for. */
export const pathOf = (input: Parameters<typeof fetch>[0]): string =>
  new URL(input instanceof Request ? input.url : input).pathname;

/** Sends as `send` does, and says that the tokens live as long. */
export const withLifetime =
  (seconds: number, send: typeof fetch = fetch): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    if (pathOf(input) !== '/oauth/token' || !response.ok) return response;
    return Response.json({ ...((await response.json()) as object), expires_in: seconds });
  };

/** Signs in with tokens that live as long, by default none when the session is read. */
export async function requestAtEndOfTokens(product: Product, seconds = 0, query = ''): Promise<Request> {
  const short = createRosterAuth({ ...product.settings, fetch: withLifetime(seconds) });
  const { response } = await handled(short, product, query);
  return requestWith(product, cookieOf(response.headers.getSetCookie()));
}

/** The sealed session that a response sets. */
export const cookieOf = (setCookies: readonly string[]): string =>
  setCookies
    .find((each) => each.startsWith('__Host-roster='))
    ?.split(';')[0]
    ?.slice('__Host-roster='.length) ?? '';
