import { describe, expect } from 'vitest';
import { OPERATOR_SCOPES } from '../../src/entities/index.ts';
import { aFirstParty, firstPartyTokens, outcomeAt } from '../oauth/first-party-flow.ts';
import { refresh } from '../oauth/flow.ts';
import { outcome, works } from '../oauth/token-endpoint.ts';
import { startApi, test, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';

const CLIENTS = '/operator/v1/clients';
const CALLBACK = 'https://app.example/callback';
const PRODUCT = { name: 'Product', redirectUris: [CALLBACK], isConfidential: true, scopes: ['teams:read'] };

const operatorOf = async (api: Api) => api.as(await api.anOperatorKey());
const servedWith = (settings: Parameters<typeof startApi>[0]) => testWith(() => startApi(settings));
/** Not in development: behind a proxy. */
const production = servedWith({ TRUST_PROXY: '1' });
const development = servedWith({ TRUST_PROXY: 'false' });

describe('clients over the operator API', () => {
  test('a created first-party client signs users in without a page, and is listed without its secret', async ({
    api,
  }) => {
    const operator = await operatorOf(api);
    const { status, body } = await operator.post(CLIENTS, { ...PRODUCT, homeUrl: 'https://app.example/' });
    expect(status).toBe(201);
    expect(body.client).toMatchObject({
      ...PRODUCT,
      isFirstParty: true,
      isNative: false,
      isDevelopment: false,
      homeUrl: 'https://app.example/',
      initiateLoginUri: null,
      secrets: [{ last4: body.clientSecret.slice(-4), expiresAt: null }],
    });
    const listed = await operator.get(CLIENTS);
    expect(listed.body.clients).toContainEqual(body.client);
    expect(listed.text).not.toContain(body.clientSecret);

    const client = { id: body.client.id, redirectUri: CALLBACK, clientSecret: body.clientSecret };
    const visitor = await signedIn(api, await api.anAccount());
    const tokens = await firstPartyTokens(api, { client, visitor }, { scope: '' });
    expect(tokens.body['scope']).toBe('teams:read');
  });

  test('need the scope clients:write, and are those of the operator alone', async ({ api }) => {
    const without = await api.anOperatorKey({ scopes: OPERATOR_SCOPES.filter((scope) => scope !== 'clients:write') });
    expect(await api.as(without).post(CLIENTS, PRODUCT)).toBeProblem('scope_missing');
    const operator = await operatorOf(api);
    const owner = await api.anAccount();
    const others = await api.anOAuthClient({ owner });
    expect(await operator.patch(`${CLIENTS}/${others.id}`, { name: 'Taken' })).toBeProblem('client_not_found');
    expect(await operator.post(`${CLIENTS}/${others.id}/rotate`, {})).toBeProblem('client_not_found');
    expect(await operator.delete(`${CLIENTS}/${others.id}`)).toBeProblem('client_not_found');
    expect((await operator.get(CLIENTS)).text).not.toContain(others.id);
  });

  test('take scopes from all tokens at once, and give them to new ones', async ({ api }) => {
    const operator = await operatorOf(api);
    const scene = await aFirstParty(api);
    const tokens = await firstPartyTokens(api, scene, { scope: '' });
    const change = (scopes: readonly string[]) => operator.patch(`${CLIENTS}/${scene.client.id}`, { scopes });
    const held = async (token: string) => (await api.as(token).get('/api/v1/credential')).body.scopes;
    expect(await held(tokens.access)).toEqual(['profile:read', 'teams:read']);

    expect((await change(['teams:read', 'members:read'])).body.scopes).toEqual(['teams:read', 'members:read']);
    expect(await held(tokens.access)).toEqual(['teams:read']);
    const refreshed = await refresh(api, scene.client, tokens.refresh);
    expect(refreshed.body.scope).toBe('teams:read');
    const next = await firstPartyTokens(api, scene, { scope: '' });
    expect(await held(next.access)).toEqual(['teams:read', 'members:read']);
    const ordinary = await api.anOAuthClient();
    expect(await operator.patch(`${CLIENTS}/${ordinary.id}`, { scopes: ['teams:read'] })).toBeProblem(
      'validation_failed',
    );
  });

  test('end with their tokens, and rotate their secret with an overlap', async ({ api }) => {
    const operator = await operatorOf(api);
    const scene = await aFirstParty(api);
    const { access, refresh: token } = await firstPartyTokens(api, scene);
    const { body } = await operator.post(`${CLIENTS}/${scene.client.id}/rotate`, { overlapHours: 1 });
    for (const clientSecret of [scene.client.clientSecret, body.clientSecret as string])
      expect(outcome(await refresh(api, { ...scene.client, clientSecret }, token))).toBe('200');
    await operator.post(`${CLIENTS}/${scene.client.id}/rotate`, { overlapHours: 0 });
    expect(outcome(await refresh(api, scene.client, token))).toBe('401 invalid_client');
    expect((await operator.delete(`${CLIENTS}/${scene.client.id}`)).body).toEqual({ success: true });
    expect(await works(api, access)).toBe(false);
    expect(await operator.delete(`${CLIENTS}/${scene.client.id}`)).toBeProblem('client_not_found');
  });

  test('tell the operators what gives access, and nothing else', async ({ api }) => {
    const admin = await api.anAccount();
    await api.rows(`update account set role = 'admin' where id = $1`, [admin.id]);
    const operator = await operatorOf(api);
    const { body } = await operator.post(CLIENTS, { ...PRODUCT, name: 'Told product' });
    expect((await api.mailTo(admin.email, /OAuth client/)).text).toContain('Told product');
    await api.rows('delete from sent_mail where recipient = $1', [admin.id]);
    const before = api.mails.length;
    await operator.patch(`${CLIENTS}/${body.client.id}`, { name: 'Told', homeUrl: 'https://app.example/home' });
    await operator.patch(`${CLIENTS}/${body.client.id}`, { scopes: ['teams:read', 'members:read'] });
    await expect.poll(() => api.mails.length).toBe(before + 1);
  });
});

describe('a client for development', () => {
  const LOCAL = [
    'http://localhost:5173/callback',
    'http://127.0.0.1:5173/cb',
    'http://[::1]/cb',
    'http://app.localhost:5173/cb',
  ];

  production('alone can redirect to this device, and the refusal says how', async ({ api }) => {
    const operator = await operatorOf(api);
    for (const redirectUri of LOCAL) {
      const input = { ...PRODUCT, redirectUris: [redirectUri] };
      const refused = await operator.post(CLIENTS, input);
      expect(refused).toBeProblem('validation_failed');
      expect(refused.body.detail).toMatch(/--development.*isDevelopment/);
      expect((await operator.post(CLIENTS, { ...input, isDevelopment: true })).status).toBe(201);
    }
    for (const redirectUri of [
      'http://app.example/cb',
      'http://localhost.example/cb',
      'http://app.localhost.example/cb',
      'http://app.localhost@b.example/cb',
      'ftp://app.localhost/cb',
    ])
      expect(
        await operator.post(CLIENTS, { ...PRODUCT, redirectUris: [redirectUri], isDevelopment: true }),
      ).toBeProblem('validation_failed');
  });

  production('shows the page at each authorization, and its pages can call the token endpoint', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const options = { firstParty: ['teams:read'], confidential: true } as const;
    for (const redirectUri of [CALLBACK, LOCAL[0] ?? '']) {
      const client = await api.anOAuthClient({ ...options, development: true, redirectUri });
      expect(await outcomeAt(api, visitor, client)).toBe('page');
      expect(await outcomeAt(api, visitor, client, { prompt: 'none' })).toBe('consent_required');
    }
    const allowed = async (origin: string, development: boolean) => {
      const client = await api.anOAuthClient({ development, firstParty: ['teams:read'] });
      await api.rows('update oauth_client set redirect_uris = redirect_uris || $2 where id = $1', [client.id, LOCAL]);
      const { headers } = await api.anonymous.send({
        method: 'POST',
        path: '/oauth/token',
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_id: client.id }).toString(),
      });
      return headers['access-control-allow-origin'] ?? null;
    };
    expect(await allowed('http://localhost:5173', true)).toBe('http://localhost:5173');
    expect(await allowed('http://app.localhost:5173', true)).toBe('http://app.localhost:5173');
    expect(await allowed('http://localhost:5174', true)).toBe('http://localhost:5174');
    expect(await allowed('http://localhost.example:5173', true)).toBeNull();
    for (const origin of ['http://localhost:5173', 'http://localhost:5174', 'http://app.localhost:5173'])
      expect(await allowed(origin, false)).toBeNull();
  });

  production('of a development that has ended redirects there no more', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const client = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
    await api.rows('update oauth_client set redirect_uris = $2 where id = $1', [
      client.id,
      [client.redirectUri, ...LOCAL],
    ]);
    expect(await outcomeAt(api, visitor, client)).toBe('code');
    for (const redirectUri of LOCAL) expect(await outcomeAt(api, visitor, { ...client, redirectUri })).toMatch(/^400/);
  });

  development('is every one while Roster is in development, also of an account, with the page', async ({ api }) => {
    const account = await api.anAccount();
    const visitor = await signedIn(api, account);
    const input = { name: 'Local', redirectUris: [LOCAL[0] ?? ''], isConfidential: true, isNative: false };
    expect((await visitor.trpc.oauthClients.create.mutate(input)).client.redirectUris).toEqual(input.redirectUris);
    const client = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'], redirectUri: LOCAL[0]! });
    expect(await outcomeAt(api, visitor, client)).toBe('page');
  });
});

