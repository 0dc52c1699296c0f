import { isRosterError } from '../errors.ts';
import type { RosterOperator } from '../generated/operator.ts';
import type { Scope } from '../generated/operations.ts';
import type { AnyPermission } from '../permissions.ts';
import { readText } from './body.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { RosterAccessError, signInRequired, unavailable } from './errors.ts';
import { createForward } from './forward.ts';
import { createLogoutTokenReader } from './logout-token.ts';
import { PROVED_PAGE } from './proved-page.ts';
import { tooLate, within } from './patience.ts';
import { createReach, reachAt } from './reach.ts';
import { createSealer } from './sealed.ts';
import { createSessions, type RosterSession } from './sessions.ts';
import { createSignIn, redirect } from './sign-in.ts';
import { createTokenClient, isLoopback } from './tokens.ts';

export type RosterAuthOptions = {
  /** Scheme, host and port of Roster, such as `https://auth.example.com`. */
  readonly baseUrl: string;
  /** Scheme, host and port of your application, such as `https://app.example.com`. */
  readonly appUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Encrypts the cookie: at least 32 random characters. Of several, the first encrypts and all decrypt. */
  readonly secret: string | readonly string[];
  /** Scopes of the REST API that the tokens have, beside `openid profile email`. */
  readonly scopes?: readonly Scope[];
  /** Where the routes of the kit are, below which the callback is `<path>/callback`. Default: `/auth`. */
  readonly path?: string;
  /** Where pages call procedures of Roster. Default: `/roster/trpc`. */
  readonly trpcPath?: string;
  /** Remembers sign-outs elsewhere. Without, they take effect at the next refresh, within 10 minutes. */
  readonly endedSessions?: EndedSessions;
  /** Lets `requirePermission` ask Roster at each call. Without, it reads the role of at most 10 minutes ago. */
  readonly operator?: Pick<RosterOperator, 'verifyCredential'>;
  /** Days that the cookie is kept. The session of Roster can end before. Default: 30. */
  readonly cookieDays?: number;
  /** Reaches Roster from your servers at another address, such as inside of a cluster. */
  readonly internalUrl?: string;
  /**
   * Learns why a request was answered with a status from 500 on or a session is stale, such as that Roster does not answer,
   * once for each failure. Default: `console.error`.
   */
  readonly onError?: (error: RosterAccessError) => unknown;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
};

const DAY_SECONDS = 86_400;
/** How long a request waits for the operator, whose client repeats for more than a minute. */
const OPERATOR_MS = 10_000;

/**
 * Signs users in to an application with Roster: a first-party client with a secret. All requests and responses are those
 * of `fetch`; `toExpress`, `toFastify`, `toHono` and `toNext` adapt them.
 */
