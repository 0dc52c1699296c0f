import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import sessions from 'express-session';
import { decodeJwt } from 'jose';
import passport from 'passport';
import Strategy, { type Request as PassportRequest } from 'passport-openidconnect';
import { describe, expect, onTestFinished } from 'vitest';
import { createBrowser, serveAt } from '../clients/server-kit.ts';
import { toFetchRequest } from '../../clients/typescript/src/server.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { Auth, customFetch, type AuthConfig } from './auth-js.ts';

const test = testWith(() => startApiAtItsAddress());

const APP_URL = 'https://app.example.com';
const SECRET = 'a secret of the product with 32 characters';

/** A client of the operator's own, whose user is signed in at Roster in the browser. */
async function aClient(api: Api, redirectUri: string) {
  const { baseUrl } = api.services.config;
  const client = await api.anOAuthClient({ confidential: true, firstParty: ['profile:read'], redirectUri });
  const account = await api.anAccount();
  const visitor = await signedIn(api, account);
  const open = (appAt: string) => {
    const browser = createBrowser(appAt);
    for (const [name, value] of visitor.cookies) browser.jarOf(baseUrl).set(name, value);
    return browser;
  };
  return { baseUrl, account, open, id: client.id, secret: client.clientSecret ?? '' };
}

type Client = Awaited<ReturnType<typeof aClient>>;

/** Listens until the test ends. @returns the address */
async function listen(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const { appAt, close } = await serveAt(createServer(listener as () => void));
  onTestFinished(() => void close());
  return appAt;
}

describe('passport-openidconnect', () => {
  const CALLBACK = `${APP_URL}/callback`;

  /** With PKCE (RFC 7636), which the strategy lacks and Roster requires: its verifier is in the session. */
  class WithPkce extends Strategy {
    override authenticate(request: PassportRequest, options: object): void {
      const verifier = request.session.verifier ?? randomBytes(32).toString('base64url');
      request.session.verifier = verifier;
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      this.authorizationParams = () => ({ code_challenge: challenge, code_challenge_method: 'S256' });
      const exchange = this._oauth2.getOAuthAccessToken.bind(this._oauth2);
      this._oauth2 = Object.assign(Object.create(this._oauth2) as typeof this._oauth2, {
        getOAuthAccessToken: (code: string, params: object, done: () => void) =>
          exchange(code, { ...params, code_verifier: verifier }, done),
      });
      super.authenticate(request, options);
    }
  }

  function serve({ baseUrl, id, secret }: Client, OfStrategy = WithPkce): Promise<string> {
    const options = {
      issuer: baseUrl,
      authorizationURL: `${baseUrl}/oauth/authorize`,
      tokenURL: `${baseUrl}/oauth/token`,
      userInfoURL: `${baseUrl}/oauth/userinfo`,
      clientID: id,
      clientSecret: secret,
      callbackURL: CALLBACK,
      scope: 'profile email',
      nonce: true,
    };
    const parties = new passport.Passport();
    parties.use(
      new OfStrategy(
        options,
        (_issuer, fromUserinfo, fromIdToken, _context, _idToken, _access, _refresh, _params, done) =>
          done(null, { fromUserinfo, fromIdToken }),
      ),
    );
    const app = express();
    app.use(sessions({ secret: SECRET, resave: false, saveUninitialized: true }));
    app.use(parties.initialize());
    const authenticate = parties.authenticate('openidconnect', { session: false });
    app.get('/sign-in', authenticate);
    app.get('/callback', authenticate, (req, res) => {
      res.json((req as unknown as { user: object }).user); // set by passport
    });
    app.use((error: Error, _req: unknown, res: express.Response, _next: unknown) => {
      res.status(400).send(`${error.name} ${error.message}`);
    });
    return listen(app);
  }

  test('signs a user in, whose id token and userinfo agree', async ({ api }) => {
    const client = await aClient(api, CALLBACK);
    const { response } = await client.open(await serve(client)).open(`${APP_URL}/sign-in`);
    expect(response.status).toBe(200);
    const user = { id: client.account.id, emails: [{ value: client.account.email }] };
    expect(await response.json()).toMatchObject({ fromIdToken: { id: user.id }, fromUserinfo: user });
  });

  test('lets in nobody with the response of a sign-in that another browser began', async ({ api }) => {
    const client = await aClient(api, CALLBACK);
    const appAt = await serve(client);
    const attacker = client.open(appAt);
    let url = `${APP_URL}/sign-in`;
    while (!url.startsWith(CALLBACK)) url = new URL((await attacker.send(url)).headers.get('location') ?? '', url).href;
    expect((await client.open(appAt).send(url)).status).toBe(403);
  });

  test('gets no code without PKCE', async ({ api }) => {
    const client = await aClient(api, CALLBACK);
    const appAt = await serve(client, Strategy as typeof WithPkce);
    const { response } = await client.open(appAt).open(`${APP_URL}/sign-in`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/PKCE|code_challenge/);
  });
});

