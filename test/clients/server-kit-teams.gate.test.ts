import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createOperator } from '#client/index';
import { createRosterAuth, type RosterAuth } from '#client/server';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { requestAtEndOfTokens, requestOf, startProduct, type Product } from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());

async function aProduct(api: Api, options: Parameters<typeof startProduct>[1] = {}): Promise<Product> {
  const product = await startProduct(api, options);
  onTestFinished(() => void product.close());
  return product;
}

const danger = ({ browser, appUrl }: Product) => browser.send(`${appUrl}/danger`, { method: 'POST' });

async function answerOf(response: Response | Promise<Response>) {
  const { status, headers } = await response;
  const body = (await (await response).json()) as { error?: string };
  return [status, body.error, headers.getSetCookie().length] as const;
}

/** Declares permissions of the product. */
async function declare(api: Api, names: readonly string[]): Promise<void> {
  const operator = api.as(await api.anOperatorKey());
  const permissions = names.map((name) => ({ name, title: { en: name } }));
  const applied = await operator.send({
    method: 'PUT',
    path: '/operator/v1/permissions',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ permissions }),
  });
  expect(applied.status).toBe(200);
}

describe('a permission', () => {
  test('is asked for on the server: 401 for nobody, 403 without a team or without the permission', async ({ api }) => {
    const product = await aProduct(api);
    const { account } = product;
    const engines = await api.aTeam({ owner: account });
    const mills = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(mills, account, { role: 'member' });
    expect(await answerOf(danger(product))).toEqual([401, 'sign_in_required', 0]);
    await product.signIn();
    expect(await answerOf(danger(product))).toEqual([403, 'team_required', 0]);
    await product.signIn(`?team=${mills.id}`);
    expect(await answerOf(danger(product))).toEqual([403, 'permission_missing', 0]);
    await product.signIn(`?team=${engines.id}`);
    expect((await danger(product)).status).toBe(200);
  });

  test('of the product counts as one of Roster', async ({ api }) => {
    await declare(api, ['invoices:write']);
    const product = await aProduct(api);
    const team = await api.aTeam({ owner: product.account });
    await product.signIn(`?team=${team.id}`);
    const request = requestOf(product);

    expect((await product.auth.requirePermission(request, 'invoices:write')).team?.id).toBe(team.id);
    await expect(product.auth.requirePermission(request, 'invoices:wirte')).rejects.toMatchObject({ status: 403 });
  });

  test.for<[string, () => Promise<never>]>([
    ['is none', () => Promise.resolve({ valid: true } as never)],
    ['is empty', () => Promise.resolve(null as never)],
    ['does not come', () => Promise.reject(new TypeError('fetch failed'))],
    [
      'is not asked for',
      () => {
        throw new TypeError('The credential is missing.');
      },
    ],
  ])(
    'whose answer of the operator %s lets nobody in, and is an error of the kit',
    async ([, verifyCredential], { api }) => {
      const product = await aProduct(api);
      const team = await api.aTeam({ owner: product.account });
      await product.signIn(`?team=${team.id}`);
      const auth = createRosterAuth({ ...product.settings, operator: { verifyCredential } });
      await expect(auth.requirePermission(requestOf(product), 'edit_team_settings')).rejects.toMatchObject({
        status: 503,
        code: 'roster_unavailable',
      });
    },
  );

  test('about which the operator gets no answer is 503, also where its client waits longer', async ({ api }) => {
    const product = await aProduct(api);
    const team = await api.aTeam({ owner: product.account });
    await product.signIn(`?team=${team.id}`);
    const asked = Promise.withResolvers<void>();
    const verifyCredential = () => {
      asked.resolve();
      return new Promise<never>(() => undefined);
    };
    const auth = createRosterAuth({ ...product.settings, operator: { verifyCredential } });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const checked = auth.requirePermission(requestOf(product), 'edit_team_settings');
    const refused = expect(checked).rejects.toMatchObject({ status: 503, code: 'roster_unavailable' });
    await asked.promise;
    await vi.advanceTimersByTimeAsync(10_000);
    await refused;
  });

  test('that was taken away is missing at the next request with `operator`, and at the next refresh without', async ({
    api,
  }) => {
    const product = await aProduct(api);
    const { account, settings, baseUrl } = product;
    const team = await api.aTeam({ owner: await api.anAccount() });
    const role = await api.aRole(team, ['edit_team_settings']);
    const { id } = await api.aMember(team, account);
    await api.rows('update membership set role_id = $2 where id = $1', [id, role.id]);
    const operatorOf = (secret: string, at = baseUrl) =>
      createOperator({ baseUrl: at, operatorKey: secret, retries: 0 });
    const { secret } = await api.anOperatorKey({ scopes: ['credentials:verify'] });
    const asking = (operator: ReturnType<typeof createOperator>) => createRosterAuth({ ...settings, operator });
    const ask = (auth: RosterAuth, of = requestOf(product)) =>
      auth.requirePermission(of, 'edit_team_settings').then(
        () => 'in',
        ({ status, code }: { status: number; code: string }) => `${status} ${code}`,
      );
    await product.signIn(`?team=${team.id}`);
    expect([await ask(asking(operatorOf(secret))), await ask(product.auth)]).toEqual(['in', 'in']);
    expect(await ask(asking(operatorOf(secret, 'http://127.0.0.1:9')))).toBe('503 roster_unavailable');

    const late = await requestAtEndOfTokens(product, 0, `?team=${team.id}`);
    await api.rows(`update membership set role_id = 'guest' where id = $1`, [id]);
    expect(await ask(asking(operatorOf(secret)))).toBe('403 permission_missing');
    expect(await ask(product.auth)).toBe('in');
    expect(await ask(product.auth, late)).toBe('403 permission_missing');

    await product.visitor.trpc.auth.signOut.mutate();
    expect(await ask(asking(operatorOf(secret)))).toBe('401 sign_in_required');
    // Of a wrong key of the product itself, its users do not learn that they lack something.
    expect(await ask(asking(operatorOf('rst_ok_x')))).toBe('500 operator_refused');
  });
});

