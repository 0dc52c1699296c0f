import { createHash, randomBytes } from 'node:crypto';
import type { ALL_SCOPES } from '../rest/operations.ts';
import type { Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import type { Answer } from '../support/client.ts';

type Scope = (typeof ALL_SCOPES)[number];

/** A verifier and its S256 challenge (RFC 7636). */
export function aProofKey() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

type Params = Readonly<Record<string, string>>;

/** The parameters of a good authorization request. */
export const goodRequest = (client: AClient, challenge: string, scopes: readonly Scope[]): Params => ({
  client_id: client.id,
  redirect_uri: client.redirectUri,
  response_type: 'code',
  scope: scopes.join(' '),
  state: 'a-state',
  code_challenge: challenge,
  code_challenge_method: 'S256',
});

export const queryOf = (params: Params | readonly (readonly [string, string])[]): string =>
  new URLSearchParams(params as Record<string, string>).toString(); // either form is one that it takes

/** What a browser does at the authorization server, with its cookies. */
export function browse(api: Api, { cookies }: Visitor) {
  return async (path: string): Promise<Answer> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await api.anonymous.send({ method: 'GET', path, headers: { cookie, accept: 'text/html' } });
    for (const set of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = set.split(';');
      const at = pair.indexOf('=');
      if (/expires=Thu, 01 Jan 1970/i.test(set)) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  };
}

/** Asks for authorization in a browser. @returns the id of the consent page it leads to */
export async function askConsent(api: Api, visitor: Visitor, params: Params): Promise<string> {
  const answer = await browse(api, visitor)(`/oauth/authorize?${queryOf(params)}`);
  const id = /^\/oauth\/consent\/([\w-]+)$/.exec(answer.headers.location ?? '')?.[1];
  if (id === undefined) throw new Error(`No consent page: ${answer.status} ${answer.headers.location} ${answer.text}`);
  return id;
}

type Consent = { readonly scopes?: readonly Scope[]; readonly team?: { readonly id: string } };

type Wanted = Consent & { readonly client?: AClient; readonly account?: AnAccount; readonly visitor?: Visitor };

/** Goes on after consent. @returns the parameters of the redirect to the client */
export async function resume(api: Api, visitor: Visitor, redirectTo: string): Promise<URLSearchParams> {
  const answer = await browse(api, visitor)(new URL(redirectTo).pathname);
  if (answer.headers.location === undefined) throw new Error(`No redirect: ${answer.status} ${answer.text}`);
  return new URL(answer.headers.location).searchParams;
}

/** The whole way to a code: authorization request, consent, redirect. */
export async function aCode(api: Api, { scopes = ['teams:read'], team, ...given }: Wanted = {}) {
  const account = given.account ?? (await api.anAccount());
  const client = given.client ?? (await api.anOAuthClient());
  const visitor = given.visitor ?? (await signedIn(api, account));
  const { verifier, challenge } = aProofKey();
  const id = await askConsent(api, visitor, goodRequest(client, challenge, scopes));
  const { redirectTo } = await visitor.trpc.authorizations.approve.mutate({
    id,
    accountId: account.id,
    teamId: team?.id ?? null,
    scopes: [...scopes],
  });
  const redirect = await resume(api, visitor, redirectTo);
  const code = redirect.get('code');
  if (code === null) throw new Error(`No code: ${redirect.toString()}`);
  return { account, client, visitor, code, verifier, redirect };
}

/** A request of a client: its id, with its secret where it has one. */
export function post(api: Api, path: string, client: AClient, form: Params): Promise<Answer> {
  const proof: Params = client.clientSecret === null ? {} : { client_secret: client.clientSecret };
  return api.anonymous.send({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: queryOf({ client_id: client.id, ...proof, ...form }),
  });
}

export const exchange = (api: Api, { client, code, verifier }: { client: AClient; code: string; verifier: string }) =>
  post(api, '/oauth/token', client, { grant_type: 'authorization_code', code, code_verifier: verifier });

export const refresh = (api: Api, client: AClient, refreshToken: string, more: Params = {}) =>
  post(api, '/oauth/token', client, { grant_type: 'refresh_token', refresh_token: refreshToken, ...more });

export type Tokens = { readonly access: string; readonly refresh: string };

/** A code exchanged for tokens. */
export async function someTokens(api: Api, wanted: Wanted = {}) {
  const { redirect: _, ...given } = await aCode(api, wanted);
  const answer = await exchange(api, given);
  if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`);
  const { access_token: access, refresh_token: refreshToken } = answer.body as Record<string, string>;
  return { ...given, tokens: { access: access ?? '', refresh: refreshToken ?? '' } satisfies Tokens };
}
