import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose';
import { describe, expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import { authorize, endOf, outcomeAt } from './first-party-flow.ts';
import { aProofKey, askConsent, browse, exchange, goodRequest, post, queryOf, refresh, resume } from './flow.ts';

const test = testWith(() => startApi({ OAUTH_REGISTRATION: 'on' }));

type Asked = Readonly<Record<string, string>>;

/** A client whose users can be asked for these scopes, and somebody who is signed in. */
async function aScene(api: Api, scopes: readonly string[] | null = ['openid', 'profile', 'email']) {
  const client = await api.anOAuthClient({ confidential: true });
  await api.rows('update oauth_client set openid_scopes = $2 where id = $1', [client.id, scopes]);
  const account = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
  return { client, account, visitor: await signedIn(api, account) };
}

type Scene = { readonly client: AClient; readonly account: AnAccount; readonly visitor: Visitor };

/** Asks, and approves all that is shown. */
async function approve(api: Api, { client, account, visitor }: Scene, asked: Asked, scopes?: never[]) {
  const { verifier, challenge } = aProofKey();
  const id = await askConsent(api, visitor, { ...goodRequest(client, challenge, []), ...asked });
  const shown = await visitor.trpc.authorizations.read.query({ id });
  const { redirectTo } = await visitor.trpc.authorizations.approve.mutate({
    id,
    accountId: account.id,
    teamId: null,
    scopes: scopes ?? shown.scopes,
  });
  return { shown, verifier, redirect: await resume(api, visitor, redirectTo) };
}

async function tokens(api: Api, scene: Scene, asked: Asked, scopes?: never[]) {
  const { shown, verifier, redirect } = await approve(api, scene, asked, scopes);
  const answer = await exchange(api, { client: scene.client, code: redirect.get('code') ?? '', verifier });
  expect(answer.status, answer.text).toBe(200);
  return { shown, body: answer.body as Record<string, string> };
}

/** A product that asks Roster who sent it this token lets nobody in. */
async function expectNoCredential(api: Api, { account, client }: Scene, token: string) {
  const team = await api.aTeam({ owner: account });
  const operator = api.as(await api.anOperatorKey({ scopes: ['credentials:verify'] }));
  for (const asked of [{}, { teamId: team.id }, { teamId: team.id, permission: 'access_dashboard' }]) {
    const { body } = await operator.post('/operator/v1/credentials/verify', { credential: token, ...asked });
    expect(body).toMatchObject({ valid: false, code: 'credential_invalid', account: null, permissions: [] });
  }
  const introspected = await operator.send({
    method: 'POST',
    path: '/oauth/introspect',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `token=${token}`,
  });
  expect(introspected.body).toEqual({ active: false });
  // To its own client it is what it is: a token for userinfo.
  const own = await post(api, '/oauth/introspect', client, { token });
  expect(own.body).toMatchObject({ active: true, client_id: client.id });
  expect(own.body).not.toHaveProperty('permissions');
}

const userinfo = (api: Api, token = '') => api.as(token).get('/oauth/userinfo');

describe('a client with consent', () => {
  test('learns who the user is, and nothing of the API if it asks for nothing', async ({ api }) => {
    const scene = await aScene(api);
    const { shown, body } = await tokens(api, scene, { scope: 'openid profile email', nonce: 'n-1' });
    expect(shown).toMatchObject({ firstParty: null, scopes: [], openidScopes: ['openid', 'profile', 'email'] });
    expect(body['scope']).toBe('openid profile email');
    const { baseUrl } = api.services.config;
    const keys = createLocalJWKSet((await api.anonymous.get('/oauth/jwks')).body as JSONWebKeySet); // RFC 7517
    const options = { issuer: baseUrl, audience: scene.client.id, algorithms: ['RS256'] };
    const { payload } = await jwtVerify(body['id_token'] ?? '', keys, options);
    expect(payload).toMatchObject({
      sub: scene.account.id,
      nonce: 'n-1',
      name: 'Ada Lovelace',
      email: scene.account.email,
    });
    expect(payload).toHaveProperty('auth_time');
    expect(payload).not.toHaveProperty('sid');
    expect((await userinfo(api, body['access_token'])).body).toMatchObject({
      sub: scene.account.id,
      given_name: 'Ada',
    });
    expect(await api.as(body['access_token'] ?? '').get('/api/v1/teams')).toBeProblem('scope_missing');
    await expectNoCredential(api, scene, body['access_token'] ?? '');
    const again = await refresh(api, scene.client, body['refresh_token'] ?? '', { scope: 'openid profile email' });
    expect(decodeJwt((again.body as Record<string, string>)['id_token'] ?? '')).toMatchObject({
      sub: scene.account.id,
    });
    expect(await scene.visitor.trpc.grants.list.query()).toMatchObject([
      { client: { id: scene.client.id }, scopes: [], openidScopes: ['openid', 'profile', 'email'] },
    ]);
  });

  test('can ask for scopes of the API beside, of which the user can give none', async ({ api }) => {
    const scene = await aScene(api);
    const both = await tokens(api, scene, { scope: 'openid email teams:read' });
    expect(both.shown).toMatchObject({ scopes: ['teams:read'], openidScopes: ['openid', 'email'] });
    expect((await api.as(both.body['access_token'] ?? '').get('/api/v1/teams')).status).toBe(200);
    expect(decodeJwt(both.body['id_token'] ?? '')).not.toHaveProperty('name');
    const none = await tokens(api, scene, { scope: 'openid email teams:read' }, []);
    expect(none.body['scope']).toBe('openid email');
    // The last consent decides for all devices.
    expect(await api.as(both.body['access_token'] ?? '').get('/api/v1/teams')).toBeProblem('scope_missing');
    await expectNoCredential(api, scene, both.body['access_token'] ?? '');
  });

  test('loses the claims of a former consent with the next one', async ({ api }) => {
    const scene = await aScene(api);
    const first = await tokens(api, scene, { scope: 'openid email' });
    await tokens(api, scene, { scope: 'openid' });
    expect((await userinfo(api, first.body['access_token'])).body).toEqual({ sub: scene.account.id });
    await tokens(api, scene, { scope: 'teams:read' });
    expect(await userinfo(api, first.body['access_token'])).toBeProblem('scope_missing');
  });

  test('outlives the session, and ends with its grant', async ({ api }) => {
    const scene = await aScene(api);
    const { body } = await tokens(api, scene, { scope: 'openid' });
    const [grant] = await scene.visitor.trpc.grants.list.query();
    await scene.visitor.trpc.auth.signOut.mutate();
    expect((await userinfo(api, body['access_token'])).status).toBe(200);
    const again = await signedIn(api, scene.account);
    await again.trpc.grants.revoke.mutate({ grantId: grant?.id ?? '' });
    expect(await userinfo(api, body['access_token'])).toBeProblem('credential_invalid');
  });

  test('gets no more than it may have: other scopes are unknown, and openid is ignored for others', async ({ api }) => {
    const some = await aScene(api, ['openid']);
    expect(await outcomeAt(api, some.visitor, some.client, { scope: 'openid email' })).toBe('invalid_scope');
    expect(await outcomeAt(api, some.visitor, some.client, { scope: 'email' })).toBe('invalid_scope');
    const none = await aScene(api, null);
    expect(await outcomeAt(api, none.visitor, none.client, { scope: 'openid profile' })).toBe('invalid_scope');
    const { shown, body } = await tokens(api, none, { scope: 'openid teams:read', prompt: 'none', max_age: 'x' });
    expect(shown.openidScopes).toEqual([]);
    expect(body).not.toHaveProperty('id_token');
    expect(await outcomeAt(api, some.visitor, some.client, { scope: 'openid sign_in' })).toBe('page');
    expect(await outcomeAt(api, some.visitor, some.client, { scope: 'sign_in' })).toBe('invalid_scope');
    const mcp = { scope: 'openid teams:read', resource: `${api.services.config.baseUrl}/mcp` };
    expect((await approve(api, some, mcp)).shown.openidScopes).toEqual([]);
  });

  test('without a page gets an error, and with max_age and prompt=login a recent proof', async ({ api }) => {
    const scene = await aScene(api);
    const { client, visitor } = scene;
    const none = { scope: 'openid', prompt: 'none' };
    expect(await outcomeAt(api, visitor, client, none)).toBe('consent_required');
    expect(await outcomeAt(api, api.visitor(), client, none)).toBe('login_required');
    expect(await outcomeAt(api, visitor, client, { scope: 'openid', max_age: 'soon' })).toBe('invalid_request');
    expect(await outcomeAt(api, visitor, client, { scope: 'openid', prompt: 'none login' })).toBe('invalid_request');
    await api.rows(`update session set proven_at = now() - interval '3 minutes' where account_id = $1`, [
      scene.account.id,
    ]);
    for (const asked of [{ max_age: '60' }, { prompt: 'login' }])
      await expect(approve(api, scene, { scope: 'openid', ...asked })).rejects.toThrow('Reauthentication required');
    const { body } = await tokens(api, scene, { scope: 'openid', max_age: '600' });
    expect(decodeJwt(body['id_token'] ?? '')).toHaveProperty('auth_time');
  });

  test('registers for OpenID Connect by its scope, and cannot set it otherwise', async ({ api }) => {
    const register = (more: object) =>
      api.anonymous.send({
        method: 'POST',
        path: '/oauth/register',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: ['https://client.example/callback'],
          token_endpoint_auth_method: 'none',
          ...more,
        }),
      });
    const { body } = await register({ scope: 'openid email teams:read something' });
    const { client_id: id } = body as { client_id: string };
    expect(await api.rows('select openid_scopes from oauth_client where id = $1', [id])).toEqual([
      { openid_scopes: ['openid', 'email'] },
    ]);
    const account = await api.anAccount();
    const client = { id, redirectUri: 'https://client.example/callback', clientSecret: null };
    const scene = { client, account, visitor: await signedIn(api, account) };
    expect((await tokens(api, scene, { scope: 'openid email' })).body).toHaveProperty('id_token');
    const plain = await register({ scope: 'email' });
    const rows = await api.rows('select openid_scopes from oauth_client where id = $1', [
      (plain.body as { client_id: string }).client_id,
    ]);
    expect(rows).toEqual([{ openid_scopes: null }]);
    expect((await register({ openid_scopes: 'openid' })).body).toMatchObject({ error: 'invalid_client_metadata' });
  });
});