production('the pages of an application are validated like redirect URIs', async ({ api }) => {
  const operator = await operatorOf(api);
  for (const field of ['homeUrl', 'initiateLoginUri'])
    for (const url of [
      'javascript:alert(1)',
      'http://app.example/',
      'com.example.app:/',
      '/home',
      '//app.example/',
      '',
    ])
      expect(await operator.post(CLIENTS, { ...PRODUCT, [field]: url }), url).toBeProblem('validation_failed');
});

describe('what an application asks for and where its users go, over the operator API', () => {
  const SIGNED_OUT = ['https://app.example/signed-out'];

  test('logout addresses of a first-party client are set with it, kept by other changes, and taken away', async ({
    api,
  }) => {
    const operator = await operatorOf(api);
    const logout = { postLogoutRedirectUris: SIGNED_OUT, backchannelLogoutUri: 'https://app.example/logout' };
    const created = await operator.post(CLIENTS, { ...PRODUCT, ...logout });
    expect(created.body.client).toMatchObject({ ...logout, openidScopes: null, permissions: [] });
    const path = `${CLIENTS}/${created.body.client.id}`;
    expect((await operator.patch(path, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', ...logout });
    expect((await operator.patch(path, { backchannelLogoutUri: null })).body).toMatchObject({
      postLogoutRedirectUris: SIGNED_OUT,
      backchannelLogoutUri: null,
    });
    expect((await operator.patch(path, { postLogoutRedirectUris: [] })).body.postLogoutRedirectUris).toEqual([]);
    const [event] = await api.rows<{ details: object }>(
      `select details from audit_event where event = 'oauth_client.updated' and client_id = $1 order by occurred_at desc, id desc limit 1`,
      [created.body.client.id],
    );
    expect(event?.details).toMatchObject({ changed: ['postLogoutRedirectUris'] });
  });

  test('scopes of OpenID Connect and permissions of another client are limited by its users’ consent', async ({
    api,
  }) => {
    await declarePermissions(api, [{ name: 'invoices:read' }, { name: 'invoices:write' }]);
    const operator = await operatorOf(api);
    const { scopes: _, ...other } = PRODUCT;
    const asked = { openidScopes: ['openid', 'email'], permissions: ['invoices:read', 'invoices:write'] };
    const { body } = await operator.post(CLIENTS, { ...other, ...asked });
    expect(body.client).toMatchObject({ isFirstParty: false, ...asked });
    const path = `${CLIENTS}/${body.client.id}`;
    const grant = await api.aGrant(await api.anAccount(), { client: { ...body.client, redirectUri: CALLBACK } });
    await api.rows(`update oauth_grant set product_permissions = '{invoices:read,invoices:write}' where id = $1`, [
      grant.id,
    ]);
    const changed = await operator.patch(path, { permissions: ['invoices:read'], openidScopes: null });
    expect(changed.body).toMatchObject({ permissions: ['invoices:read'], openidScopes: null });
    expect(await api.rows('select product_permissions as names from oauth_grant where id = $1', [grant.id])).toEqual([
      { names: ['invoices:read'] },
    ]);
  });

  test.for([
    [
      'a return address without https',
      {},
      { postLogoutRedirectUris: ['http://app.example/'] },
      '/postLogoutRedirectUris/0',
    ],
    [
      'a return address twice',
      {},
      { postLogoutRedirectUris: [...SIGNED_OUT, ...SIGNED_OUT] },
      '/postLogoutRedirectUris/1',
    ],
    [
      'logout tokens for others',
      { scopes: undefined },
      { backchannelLogoutUri: 'https://app.example/logout' },
      '/backchannelLogoutUri',
    ],
    ['a fragment', {}, { backchannelLogoutUri: 'https://app.example/logout#a' }, '/backchannelLogoutUri'],
    ['scopes of OpenID Connect of its own', {}, { openidScopes: ['openid'] }, '/openidScopes'],
    ['email without openid', { scopes: undefined }, { openidScopes: ['email'] }, '/openidScopes'],
    ['an undeclared permission', { scopes: undefined }, { permissions: ['invoices:burn'] }, '/permissions/0'],
  ] as const)(
    'are refused with %s, also in a change, and nothing changes',
    async ([, kind, given, pointer], { api }) => {
      const operator = await operatorOf(api);
      const input = { ...PRODUCT, name: 'Refused', ...kind };
      const refused = await operator.post(CLIENTS, { ...input, ...given });
      expect(refused).toBeProblem('validation_failed');
      expect(refused.body.errors).toMatchObject([{ pointer }]);
      const { body } = await operator.post(CLIENTS, input);
      const changed = await operator.patch(`${CLIENTS}/${body.client.id}`, { name: 'Changed', ...given });
      expect(changed.body.errors).toMatchObject([{ pointer }]);
      const listed = (await operator.get(CLIENTS)).body.clients as { id: string; name: string }[];
      expect(listed.find(({ id }) => id === body.client.id)).toEqual(body.client);
      await operator.delete(`${CLIENTS}/${body.client.id}`);
    },
  );
});