export function createRosterAuth(options: RosterAuthOptions) {
  const { clientId, clientSecret, path = '/auth', trpcPath = '/roster/trpc', endedSessions, operator } = options;
  const report = createReport(options.onError);
  const baseUrl = toOrigin(options.baseUrl, 'baseUrl');
  const appUrl = toOrigin(options.appUrl, 'appUrl');
  const send = reachAt(options.fetch ?? fetch, baseUrl, options.internalUrl);
  const sealer = createSealer(typeof options.secret === 'string' ? [options.secret] : options.secret, clientId);
  const redirectUri = new URL(`${path}/callback`, appUrl).href;
  const reach = createReach(send);
  const tokens = createTokenClient({ baseUrl, clientId, clientSecret, redirectUri, fetch: reach });
  const cookieSeconds = (options.cookieDays ?? 30) * DAY_SECONDS;
  const sessions = createSessions({ appUrl, sealer, tokens, ended: endedSessions, cookieSeconds, report });
  const scope = ['openid profile email', ...(options.scopes ?? [])].join(' ');
  const signIn = createSignIn({ appUrl, path, scope, sealer, tokens, sessions });
  const readLogoutToken = createLogoutTokenReader({ tokens, clientId, fetch: reach });
  const forward = createForward({ baseUrl, prefix: `${trpcPath}/`, fetch: send });

  /** @throws RosterAccessError for requests of other sites, also of sibling domains, whose cookies are sent */
  function requireSameOrigin({ headers }: Request): void {
    const site = headers.get('sec-fetch-site');
    const isOwn = site === null ? headers.get('origin') === appUrl.origin : site === 'same-origin';
    if (!isOwn)
      throw new RosterAccessError(403, 'cross_site_request', 'Send the request from a page of the application.');
  }

  async function signOut(request: Request): Promise<Response> {
    requireSameOrigin(request);
    const cookies = await sessions.end(request);
    // The user leaves the application also while Roster does not answer.
    const idToken = await sessions.getIdToken(request).catch(() => null);
    const { end_session_endpoint: endpoint } = await tokens
      .discover()
      .catch(() => ({ end_session_endpoint: undefined }));
    if (idToken === undefined || endpoint === undefined) return redirect('/', cookies);
    const url = new URL(endpoint);
    // Without one, Roster asks the user, once it answers again: its session goes on until then.
    if (idToken !== null) url.searchParams.set('id_token_hint', idToken);
    url.searchParams.set('client_id', clientId);
    url.searchParams.set('post_logout_redirect_uri', `${appUrl.origin}/`);
    return redirect(url.href, cookies);
  }

  async function backChannelLogout(request: Request): Promise<Response> {
    const sessionId = await readLogoutToken(new URLSearchParams(await readText(request)).get('logout_token') ?? '');
    if (endedSessions === undefined) report(FORGETFUL);
    await sessions.forget(sessionId);
    return new Response(null, { status: 200, headers: { 'cache-control': 'no-store' } });
  }

  async function describeSession(request: Request): Promise<Response> {
    const session = await sessions.find(request);
    const shown = session && {
      user: session.user,
      team: session.team,
      provedAt: session.provedAt,
      isStale: session.isStale,
    };
    return withCookies(Response.json(shown, { headers: { 'cache-control': 'no-store', vary: 'cookie' } }), session);
  }

  async function enterTeam(request: Request): Promise<Response> {
    requireSameOrigin(request);
    const body = parseJson(await readText(request));
    const team = typeof body === 'object' && body !== null && 'team' in body ? body.team : undefined;
    if (typeof team !== 'string')
      throw new RosterAccessError(400, 'invalid_request', 'Send JSON with the `team` to enter.');
    const session = await sessions.enter(request, team);
    if (session === null) throw signInRequired();
    return withCookies(Response.json({ team: session.team }, { headers: { 'cache-control': 'no-store' } }), session);
  }

  const start = (request: Request) =>
    signIn.start(request, { returnTo: new URL(request.url).searchParams.get('returnTo') });

  async function prove(request: Request): Promise<Response> {
    const session = await sessions.find(request);
    // Whoever signed in now could be somebody else, as whom the page would go on.
    if (session === null) return redirect(`${path}/proved?sign_in_error=login_required`);
    return signIn.start(request, {
      returnTo: `${path}/proved`,
      maxAge: 0,
      account: session.user.id,
      team: session.team?.id,
    });
  }

  const routes: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    'GET /sign-in': start,
    'GET /callback': signIn.callback,
    'GET /session': describeSession,
    'POST /sign-out': signOut,
    'POST /back-channel-logout': backChannelLogout,
    'POST /team': enterTeam,
    'GET /prove': prove,
    'GET /proved': () => PROVED_PAGE.clone(),
  };

  async function route(request: Request, pathname: string): Promise<Response | undefined> {
    if (pathname.startsWith(`${trpcPath}/`)) {
      requireSameOrigin(request);
      return forward(request, await sessions.find(request));
    }
    return pathname.startsWith(`${path}/`)
      ? routes[`${request.method} ${pathname.slice(path.length)}`]?.(request)
      : undefined;
  }

  /** Returns the response to a request that is not let in. @throws what is no `RosterAccessError` */
  function respond(error: unknown): Response {
    if (!(error instanceof RosterAccessError)) throw error;
    if (error.status >= 500) report(error);
    return error.toResponse();
  }

  return {
    path,
    trpcPath,
    respond,

    /**
     * Answers a request for one of the kit's own routes.
     * @returns undefined for all others
     */
    async handle(request: Request): Promise<Response | undefined> {
      try {
        return await route(request, new URL(request.url).pathname);
      } catch (error) {
        return respond(error);
      }
    },

    /**
     * Returns who is signed in, or null. Add `setCookies` to the response; the adapters do.
     * @throws RosterAccessError (503) if the tokens have expired and Roster does not answer
     */
    getSession: (request: Request): Promise<RosterSession | null> => sessions.find(request),

    /** Returns who is signed in. @throws RosterAccessError (401) if nobody is */
    async requireSession(request: Request): Promise<RosterSession> {
      const session = await sessions.find(request);
      if (session === null) throw signInRequired();
      return session;
    },

    /**
     * Returns the session if its role in its team has a permission of Roster or of your product.
     * @throws RosterAccessError (401, 403 or 503)
     */
    async requirePermission(request: Request, permission: AnyPermission): Promise<RosterSession> {
      const session = await sessions.find(request);
      if (session === null) throw signInRequired();
      const missing = new RosterAccessError(403, 'permission_missing', `The role lacks the permission ${permission}.`);
      if (session.team === null) throw new RosterAccessError(403, 'team_required', 'Enter a team first.');
      if (operator === undefined) {
        if (session.team.permissions.includes(permission)) return session;
        throw missing;
      }
      const asked = { credential: session.accessToken, teamId: session.team.id, resource: 'api' } as const;
      try {
        const verified = await within(OPERATOR_MS, operator.verifyCredential(asked), tooLate);
        if (verified.code === 'credential_invalid') throw signInRequired();
        if (verified.valid && (verified.permissions as readonly string[]).includes(permission)) return session;
        throw missing;
      } catch (error) {
        if (error instanceof RosterAccessError) throw error;
        throw isRosterError(error) && error.status < 500 && error.status !== 429
          ? operatorRefused(error.code)
          : unavailable(error);
      }
    },

    /** Gets a session for another team of the user: its id, slug or `ext:` id. Add its `setCookies` to the response. */
    async switchTeam(request: Request, team: string): Promise<RosterSession> {
      const session = await sessions.enter(request, team);
      if (session === null) throw signInRequired();
      return session;
    },

    /** Returns the address that signs a user in and leads back to `returnTo`, a path of the application. */
    signInPath: (
      returnTo = '/',
      asked: { readonly team?: string; readonly prompt?: 'create' | 'select_account' } = {},
    ) => `${path}/sign-in?${new URLSearchParams({ returnTo, ...asked }).toString()}`,
  };
}