describe('an id_token_hint at the authorization endpoint (Core, section 3.1.2.1)', () => {
  test('lets only its user in', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);
    const { verifier, challenge } = aProofKey();
    const end = endOf(await authorize(api, visitor, client, challenge, { scope: 'openid' })) as { code: string };
    const { body } = await exchange(api, { client, code: end.code, verifier });
    const hint = (body as Record<string, string>)['id_token'] ?? '';
    const asked = { scope: 'openid', id_token_hint: hint };
    expect(await outcomeAt(api, visitor, client, { ...asked, prompt: 'none' })).toBe('code');

    const other = await signedIn(api, await api.anAccount());
    expect(await outcomeAt(api, other, client, { ...asked, prompt: 'none' })).toBe('login_required');
    const page = await authorize(api, other, client, challenge, asked);
    const id = /consent\/([\w-]+)/.exec(page.headers.location ?? '')?.[1] ?? '';
    const shown = await other.trpc.authorizations.read.query({ id });
    expect(shown.firstParty).toBe('account');
    const { redirectTo } = await other.trpc.authorizations.continue.mutate({ id, accountId: shown.account.id });
    expect((await resume(api, other, redirectTo)).get('error')).toBe('login_required');
  });

  test('is an error if it is no id token of this client', async ({ api }) => {
    const { client, visitor } = await aScene(api);
    for (const id_token_hint of ['x', 'e30.e30.e30'])
      expect(await outcomeAt(api, visitor, client, { scope: 'openid', id_token_hint })).toBe('invalid_request');
    // Ignored without `openid`, as everything of OpenID Connect.
    expect(await outcomeAt(api, visitor, client, { scope: 'teams:read', id_token_hint: 'x' })).toBe('page');
  });
});

describe('the page', () => {
  test('has the language and the beginning that the application asks for', async ({ api }) => {
    const { client, visitor } = await aScene(api);
    const open = async (asked: Asked) => {
      const query = queryOf({ ...goodRequest(client, aProofKey().challenge, []), ...asked });
      return (await browse(api, visitor)(`/oauth/authorize?${query}`)).headers.location?.replace(/^[^?]*/, '');
    };
    expect(await open({ scope: 'openid', ui_locales: 'xx de-CH fr' })).toBe('?ui_locales=de');
    expect(await open({ scope: 'openid', prompt: 'create' })).toBe('?prompt=create');
    expect(await open({ scope: 'openid', login_hint: 'Ada+1@example.com' })).toBe('?login_hint=Ada%2B1%40example.com');
    for (const hint of ['acc_an-id', 'a b@example.com', `${'x'.repeat(300)}@example.com`])
      expect(await open({ scope: 'openid', login_hint: hint }), hint).toBe('');
    expect(await open({ scope: 'openid', ui_locales: 'xx', acr_values: '0' })).toBe('');
    expect(await open({ scope: 'teams:read', ui_locales: 'de', prompt: 'create', login_hint: 'a@b.c' })).toBe('');
  });
});
