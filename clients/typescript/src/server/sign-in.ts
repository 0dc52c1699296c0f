import { AuthorizationResponseError } from 'oauth4webapi';
import { createCookieWriter, readCookies } from './cookies.ts';
import { RosterAccessError } from './errors.ts';
import { pathOf, toReturnPath } from './return-address.ts';
import type { Sealer } from './sealed.ts';
import type { Sessions } from './sessions.ts';
import { isProven, REPEATED, type PendingSignIn, type TokenClient } from './tokens.ts';

/** As long as a request waits at Roster. */
const PENDING_SECONDS = 15 * 60;
/** Sign-ins of one browser that wait at the same time, such as in several tabs. */
const PENDING_MAX = 5;
/** Characters of their cookies, with which and the session the headers of a request stay below 16 KB. */
const PENDING_LENGTH_MAX = 3600;
/** `ext:` and the longest external id. */
const TEAM_LENGTH_MAX = 259;
const PURPOSE = 'sign-in';

/** The parameters of the sign-in that a link can set. */
const PROMPTS: ReadonlySet<string> = new Set(['none', 'login', 'select_account', 'create']);

export type SignInOptions = {
  readonly appUrl: URL;
  readonly path: string;
  readonly scope: string;
  readonly sealer: Sealer;
  readonly tokens: TokenClient;
  readonly sessions: Sessions;
};

/** Creates the two ends of a sign-in: the way to Roster, and the callback. */
export function createSignIn({ appUrl, path, scope, sealer, tokens, sessions }: SignInOptions) {
  const cookies = createCookieWriter(appUrl);
  const prefix = cookies.nameOf('roster-sign-in-');
  const cookieOf = (state: string) => prefix + state.slice(0, 16).replaceAll(/[^\w-]/g, '');

  /** The sign-ins that this browser has begun for which another one leaves no room. Browsers send the oldest cookie first. */
  function findSuperfluous(request: Request, length: number): string[] {
    let room = PENDING_LENGTH_MAX - length;
    const waiting = [...readCookies(request.headers)].filter(([name]) => name.startsWith(prefix));
    return waiting.reverse().flatMap(([name, { length: taken }], i) => {
      room -= taken;
      return i < PENDING_MAX - 1 && room >= 0 ? [] : [name];
    });
  }

  async function start(
    request: Request,
    asked: { returnTo: string | null; maxAge?: number; account?: string | undefined; team?: string | undefined },
  ): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const [prompt, loginHint] = ['prompt', 'loginHint'].map((name) => searchParams.get(name) ?? undefined);
    const team = asked.team ?? searchParams.get('team') ?? undefined;
    if (team !== undefined && team.length > TEAM_LENGTH_MAX)
      throw new RosterAccessError(400, 'invalid_request', 'The team is not valid.');
    const { url, pending } = await tokens.authorize({
      scope,
      returnTo: toReturnPath(asked.returnTo, appUrl),
      isRepeated: searchParams.has('again'),
      ...(asked.maxAge !== undefined && { maxAge: asked.maxAge }),
      ...(asked.account !== undefined && { account: asked.account }),
      ...(prompt !== undefined && PROMPTS.has(prompt) && { prompt }),
      ...(team !== undefined && { team }),
      ...(loginHint !== undefined && { loginHint }),
    });
    const sealed = await sealer.seal(PURPOSE, pending, PENDING_SECONDS);
    return redirect(url.href, [
      cookies.write(cookieOf(pending.state), sealed, PENDING_SECONDS),
      ...findSuperfluous(request, sealed.length).map((name) => cookies.remove(name)),
    ]);
  }

  /** Begins anew, once: the code was used up, or this browser has waited too long. Signed in at Roster, users see no page. */
  function beginAnew(
    request: Request,
    { returnTo, team, maxAge }: Pick<PendingSignIn, 'returnTo' | 'team' | 'maxAge'>,
  ): Response {
    const { searchParams } = new URL(request.url);
    if (searchParams.get('state')?.startsWith(REPEATED) === true)
      throw new RosterAccessError(400, 'sign_in_failed', 'The sign-in could not be completed.');
    const query = new URLSearchParams({ again: '1', returnTo, ...(team !== undefined && { team }) });
    return redirect(`${path}/${maxAge === undefined ? 'sign-in' : 'prove'}?${query.toString()}`);
  }

  async function callback(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const name = cookieOf(url.searchParams.get('state') ?? '');
    const sealed = readCookies(request.headers).get(name);
    const pending = sealed === undefined ? undefined : await sealer.open<PendingSignIn>(PURPOSE, sealed);
    if (pending === undefined) return beginAnew(request, { returnTo: '/' });
    try {
      const granted = await tokens.exchange(new URL(url.pathname + url.search, appUrl), pending);
      if (granted === undefined) return beginAnew(request, pending);
      // The page that asked for a proof would go on as somebody else.
      if (pending.account !== undefined && granted.claims.sub !== pending.account)
        return refuse(pending.returnTo, 'another_account', cookies.remove(name));
      if (!isProven(pending, granted.claims)) return refuse(pending.returnTo, 'proof_missing', cookies.remove(name));
      return redirect(pending.returnTo, [
        ...(await sessions.end(request, granted.claims.sub)),
        ...(await sessions.store(granted)),
        cookies.remove(name),
      ]);
    } catch (error) {
      if (error instanceof AuthorizationResponseError)
        return refuse(pending.returnTo, error.error, cookies.remove(name));
      throw error;
    }
  }

  /** Goes back to where the user was, with the error of Roster, such as `login_required` or `access_denied`. */
  function refuse(returnTo: string, error: string, cookie: string): Response {
    const at = new URL(returnTo, appUrl);
    at.searchParams.set('sign_in_error', error);
    return redirect(pathOf(at), [cookie]);
  }

  return { start, callback };
}

/** Answers 303, which makes a GET of every request. */
export function redirect(location: string, setCookies: readonly string[] = []): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' });
  for (const cookie of setCookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}