export type RosterAuth = ReturnType<typeof createRosterAuth>;

/** What a product without a store of ended sessions does not do, which it learns once. */
const FORGETFUL = new RosterAccessError(
  501,
  'ended_sessions_missing',
  'Without `endedSessions`, a sign-out elsewhere takes effect at the next refresh, within 10 minutes.',
);

const operatorRefused = (code: string) =>
  new RosterAccessError(500, 'operator_refused', `Roster refuses the operator key of this application (${code}).`);

// oxlint-disable-next-line eslint/no-console -- of the product, which has its log there unless it says otherwise
const log = (error: unknown): void => console.error(error);

/** Creates the function that tells each failure once, and that fails never. */
function createReport(onError: RosterAuthOptions['onError'] = log) {
  const told = new WeakSet<RosterAccessError>();
  return (error: RosterAccessError): void => {
    if (told.has(error)) return;
    told.add(error);
    void (async () => onError(error))().catch(log);
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withCookies(response: Response, session: RosterSession | null): Response {
  for (const cookie of session?.setCookies ?? []) response.headers.append('set-cookie', cookie);
  return response;
}

/** @throws TypeError for a URL that is not an origin, or that others on the network can read */
function toOrigin(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.pathname !== '/' || url.search !== '' || (url.protocol !== 'https:' && !isLoopback(url)))
    throw new TypeError(`\`${name}\` has to be an origin with https, such as https://app.example.com.`);
  return url;
}