test('a permission of a credential that `operator` does not let in is none', async ({ api }) => {
  const product = await aProduct(api);
  const team = await api.aTeam({ owner: product.account });
  await product.signIn(`?team=${team.id}`);
  const { secret } = await api.anOperatorKey({ scopes: ['credentials:verify'] });
  const real = createOperator({ baseUrl: product.baseUrl, operatorKey: secret, retries: 0 });
  const auth = createRosterAuth({
    ...product.settings,
    operator: {
      verifyCredential: async (input) => ({
        ...(await real.verifyCredential(input)),
        valid: false,
        code: 'rate_limited',
      }),
    },
  });
  await expect(auth.requirePermission(requestOf(product), 'edit_team_settings')).rejects.toMatchObject({
    code: 'permission_missing',
  });
});

test('the token of a session is one of those that an API authenticates, in its team, until the session ends', async ({
  api,
}) => {
  const product = await aProduct(api);
  const team = await api.aTeam({ owner: product.account });
  await product.signIn(`?team=${team.id}`);
  const { accessToken = '' } = (await product.auth.getSession(requestOf(product))) ?? {};
  const { secret } = await api.anOperatorKey({ scopes: ['credentials:verify'] });
  const operator = createOperator({ baseUrl: product.baseUrl, operatorKey: secret, retries: 0 });
  const request = { headers: { authorization: `Bearer ${accessToken}` } };

  expect(await operator.authenticate(request, { permission: 'edit_team_settings' })).toMatchObject({
    valid: true,
    account: { id: product.account.id },
    team: { id: team.id },
    role: { id: 'owner' },
  });
  await product.visitor.trpc.auth.signOut.mutate();
  expect(await operator.authenticate(request)).toMatchObject({ valid: false, status: 401 });
});

