import { createCookieWriter, readCookies, readParts, writeParts } from './cookies.ts';
import { answerInvalid } from './answers.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { RosterAccessError, unavailable } from './errors.ts';
import { createBreaker, RETRY_MS, tooLate, within } from './patience.ts';
import type { Sealer } from './sealed.ts';
import type { SessionTeam, TokenClient, TokenSet, UserClaims } from './tokens.ts';

/** What the cookie contains, encrypted. */
type StoredSession = {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
  readonly claims: UserClaims;
};

export type SessionUser = {
  /** The id of the account. It never changes: key your data by it. */
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly picture: string | null;
  readonly locale: string | null;
};

/** Who is signed in, as Roster said it at most 10 minutes ago. */
export type RosterSession = {
  readonly id: string;
  readonly user: SessionUser;
  readonly team: SessionTeam | null;
  /** When the user last proved who they are, in milliseconds since the epoch. */
  readonly provedAt: number | null;
  readonly claims: UserClaims;
  /** Whether Roster did not answer the last refresh. The session goes on until its token ends, then it is an error (503). */
  readonly isStale: boolean;
  /** For calls of Roster on behalf of the user. Keep it on the server. */
  readonly accessToken: string;
  /** `Set-Cookie` values for the response, if the tokens were refreshed. The adapters set them. */
  readonly setCookies: readonly string[];
};

/** How long before its end an access token is refreshed: Roster can be away as long, and nobody notices. */
const EXPIRY_MARGIN_MS = 120_000;
/** How long a request waits for new tokens while those of before are valid. The next request gets them if they come later. */
const PATIENCE_MS = 2000;
/** How long a request waits for the store of ended sessions. */
const STORE_MS = 1000;
/** Until when a session is remembered as ended: longer than an access token lives. */
const REMEMBER_MS = 15 * 60 * 1000;
/** Refreshes whose result is remembered for requests that were sent with the cookie of before, and sign-outs. */
const REMEMBERED_MAX = 10_000;
const PURPOSE = 'session';

type Options = {
  readonly appUrl: URL;
  readonly sealer: Sealer;
  readonly tokens: TokenClient;
  readonly ended: EndedSessions | undefined;
  readonly cookieSeconds: number;
  /** Learns of what failed although the user goes on. */
  readonly report: (error: RosterAccessError) => void;
};

