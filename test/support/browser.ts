import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client';
import { newId } from '../../src/entities/index.ts';
import type { Problem } from '../../src/procedures/problem-details.ts';
import type { AppRouter } from '../../src/router.ts';
import type { Api } from './api.ts';

/** What a browser is to the service: a cookie jar, a user agent, and an origin that it vouches for. */
export type Visitor = ReturnType<typeof createVisitor>;

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0';

export function createVisitor(port: number, baseUrl: string, { userAgent = FIREFOX }: { userAgent?: string } = {}) {
  const cookies = new Map<string, string>();
  /** The headers of a call from one of our own pages; a test changes them to play somebody else. */
  const headers: Record<string, string> = { 'user-agent': userAgent, origin: baseUrl, 'sec-fetch-site': 'same-origin' };

  const trpc = createTRPCClient<AppRouter>({
    links: [
      httpLink<AppRouter>({
        url: `http://127.0.0.1:${port}/trpc`,
        headers: () => ({ ...headers, ...(cookies.size > 0 ? { cookie: cookieHeader() } : {}) }),
        fetch: async (url, init) => {
          const response = await fetch(url, init as RequestInit); // tRPC types only what it uses of it
          for (const cookie of response.headers.getSetCookie()) keep(cookie);
          return response;
        },
      }),
    ],
  });

  const cookieHeader = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  function keep(cookie: string): void {
    const [pair = ''] = cookie.split(';');
    const at = pair.indexOf('=');
    const expires = /expires=([^;]+)/i.exec(cookie)?.[1];
    if (expires !== undefined && Date.parse(expires) <= Date.now()) cookies.delete(pair.slice(0, at));
    else cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }

  return { trpc, cookies, headers, baseUrl };
}

/** What a cookie of the service at an address is called. */
export function cookieName(kind: 'session' | 'device', baseUrl: string): string {
  const { protocol, port } = new URL(baseUrl);
  return `${protocol === 'https:' ? '__Host-' : ''}roster_${kind}${port === '' ? '' : `_${port}`}`;
}

/** A browser in which the account is signed in. */
export async function signedIn(
  api: Pick<Api, 'services' | 'rows' | 'visitor'>,
  account: { id: string },
): Promise<Visitor> {
  const { secret, hash } = api.services.tokens.generate('session');
  await api.rows(
    `insert into session (id, account_id, token_hash, authentication_type, created_at, proven_at, expires_at, idle_expires_at)
     values ($1, $2, $3, 'password', now(), now(), now() + interval '1 day', now() + interval '1 day')`,
    [newId('ses'), account.id, hash],
  );
  const visitor = api.visitor();
  visitor.cookies.set(cookieName('session', visitor.baseUrl), secret);
  return visitor;
}

/** The problem document of a call that is refused; throws where it is not. */
export async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => new Error('The call was not refused.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TRPCClientError)) throw error;
  const problem = (error as TRPCClientError<AppRouter>).data?.problem; // thrown by a client of this router
  if (problem === undefined) throw error;
  return problem;
}