describe('another team', () => {
  const enter = ({ browser, appUrl }: Product, body: object) =>
    browser.send(`${appUrl}/auth/team`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('is entered by its id, slug or external id, in all further requests of the browser', async ({ api }) => {
    const product = await aProduct(api);
    const [engines, mills] = [await api.aTeam({ owner: product.account }), await api.aTeam({ owner: product.account })];
    await api.rows('update team set external_id = $2 where id = $1', [mills.id, 'tenant-1']);
    await product.signIn(`?team=${engines.id}`);

    for (const [team, name] of [
      [mills, 'ext:tenant-1'],
      [engines, engines.slug],
      [mills, mills.id],
    ] as const) {
      const response = await enter(product, { team: name });
      expect(await response.json()).toMatchObject({ team: { id: team.id, role: 'owner' } });
      expect(await (await product.me()).json()).toMatchObject({ team: { id: team.id } });
    }
    const session = await product.auth.switchTeam(requestOf(product), engines.id);
    expect([session.team?.id, session.user.id]).toEqual([engines.id, product.account.id]);
    expect(session.setCookies.join()).toMatch(/^__Host-roster=.*; Path=\/; HttpOnly; SameSite=Lax; Secure; /);
  });

  test('of which the user is no member leaves them where they are, and a body without one is refused', async ({
    api,
  }) => {
    const product = await aProduct(api);
    const [engines, foreign] = [await api.aTeam({ owner: product.account }), await api.aTeam()];
    expect(await answerOf(enter(product, { team: engines.id }))).toEqual([401, 'sign_in_required', 0]);
    await product.signIn(`?team=${engines.id}`);

    for (const team of [foreign.id, 'team_x', 'x y'])
      expect([team, ...(await answerOf(enter(product, { team })))]).toEqual([team, 404, 'team_not_found', 0]);
    for (const body of [{}, { team: 7 }, [], { team: null }])
      expect(await answerOf(enter(product, body))).toEqual([400, 'invalid_request', 0]);
    expect(await (await product.me()).json()).toMatchObject({ team: { id: engines.id } });
    await expect(product.auth.switchTeam(requestOf(product), foreign.id)).rejects.toMatchObject({ status: 404 });
  });

  test('is none once the user has left theirs: they stay signed in', async ({ api }) => {
    const product = await aProduct(api);
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(team, product.account);
    const request = await requestAtEndOfTokens(product, 0, `?team=${team.id}`);
    await api.rows('delete from membership where account_id = $1', [product.account.id]);

    expect(await product.auth.getSession(request)).toMatchObject({ user: { id: product.account.id }, team: null });
  });
});

describe('a cookie', () => {
  /** Names that cannot be compressed much, each of so many characters. */
  const names = (count: number, length: number) =>
    Array.from({ length: count }, (_, i) => `a:x${createHash('sha512').update(`${i}`).digest('hex').slice(0, length)}`);

  test('is divided for a role with hundreds of permissions, and replaced by a smaller one', async ({ api }) => {
    await declare(api, names(300, 20));
    const product = await aProduct(api);
    const [team, small] = [await api.aTeam({ owner: product.account }), await api.aTeam()];
    await api.aMember(small, product.account);
    await product.signIn(`?team=${team.id}`);
    const jar = product.browser.jarOf(product.appUrl);
    const { length } = [...jar.keys()];
    expect(length).toBeGreaterThan(1);
    for (const value of jar.values()) expect(value.length).toBeLessThan(4096);
    const { permissions = [] } = ((await (await product.me()).json()) as { team: { permissions?: string[] } }).team;
    expect(permissions).toHaveLength(306);

    jar.delete('__Host-roster.1');
    expect((await product.me()).status).toBe(401);
    await product.signIn(`?team=${small.id}`);
    expect(await (await product.me()).json()).toMatchObject({ team: { id: small.id } });
  });

  test('that browsers would not store is named, and nobody is signed in', async ({ api }) => {
    await declare(api, names(500, 40));
    const product = await aProduct(api);
    const team = await api.aTeam({ owner: product.account });

    const { response } = await product.signIn(`?team=${team.id}`);

    expect(await answerOf(response)).toMatchObject([500, 'session_too_large', expect.any(Number)]);
    expect((await product.me()).status).toBe(401);
  });
});