/** Creates the sessions of an application, which are in an encrypted cookie. */
export function createSessions({ appUrl, sealer, tokens, ended, cookieSeconds, report }: Options) {
  const cookies = createCookieWriter(appUrl);
  const name = cookies.nameOf('roster');
  const refreshes = new Map<string, { readonly done: Promise<TokenSet | undefined>; until: number }>();
  /** Refresh tokens of browsers that have signed out. */
  const signedOut = new Set<string>();
  const askStore = createBreaker(storeUnavailable);

  const store = async ({ accessToken, refreshToken, expiresAt, claims }: TokenSet): Promise<string[]> => {
    const stored: StoredSession = { accessToken, refreshToken, expiresAt, claims };
    const sealed = await sealer.seal(PURPOSE, stored, cookieSeconds);
    return writeParts(name, sealed, (part, value) => cookies.write(part, value, cookieSeconds));
  };

  async function read(request: Request): Promise<StoredSession | undefined> {
    const sealed = readParts(readCookies(request.headers), name);
    return sealed === undefined ? undefined : sealer.open<StoredSession>(PURPOSE, sealed);
  }

  /** Gets new tokens of the user, also for another team. */
  async function getTokens({ refreshToken, claims }: StoredSession, team?: string): Promise<TokenSet | undefined> {
    const renewed = await tokens.refresh(refreshToken, team);
    if (renewed !== undefined && renewed.claims.sub !== claims.sub) throw answerInvalid('it is of another account');
    return renewed;
  }

  /** Refreshes. Without the team if the user has left it: Roster answers as if the session had ended. */
  async function renew(stored: StoredSession): Promise<TokenSet | undefined> {
    const renewed = await getTokens(stored);
    return renewed === undefined && stored.claims.roster_team !== undefined ? getTokens(stored, '') : renewed;
  }

  /** Shares a refresh among all requests with the same tokens, so that a page with many requests causes one. */
  function refresh(stored: StoredSession): Promise<TokenSet | undefined> {
    const former = refreshes.get(stored.accessToken);
    // The browser may not have stored the cookie, such as of a page that cannot set one.
    if (former !== undefined && former.until > performance.now()) return former.done;
    const entry = { done: renew(stored), until: Number.POSITIVE_INFINITY };
    entry.done.then(
      (renewed) => {
        if (renewed !== undefined) entry.until = performance.now() + renewed.expiresAt - Date.now() - EXPIRY_MARGIN_MS;
      },
      () => void (entry.until = performance.now() + RETRY_MS),
    );
    refreshes.delete(stored.accessToken);
    refreshes.set(stored.accessToken, entry);
    removeOldest(refreshes);
    return entry.done;
  }

  /**
   * Whether the user has left, here or elsewhere. A store that does not answer locks nobody out: what it would have said is
   * noticed at the next refresh, as without one.
   */
  async function hasEnded({ refreshToken, claims }: StoredSession): Promise<boolean> {
    if (signedOut.has(refreshToken)) return true;
    if (ended === undefined) return false;
    const asked = askStore(() => within(STORE_MS, (async () => ended.has(claims.sid))(), tooLate));
    return asked.catch((error: RosterAccessError) => {
      report(error);
      return false;
    });
  }

  async function present(stored: StoredSession, renewed?: TokenSet, isStale = false): Promise<RosterSession> {
    const { accessToken, claims } = renewed ?? stored;
    return {
      id: claims.sid,
      user: {
        id: claims.sub,
        email: claims.email ?? null,
        name: claims.name ?? null,
        picture: claims.picture ?? null,
        locale: claims.locale ?? null,
      },
      team: claims.roster_team ?? null,
      provedAt: claims.auth_time === undefined ? null : claims.auth_time * 1000,
      claims,
      isStale,
      accessToken,
      setCookies: renewed === undefined ? [] : await store(renewed),
    };
  }

  return {
    store,

    /** Remembers a session that has ended at Roster, until its last token has expired. @throws RosterAccessError (503) */
    async forget(sessionId: string): Promise<void> {
      const until = Date.now() + REMEMBER_MS;
      await within(STORE_MS, (async () => ended?.add(sessionId, until))(), tooLate).catch((cause: unknown) => {
        throw storeUnavailable(cause);
      });
    },

    /**
     * Removes the session, also from requests of other tabs that are on their way, whose cookies would bring it back.
     * @param next the account that is signed in now: its own tabs go on
     */
    async end(request: Request, next?: string): Promise<string[]> {
      const stored = await read(request);
      if (stored !== undefined && stored.claims.sub !== next) signedOut.add(stored.refreshToken);
      removeOldest(signedOut);
      return [...readCookies(request.headers).keys()]
        .filter((cookie) => cookie === name || cookie.startsWith(`${name}.`))
        .map((cookie) => cookies.remove(cookie));
    },

    /**
     * Returns who is signed in. Refreshes the tokens shortly before they expire.
     * @throws RosterAccessError (503) if they have expired and Roster does not answer: the user stays signed in
     */
    async find(request: Request): Promise<RosterSession | null> {
      const stored = await read(request);
      if (stored === undefined || (await hasEnded(stored))) return null;
      if (stored.expiresAt - EXPIRY_MARGIN_MS > Date.now()) return present(stored);
      try {
        const renewing = refresh(stored);
        const isAlive = stored.expiresAt > Date.now();
        const renewed = await (isAlive ? within(PATIENCE_MS, renewing, () => unavailable(tooLate())) : renewing);
        return renewed === undefined || (await hasEnded(stored)) ? null : await present(stored, renewed);
      } catch (error) {
        // Such as that Roster does not answer, or that the role has become too large for a cookie.
        if (!(error instanceof RosterAccessError) || stored.expiresAt <= Date.now()) throw error;
        report(error);
        return present(stored, undefined, true);
      }
    },

    /** Gets tokens for another team of the user. @returns null if nobody is signed in */
    async enter(request: Request, team: string): Promise<RosterSession | null> {
      const stored = await read(request);
      if (stored === undefined || (await hasEnded(stored))) return null;
      const renewed = await getTokens(stored, team);
      return renewed === undefined || (await hasEnded(stored)) ? null : present(stored, renewed);
    },

    /**
     * Returns the id token that proves to Roster whom a sign-out is of; undefined if the session has ended there. It is of
     * no team, whose permissions can make it longer than a URL may be.
     */
    async getIdToken(request: Request): Promise<string | undefined> {
      const stored = await read(request);
      return stored && (await tokens.refresh(stored.refreshToken, ''))?.idToken;
    },
  };
}

const storeUnavailable = (cause: unknown) =>
  new RosterAccessError(503, 'ended_sessions_unavailable', 'The store of ended sessions does not answer.', { cause });

function removeOldest(remembered: Map<string, unknown> | Set<string>): void {
  const [oldest] = remembered.keys();
  if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
}

export type Sessions = ReturnType<typeof createSessions>;