describe('Auth.js', () => {
  const CALLBACK = `${APP_URL}/auth/callback/roster`;

  function serve({ baseUrl, id, secret }: Client, send: typeof fetch = fetch): Promise<string> {
    const config: AuthConfig = {
      basePath: '/auth',
      secret: SECRET,
      trustHost: true,
      useSecureCookies: true,
      logger: { error() {}, warn() {} }, // of the sign-ins that are to fail
      providers: [
        {
          id: 'roster',
          name: 'Roster',
          type: 'oidc',
          issuer: baseUrl,
          clientId: id,
          clientSecret: secret,
          checks: ['pkce', 'state', 'nonce'],
          [customFetch]: send,
        },
      ],
      callbacks: {
        jwt: ({ token, profile }) => ({ ...token, ...(profile && { account: profile['sub'] }) }),
        session: ({ session, token }) => ({ ...session, account: token['account'] }),
      },
    };
    return listen((req, res) => {
      void toFetchRequest(req, true).then(async (request) => {
        const url = new URL(request.url);
        const response = await Auth(new Request(APP_URL + url.pathname + url.search, request), config);
        res.statusCode = response.status;
        for (const [name, value] of response.headers) res.appendHeader(name, value);
        res.end(Buffer.from(await response.arrayBuffer()));
      });
    });
  }

  /** Signs in by the form of Auth.js. @returns the session that it has then, and the addresses on the way */
  async function signIn(client: Client, appAt: string) {
    const browser = client.open(appAt);
    const { csrfToken } = (await (await browser.send(`${APP_URL}/auth/csrf`)).json()) as { csrfToken: string };
    const body = new URLSearchParams({ csrfToken, callbackUrl: `${APP_URL}/auth/session` });
    const { way } = await browser.open(`${APP_URL}/auth/signin/roster`, { method: 'POST', body });
    return { way, session: (await (await browser.send(`${APP_URL}/auth/session`)).json()) as object | null };
  }

  test('signs a user in, and then knows who they are', async ({ api }) => {
    const client = await aClient(api, CALLBACK);
    const { way, session } = await signIn(client, await serve(client));
    expect(way.at(-1)).toBe(`${APP_URL}/auth/session`);
    expect(session).toMatchObject({ account: client.account.id, user: { email: client.account.email } });
  });

  test.for([
    ['without a signature', (token: string) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
    ['with another nonce', (token: string) => withClaims(token, { nonce: 'another' })],
    ['of another issuer', (token: string) => withClaims(token, { iss: 'https://other.example' })],
  ] as const)('lets in nobody with an id token %s', async ([, alter], { api }) => {
    const client = await aClient(api, CALLBACK);
    const appAt = await serve(client, async (input, init) => {
      const response = await fetch(input, init);
      if (!response.url.endsWith('/oauth/token')) return response;
      const body = (await response.json()) as { id_token: string };
      return Response.json({ ...body, id_token: alter(body.id_token) });
    });
    const { way, session } = await signIn(client, appAt);
    expect(way.find((url) => url.includes('/auth/error'))).toBeDefined();
    expect(session).toBeNull();
  });
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const withClaims = (token: string, more: object): string =>
  [token.split('.')[0], encode({ ...decodeJwt(token), ...more }), token.split('.')[2]].join('.');
