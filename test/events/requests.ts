import { anMcpToken, call, post as postMcp } from '../mcp/post.ts';
import { aCode, someTokens } from '../oauth/flow.ts';
import { postForm } from '../oauth/token-endpoint.ts';
import { halves } from '../pictures/files.ts';
import { headersOf } from '../pictures/sender.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { aPerson, PASSWORD } from '../trpc/people.ts';

type Ids = { 'x-request-id': string };
export type Answered = { readonly headers: Headers | Readonly<Record<string, unknown>> };
type Request = (ids: Ids) => Promise<Answered>;

/** Requests of all kinds that are recorded, each of which sends a `X-Request-Id`. */
export async function requestsOf(api: Api): Promise<Readonly<Record<string, Request>>> {
  const owner = await aPerson(api);
  const team = await api.aTeam({ owner });
  const operator = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
  const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
  const weakKey = await api.anApiKey(owner, { scopes: ['teams:read'] });
  const leakedKey = await api.anApiKey(owner);
  const operatorKey = await api.anOperatorKey();
  const weakOperatorKey = await api.anOperatorKey({ scopes: ['teams:read'] });
  const unknownKey = api.services.tokens.generate('personalKey').secret;
  const mcp = `Bearer ${(await anMcpToken(api, owner, ['teams:read', 'teams:write'])).secret}`;
  const inBrowser = headersOf(await signedIn(api, owner));
  const asOperator = headersOf(await signedIn(api, operator));
  const consented = await aCode(api);
  const { client, tokens } = await someTokens(api);
  const picture = await (await halves()).png().toBuffer();

  type Bearer = { readonly secret: string } | string | null;
  const send =
    (bearer: Bearer, method: string, path: string, body?: object, headers: Record<string, string> = {}): Request =>
    (ids) =>
      api.as(bearer).send({
        method,
        path,
        headers: { ...headers, ...ids, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
  const form =
    (path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Request =>
    (ids) =>
      postForm(api, path, fields, { ...headers, ...ids });
  const tool =
    (authorization: string, name: string, args: object): Request =>
    (ids) =>
      postMcp(api, call(name, args), { authorization, ...ids });
  const clientOf = ({ id, clientSecret }: typeof client) => ({
    client_id: id,
    ...(clientSecret !== null && { client_secret: clientSecret }),
  });
  const trpc = (path: string, body: object, headers = inBrowser) => send(null, 'POST', `/trpc/${path}`, body, headers);
  const teamPath = `/api/v1/teams/${team.id}`;

  return {
    'a change over REST': send(key, 'POST', '/api/v1/teams', { name: 'Kites' }),
    'REST with an unknown credential': send(unknownKey, 'GET', '/api/v1/teams'),
    'REST without the scope': send(weakKey, 'PATCH', teamPath, { name: 'No' }),
    'REST for a team that is not visible': send(key, 'GET', '/api/v1/teams/team_unknown'),
    'a change of the operator API': send(operatorKey, 'POST', '/operator/v1/accounts', { email: 'a.new@example.com' }),
    'a read of the operator API': send(operatorKey, 'GET', `/operator/v1/teams/${team.id}`),
    'the operator API without the scope': send(weakOperatorKey, 'GET', '/operator/v1/accounts'),
    'a change over tRPC': trpc('createTeam', { name: 'Kites' }),
    'a batch over tRPC': trpc('createTeam,createTeam?batch=1', { 0: { name: 'One' }, 1: { name: 'Two' } }),
    'tRPC without the permission': trpc('operator.createAccount', { email: 'b.new@example.com' }),
    'tRPC with an operator key': send(operatorKey, 'POST', '/trpc/operatorApi.createTeam', {
      name: 'Kites',
      ownerId: owner.id,
    }),
    'a change in the operator’s area': trpc('operator.createAccount', { email: 'c.new@example.com' }, asOperator),
    'a look-up in the operator’s area': send(
      null,
      'GET',
      `/trpc/operator.account?input=${encodeURIComponent(JSON.stringify({ accountId: owner.id }))}`,
      undefined,
      asOperator,
    ),
    'a sign-in': trpc('auth.signIn', { email: owner.email, password: PASSWORD }, headersOf(api.visitor())),
    'a rejected sign-in': trpc('auth.signIn', { email: owner.email, password: 'wrong-word' }, headersOf(api.visitor())),
    'a sign-up, whose rest is done by a job': trpc(
      'auth.signUp',
      { email: 'd.new@example.com', password: PASSWORD },
      headersOf(api.visitor()),
    ),
    'a rejected link': trpc('auth.signInWithLink', { token: 'unknown' }, headersOf(api.visitor())),
    'a tool that changes': tool(mcp, 'createTeam', { name: 'Kites' }),
    'a tool that is denied': tool(mcp, 'getTeam', { teamId: 'team_unknown' }),
    'MCP with an unknown credential': tool(`Bearer ${unknownKey}`, 'listTeams', {}),
    'an authorization request that is denied': send(null, 'GET', '/oauth/authorize?client_id=unknown'),
    'a pushed request that is denied': form('/oauth/par', { client_id: 'unknown' }),
    'a code for tokens': form('/oauth/token', {
      ...clientOf(consented.client),
      grant_type: 'authorization_code',
      code: consented.code,
      code_verifier: consented.verifier,
    }),
    'a token request that is denied': form('/oauth/token', {
      ...clientOf(client),
      grant_type: 'refresh_token',
      refresh_token: 'unknown',
    }),
    'a registration that is denied': send(null, 'POST', '/oauth/register', { redirect_uris: ['no URI'] }),
    'an introspection that is denied': form('/oauth/introspect', { client_id: 'unknown', token: 'unknown' }),
    'a revocation that is denied': form('/oauth/revoke', { client_id: 'unknown', token: 'unknown' }),
    'the end of a grant': form('/oauth/revoke', { ...clientOf(client), token: tokens.refresh }),
    'introspection by an operator key': form(
      '/oauth/introspect',
      { token: key.secret },
      { authorization: `Bearer ${operatorKey.secret}` },
    ),
    'the report of a leaked secret': send(null, 'POST', '/security/revoke', { secret: leakedKey.secret }),
    'a picture': (ids) =>
      api.anonymous.send({
        method: 'PUT',
        path: '/pictures/me',
        headers: { ...inBrowser, ...ids, 'content-type': 'image/png' },
        body: picture,
      }),
    'a picture of a team that is not visible': (ids) =>
      api.anonymous.send({
        method: 'PUT',
        path: '/pictures/teams/team_unknown',
        headers: { ...inBrowser, ...ids, 'content-type': 'image/png' },
        body: picture,
      }),
    'an export': send(null, 'GET', '/exports/accounts.csv', undefined, asOperator),
    'an export that is denied': send(null, 'GET', '/exports/accounts.csv', undefined, inBrowser),
  };
}
