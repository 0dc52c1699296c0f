import { createHash } from 'node:crypto';
import type { Api } from '../support/api.ts';
import { cookieName, signedIn, type Visitor } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import { aProofKey, browse, exchange, goodRequest, queryOf } from './flow.ts';

type Options = Parameters<Api['anOAuthClient']>[0];

/** A confidential client of the operator's own with two scopes, and somebody who is signed in. */
export async function aFirstParty(api: Api, options: Options = {}) {
  const client = await api.anOAuthClient({
    confidential: true,
    firstParty: ['profile:read', 'teams:read'],
    ...options,
  });
  const account = await api.anAccount();
  return { client, account, visitor: await signedIn(api, account) };
}

type Asked = Readonly<Record<string, string>>;

/** Opens the authorization endpoint, and follows redirects within the service. @returns the last answer */
export async function authorize(api: Api, visitor: Visitor, client: AClient, challenge: string, asked: Asked = {}) {
  const open = browse(api, visitor);
  const query = queryOf({ ...goodRequest(client, challenge, ['teams:read']), ...asked });
  let answer = await open(`/oauth/authorize?${query}`);
  for (let hops = 0; hops < 5 && answer.headers.location?.startsWith('/oauth/authorize/'); hops += 1)
    answer = await open(answer.headers.location ?? '');
  return answer;
}

/** Where an authorization ends: the page, or the parameters that the client gets. */
export function endOf({ headers, status, text }: Answer): string | Record<string, string> {
  const { location = '' } = headers;
  if (location.startsWith('/oauth/consent/')) return 'page';
  if (location === '') return `${status} ${/<code>(?:<bdi>)?([^<]+)/.exec(text)?.[1] ?? text}`;
  return Object.fromEntries(new URL(location).searchParams);
}

/** What an authorization without a page gives: `code`, the error, or `page`. */
export async function outcomeAt(api: Api, visitor: Visitor, client: AClient, asked: Asked = {}): Promise<string> {
  const end = endOf(await authorize(api, visitor, client, aProofKey().challenge, asked));
  return typeof end === 'string' ? end : (end['error'] ?? (end['code'] === undefined ? '' : 'code'));
}

/** The tokens of a first-party client, from a browser that is signed in. */
export async function firstPartyTokens(
  api: Api,
  { client, visitor }: { client: AClient; visitor: Visitor; account?: AnAccount },
  asked: Asked = {},
) {
  const { verifier, challenge } = aProofKey();
  const end = endOf(await authorize(api, visitor, client, challenge, asked));
  if (typeof end === 'string' || end['code'] === undefined) throw new Error(`No code: ${JSON.stringify(end)}`);
  const answer = await exchange(api, { client, code: end['code'], verifier });
  if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`);
  const body = answer.body as Record<string, string> & { expires_in: number };
  return {
    body,
    code: end['code'],
    verifier,
    access: body['access_token'] ?? '',
    refresh: body['refresh_token'] ?? '',
  };
}

/** The id of the session of a browser. */
export async function sessionOf(api: Api, { cookies, baseUrl }: Visitor): Promise<string> {
  const hash = createHash('sha256')
    .update(cookies.get(cookieName('session', baseUrl)) ?? '')
    .digest();
  const [row] = await api.rows<{ id: string }>('select id from session where token_hash = $1', [hash]);
  return row?.id ?? '';
}
