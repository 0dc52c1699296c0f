import pg from 'pg';
import { describe, expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf, signedIn, type Visitor } from '../support/browser.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import type { ALL_SCOPES } from '../rest/operations.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { aProofKey, askConsent, browse, exchange, goodRequest } from './flow.ts';
import { CONSENT_PAGE, expectAtClient, expectConsentPage, expectOurPage } from './pages.ts';

type Scope = (typeof ALL_SCOPES)[number];

/** A request that waits for consent in a browser where its account is signed in. */
type Scene = {
  readonly account: AnAccount;
  readonly client: AClient;
  readonly visitor: Visitor;
  readonly id: string;
  readonly verifier: string;
};

type Given = {
  account?: AnAccount;
  client?: AClient;
  visitor?: Visitor;
  scopes?: readonly Scope[];
  params?: Readonly<Record<string, string>>;
};

async function aScene(api: Api, { scopes = ['teams:read'], params, ...given }: Given = {}): Promise<Scene> {
  const account = given.account ?? (await api.anAccount());
  const client = given.client ?? (await api.anOAuthClient());
  const visitor = given.visitor ?? (await signedIn(api, account));
  const { verifier, challenge } = aProofKey();
  const id = await askConsent(api, visitor, { ...goodRequest(client, challenge, scopes), ...params });
  return { account, client, visitor, id, verifier };
}

type Approval = { scopes?: readonly Scope[]; team?: { readonly id: string }; accountId?: string };

const approve = ({ visitor, id, account }: Scene, { scopes = ['teams:read'], team, accountId }: Approval = {}) =>
  visitor.trpc.authorizations.approve.mutate({
    id,
    accountId: accountId ?? account.id,
    teamId: team?.id ?? null,
    scopes: [...scopes],
  });

const read = ({ visitor, id }: Scene) => visitor.trpc.authorizations.read.query({ id });
const deny = ({ visitor, id }: Scene) => visitor.trpc.authorizations.deny.mutate({ id });

const resumeIn = (api: Api, { visitor, id }: Scene) => browse(api, visitor)(`/oauth/authorize/${id}`);

const consentsOf = (api: Api, { account }: Scene) =>
  api.rows<{ team_id: string | null; scopes: Scope[] }>(
    'select team_id, scopes from oauth_token_family where account_id = $1',
    [account.id],
  );

/** That the request is over for everybody: nothing can be seen or decided. */
async function expectOver(scene: Scene): Promise<void> {
  for (const call of [read, approve, deny]) {
    expect(await problemOf(call(scene))).toMatchObject({ status: 404, code: 'authorization_not_found' });
  }
}

/** That the refusal before has changed nothing: the request can be approved as if nothing had been. */
async function expectOpen(api: Api, scene: Scene, approval?: Approval): Promise<void> {
  expect(await consentsOf(api, scene)).toEqual([]);
  await approve(scene, approval);
  expect(await consentsOf(api, scene)).toHaveLength(1);
}

const codeIn = (location: string | undefined) => new URL(location ?? '').searchParams.get('code');

describe('authorizations.read', () => {
  test('shows who asks for what, and where it can be granted', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ name: 'B team', owner: account });
    const asGuest = await api.aTeam({ name: 'A team' });
    const elsewhere = await api.aTeam({ owner: await api.anAccount() });
    const [inactive, expired] = [await api.aTeam(), await api.aTeam()];
    await api.aMember(asGuest, account);
    await api.aMember(inactive, account, { active: false });
    await api.aMember(expired, account, { expiresAt: new Date(Date.now() - 1000) });
    const client = await api.anOAuthClient({ name: 'An <b>app</b>' });
    const scene = await aScene(api, { account, client, scopes: ['members:read', 'profile:read'] });

    const shown = await read(scene);

    expect(shown).toEqual({
      id: scene.id,
      client: {
        id: client.id,
        name: 'An <b>app</b>',
        redirectHost: 'client.example',
        isVerified: true,
        source: 'operator',
        madeBy: null,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      account: { id: account.id, email: account.email },
      firstParty: null,
      permissions: [],
      scopes: ['profile:read', 'members:read'],
      openidScopes: [],
      preselectedScopes: ['profile:read', 'members:read'],
      accessDays: 90,
      teams: [
        { id: asGuest.id, name: 'A team', roleName: 'Guest' },
        { id: team.id, name: 'B team', roleName: 'Owner' },
      ],
    });
    expect(JSON.stringify(shown)).not.toContain(elsewhere.id);
  });

  test.for([
    ['https://client.example:8443/callback', undefined, 'client.example:8443'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:7777/cb', '127.0.0.1:7777'],
    ['com.example.app:/cb', undefined, 'com.example.app'],
  ])('shows where %s leads', async ([redirectUri = '', asked = redirectUri, host], { api }) => {
    const owner = await api.anAccount();
    const client = await api.anOAuthClient({ redirectUri, native: !redirectUri.startsWith('https'), owner });
    const scene = await aScene(api, { client, params: { redirect_uri: asked } });

    expect((await read(scene)).client).toMatchObject({ redirectHost: host, isVerified: false });
  });
});

// Guarantees that nobody consents to what the operator adds while they read the page.
test('authorizations.approve gives of the product what the page showed and the client still asks for', async ({
  api,
}) => {
  const names = ['invoices:print', 'invoices:read', 'invoices:write'];
  await declarePermissions(
    api,
    names.map((name) => ({ name })),
  );
  const scene = await aScene(api);
  const ask = (asked: readonly string[]) =>
    api.rows('update oauth_client set product_permissions = $2 where id = $1', [scene.client.id, asked]);
  await ask(['invoices:print', 'invoices:read']);
  const permissions = (await read(scene)).permissions.map(({ name }) => name);
  expect(permissions).toEqual(['invoices:print', 'invoices:read']);
  await ask(['invoices:read', 'invoices:write']);
  const { id, account, visitor } = scene;
  const approval = { id, accountId: account.id, teamId: null, scopes: ['teams:read' as const], permissions };
  await visitor.trpc.authorizations.approve.mutate(approval);
  expect(
    await api.rows('select product_permissions as names from oauth_token_family where account_id = $1', [account.id]),
  ).toEqual([{ names: ['invoices:read'] }]);
});

describe('a request that can be decided no more', () => {
  test('is one that never was', async ({ api }) => {
    const scene = await aScene(api);

    for (const id of ['unknown', scene.id.slice(1), `${scene.id}x`, scene.id.toLowerCase(), "' or true --"]) {
      await expectOver({ ...scene, id });
    }
    await expectOpen(api, scene);
  });

  test('is an error page once it has expired, also for the account that approved it', async ({ api }) => {
    const client = await api.anOAuthClient();
    const [scene, approved] = [await aScene(api, { client }), await aScene(api, { client })];
    await approve(approved);
    for (const { id } of [scene, approved]) {
      await api.rows(`update authorization_request set expires_at = now() - interval '1 ms' where id_hash = $1`, [
        hashSecret(id),
      ]);
    }

    await expectOver(scene);
    expect(await consentsOf(api, scene)).toEqual([]);
    for (const each of [scene, approved]) expectOurPage(await resumeIn(api, each), 'invalid_request');
  });

  test('is one that was approved', async ({ api }) => {
    const scene = await aScene(api);
    await approve(scene);

    await expectOver(scene);
    expect(await consentsOf(api, scene)).toHaveLength(1);
  });

  test('is one that was denied', async ({ api }) => {
    const scene = await aScene(api);
    await deny(scene);

    await expectOver(scene);
    expect(await consentsOf(api, scene)).toEqual([]);
  });

  test('is one whose client was deleted', async ({ api }) => {
    const scene = await aScene(api);
    await api.rows('delete from oauth_client where id = $1', [scene.client.id]);

    for (const call of [read, approve]) {
      expect(await problemOf(call(scene))).toMatchObject({ code: 'authorization_not_found' });
    }
    await deny(scene);
    expectOurPage(await resumeIn(api, scene), 'access_denied');
  });
});

// Guarantees that an attacker cannot make a user answer a request that was started elsewhere.
describe('a request belongs to the browser it began in', () => {
  test.for<[what: string, cookie: string | undefined]>([
    ['of another request', 'x'.repeat(43)],
    ['that is empty', ''],
    ['that is none', undefined],
  ])('and is nothing to a browser with a cookie %s', async ([, cookie], { api }) => {
    const scene = await aScene(api);
    const visitor = await signedIn(api, scene.account);
    if (cookie !== undefined) visitor.cookies.set('roster_browser_3000', cookie);

    await expectOver({ ...scene, visitor });
    await expectOpen(api, scene);
  });

  test('and is not available in another user’s browser', async ({ api }) => {
    const scene = await aScene(api);
    const other = await aScene(api, { client: scene.client });

    await expectOver({ ...scene, account: other.account, visitor: other.visitor });
    expect(await consentsOf(api, other)).toEqual([]);
    await expectOpen(api, scene);
  });

  test('and continues only there, once', async ({ api }) => {
    const scene = await aScene(api);
    const elsewhere = await aScene(api, { client: scene.client, account: scene.account });
    const { redirectTo } = await approve(scene);
    expect(redirectTo).toBe(`http://localhost:3000/oauth/authorize/${scene.id}`);

    expectOurPage(await resumeIn(api, { ...scene, visitor: api.visitor() }), 'invalid_request');
    const { cookies } = elsewhere.visitor;
    cookies.delete('roster_resume_3000.sig');
    cookies.set('roster_resume_3000', scene.id);
    expectOurPage(await resumeIn(api, { ...scene, visitor: elsewhere.visitor }), 'invalid_request');
    const answer = await resumeIn(api, scene);

    expectAtClient(answer, scene.client.redirectUri, { code: expect.stringMatching(/^rst_ac_/), state: 'a-state' });
    expectOurPage(await resumeIn(api, scene), 'invalid_request');
  });

  test('in which two requests are decided one after the other', async ({ api }) => {
    const first = await aScene(api, { params: { state: 'first' } });
    const cookies = new Map(first.visitor.cookies);
    const second = await aScene(api, { ...first, scopes: ['members:read'], params: { state: 'second' } });
    // A browser keeps cookies of the same name apart by their paths.
    const ofFirst = { ...first, visitor: { ...first.visitor, cookies } };

    await approve(second, { scopes: ['members:read'] });
    await approve(first);
    const answers = [await resumeIn(api, ofFirst), await resumeIn(api, second)];

    const code = expect.any(String);
    expectAtClient(answers[0]!, first.client.redirectUri, { code, state: 'first' });
    expectAtClient(answers[1]!, first.client.redirectUri, { code, state: 'second' });
    expect(await consentsOf(api, first)).toHaveLength(2);
  });
});

describe('who decides', () => {
  test('is the account that the page showed, not one that has signed in since', async ({ api }) => {
    const scene = await aScene(api);
    const other = await api.anAccount();
    const session = (await signedIn(api, other)).cookies.get('roster_session_3000') ?? '';
    const first = scene.visitor.cookies.get('roster_session_3000') ?? '';
    scene.visitor.cookies.set('roster_session_3000', session);

    expect(await problemOf(approve(scene))).toMatchObject({ status: 409, code: 'account_changed' });
    expect((await read(scene)).account.id).toBe(other.id);
    scene.visitor.cookies.set('roster_session_3000', first);

    expect(await problemOf(approve(scene, { accountId: other.id }))).toMatchObject({ code: 'account_changed' });
    expect(await consentsOf(api, { ...scene, account: other })).toEqual([]);
    await expectOpen(api, scene);
  });

  test('requires a signed-in user; keys and tokens are not accepted', async ({ api }) => {
    const scene = await aScene(api);
    const [key, grant] = [await api.anApiKey(scene.account), await api.aGrant(await api.anAccount())];
    const visitorWith = (headers: Readonly<Record<string, string>>) => {
      const visitor = api.visitor();
      visitor.cookies.set('roster_browser_3000', scene.visitor.cookies.get('roster_browser_3000') ?? '');
      Object.assign(visitor.headers, headers);
      return visitor;
    };

    for (const [bearer, code] of [
      [undefined, 'credential_missing'],
      [key, 'session_required'],
      [grant, 'session_required'],
    ] as const) {
      const visitor = visitorWith(bearer === undefined ? {} : { authorization: `Bearer ${bearer.secret}` });
      for (const call of [read, approve, deny]) {
        expect(await problemOf(call({ ...scene, visitor }))).toMatchObject({ code });
      }
    }
    await expectOpen(api, scene);
  });

  type Sent = { headers?: Record<string, string>; body?: string; method?: string; path?: string };
  const SAME = { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:3000', 'content-type': 'application/json' };

  test.for<[what: string, code: string, sent: (json: string) => Sent]>([
    ['another site', 'cross_site_request', () => ({ headers: { 'sec-fetch-site': 'cross-site' } })],
    ['another host of the same site', 'cross_site_request', () => ({ headers: { 'sec-fetch-site': 'same-site' } })],
    ['nowhere', 'cross_site_request', () => ({ headers: { 'sec-fetch-site': 'none' } })],
    [
      'another origin, from an old browser',
      'cross_site_request',
      () => ({ headers: { 'sec-fetch-site': '', origin: 'https://evil.example' } }),
    ],
    ['no origin, from an old browser', 'cross_site_request', () => ({ headers: { 'sec-fetch-site': '', origin: '' } })],
    ['an opaque origin', 'cross_site_request', () => ({ headers: { 'sec-fetch-site': '', origin: 'null' } })],
    [
      'a form',
      'unsupported_media_type',
      (json) => ({ ...ofType('application/x-www-form-urlencoded'), body: `x=${json}` }),
    ],
    ['a form that is text', 'unsupported_media_type', () => ofType('text/plain')],
    [
      'a form with files',
      'unsupported_media_type',
      (json) => ({
        ...ofType('multipart/form-data; boundary=b'),
        body: `--b\r\ncontent-disposition: form-data; name="json"\r\n\r\n${json}\r\n--b--\r\n`,
      }),
    ],
    ['bytes', 'unsupported_media_type', () => ofType('application/octet-stream')],
    [
      'a link',
      'method_not_allowed',
      (json) => ({ method: 'GET', path: `?input=${encodeURIComponent(json)}`, headers: { 'content-type': '' } }),
    ],
  ])('is our own page: %s is refused', async ([, code, sent], { api }) => {
    const scene = await aScene(api);
    const json = JSON.stringify({ id: scene.id, accountId: scene.account.id, teamId: null, scopes: ['teams:read'] });
    const cookie = [...scene.visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

    for (const procedure of ['approve', 'deny']) {
      const { method = 'POST', path = '', headers, body = method === 'GET' ? undefined : json } = sent(json);
      const all = Object.entries({ cookie, ...SAME, ...headers }).filter(([, value]) => value !== '');
      const answer = await api.anonymous.send({
        method,
        path: `/trpc/authorizations.${procedure}${path}`,
        headers: Object.fromEntries(all),
        ...(body !== undefined && { body }),
      });
      expect((answer.body.error?.data.problem ?? answer.body).code).toBe(code);
    }
    await expectOpen(api, scene);
  });
});

const ofType = (type: string) => ({ headers: { 'content-type': type } });

describe('what is granted', () => {
  test.for<[what: string, asked: Scope[], approved: Scope[], granted: Scope[]]>([
    ['all of it', ['teams:read', 'profile:read'], ['teams:read', 'profile:read'], ['profile:read', 'teams:read']],
    ['less than was asked for', ['teams:read', 'teams:write'], ['teams:read'], ['teams:read']],
    ['what is named twice, once', ['teams:read'], ['teams:read', 'teams:read'], ['teams:read']],
  ])('for the account: %s', async ([, scopes, approved, granted], { api }) => {
    const scene = await aScene(api, { scopes });
    const before = api.lines.length;

    await approve(scene, { scopes: approved });

    expect(await consentsOf(api, scene)).toEqual([{ team_id: null, scopes: granted }]);
    expect(api.lines.slice(before).find(({ audit }) => audit === 'oauth_grant.approved')).toMatchObject({
      accountId: scene.account.id,
      teamId: null,
      clientId: scene.client.id,
      scopes: granted,
    });
  });

  test('for a team: nothing that concerns the whole account', async ({ api }) => {
    const scopes: Scope[] = ['profile:read', 'teams:read', 'api-keys:write', 'members:read'];
    const scene = await aScene(api, { scopes });
    const team = await api.aTeam({ owner: scene.account });

    await approve(scene, { team, scopes });

    expect(await consentsOf(api, scene)).toEqual([{ team_id: team.id, scopes: ['teams:read', 'members:read'] }]);
  });

  test.for<[what: string, pointer: string, approved: Scope[], forTeam: boolean]>([
    ['nothing', '/scopes', [], false],
    ['a scope that was not asked for', '/scopes/1', ['teams:read', 'teams:write'], false],
    ['nothing that a team can grant', '/scopes', ['profile:read'], true],
  ])('is never %s', async ([, pointer, scopes, forTeam], { api }) => {
    const scene = await aScene(api, { scopes: ['teams:read', 'profile:read'] });
    const team = forTeam ? { team: await api.aTeam({ owner: scene.account }) } : {};

    const problem = await problemOf(approve(scene, { scopes, ...team }));

    expect(problem).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer, code: 'invalid_value' }],
    });
    await expectOpen(api, scene);
  });

  test('is for a team only by its active members', async ({ api }) => {
    const scene = await aScene(api);
    const { account } = scene;
    const owner = await api.anAccount();
    const [left, inactive, expired, never] = await Promise.all([1, 2, 3, 4].map(() => api.aTeam({ owner })));
    await api.aMember(left!, account);
    await api.aMember(inactive!, account, { active: false });
    await api.aMember(expired!, account, { expiresAt: new Date(Date.now() - 1000) });
    await scene.visitor.trpc.teams.leave.mutate({ teamId: left!.id });

    for (const team of [left!, inactive!, expired!, never!, { id: 'team_00000000000000000000000000' }]) {
      expect(await problemOf(approve(scene, { team }))).toMatchObject({ status: 404, code: 'team_not_found' });
    }
    await expectOpen(api, scene);
  });

  test('reaches the client as a code that is good for just that', async ({ api }) => {
    const scene = await aScene(api, { scopes: ['teams:read', 'members:read'], params: { prompt: 'consent' } });
    const team = await api.aTeam({ owner: scene.account });
    await approve(scene, { team, scopes: ['members:read'] });

    const code = codeIn((await resumeIn(api, scene)).headers.location) ?? '';
    const { status, body } = await exchange(api, { ...scene, code });

    expect([status, body.scope]).toEqual([200, 'members:read']);
    expect((await api.as(body.access_token).get('/api/v1/credential')).body).toMatchObject({
      audience: 'team',
      team: { id: team.id },
      scopes: ['members:read'],
    });
  });

  test('is nothing where it is denied, which the client hears', async ({ api }) => {
    const scene = await aScene(api);
    const before = api.lines.length;

    const { redirectTo } = await deny(scene);
    const answer = await resumeIn(api, scene);

    expect(redirectTo).toBe(`http://localhost:3000/oauth/authorize/${scene.id}`);
    const error_description = 'The request was denied.';
    expectAtClient(answer, scene.client.redirectUri, { error: 'access_denied', error_description, state: 'a-state' });
    expect(await consentsOf(api, scene)).toEqual([]);
    expect(api.lines.slice(before).flatMap(({ audit }) => audit ?? [])).toEqual(['oauth_grant.denied']);
  });
});

describe('immediate effects', () => {
  test('eight approvals store one consent', async ({ api }) => {
    const scene = await aScene(api);

    const calls = await Promise.allSettled(Array.from({ length: 8 }, () => approve(scene)));

    expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const call of calls) {
      if (call.status === 'rejected') {
        expect(await problemOf(Promise.reject(call.reason))).toMatchObject({ code: 'authorization_not_found' });
      }
    }
    expect(await consentsOf(api, scene)).toHaveLength(1);
  });

  test('an approval and a denial: one of them holds', async ({ api }) => {
    for (let round = 0; round < 4; round += 1) {
      const scene = await aScene(api);

      const [approved, denied] = await Promise.allSettled(
        round % 2 === 0 ? [approve(scene), deny(scene)] : [deny(scene), approve(scene)].toReversed(),
      );

      expect([approved!.status, denied!.status].toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await consentsOf(api, scene)).toHaveLength(approved!.status === 'fulfilled' ? 1 : 0);
    }
  });

  test('a request that goes on twice gets one code', async ({ api }) => {
    for (let round = 0; round < 4; round += 1) {
      const scene = await aScene(api);
      await approve(scene);
      const visitor = { ...scene.visitor, cookies: new Map(scene.visitor.cookies) };

      const answers = await Promise.all([resumeIn(api, scene), resumeIn(api, { ...scene, visitor })]);

      const [good, bad] = answers.toSorted((a, b) => a.status - b.status);
      expectAtClient(good!, scene.client.redirectUri, { code: expect.any(String), state: 'a-state' });
      expectOurPage(bad!, 'invalid_request');
      const codes = `select from oauth_token t join oauth_token_family f on f.id = t.family_id where f.account_id = $1`;
      expect(await api.rows(codes, [scene.account.id])).toHaveLength(1);
    }
  });

  // Guarantees that the membership is checked again under the team's lock.
  test('a membership that ends between the look and the deed takes the consent with it', async ({ api }) => {
    const scene = await aScene(api);
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(team, scene.account);
    const holder = new pg.Client({ connectionString: api.databaseUrl });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from authorization_request where id_hash = $1 for update', [hashSecret(scene.id)]);

    const approval = problemOf(approve(scene, { team }));
    await expect
      .poll(() =>
        api.rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      )
      .toHaveLength(1);
    await scene.visitor.trpc.teams.leave.mutate({ teamId: team.id });
    await holder.query('rollback');
    await holder.end();

    expect(await approval).toMatchObject({ code: 'team_not_found' });
    await expectOpen(api, scene);
  });

  test('a removal and an approval leave no consent, whichever comes first', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const client = await api.anOAuthClient();
    const { trpc } = await signedIn(api, owner);

    const rounds = await Promise.all(
      Array.from({ length: 10 }, async (_, round) => {
        const scene = await aScene(api, { client });
        await api.aMember(team, scene.account);
        const remove = () => trpc.removeTeamMember.mutate({ teamId: team.id, userId: scene.account.id });
        const removal = round % 2 === 0 ? remove() : undefined;
        const approval = approve(scene, { team }).catch((error: unknown) => problemOf(Promise.reject(error)));
        await (removal ?? remove());
        return { scene, outcome: await approval };
      }),
    );

    for (const { scene, outcome } of rounds) {
      if (!('redirectTo' in outcome)) expect(outcome).toMatchObject({ code: 'team_not_found' });
      expect(await consentsOf(api, scene)).toEqual([]);
    }
  });
});

describe('a request that goes on', () => {
  test('before it is decided comes back to a consent page, which can be decided', async ({ api }) => {
    const scene = await aScene(api);

    const answer = await resumeIn(api, scene);
    expectConsentPage(answer);
    const again = { ...scene, id: CONSENT_PAGE.exec(answer.headers.location ?? '')?.[1] ?? '' };

    await expectOver(scene);
    await approve(again);
    expectAtClient(await resumeIn(api, again), scene.client.redirectUri, {
      code: expect.any(String),
      state: 'a-state',
    });
  });

  const ENDED: readonly (readonly [string, (api: Api, scene: Scene) => Promise<unknown>])[] = [
    [
      'the consent was withdrawn',
      (api, { account }) => api.rows('delete from oauth_token_family where account_id = $1', [account.id]),
    ],
    ['the account was deleted', (api, { account }) => api.rows('delete from account where id = $1', [account.id])],
    [
      'the account was disabled',
      (api, { account }) => api.rows('update account set disabled_at = now() where id = $1', [account.id]),
    ],
  ];
  test.for(ENDED)('after %s gets no code', async ([, end], { api }) => {
    const scene = await aScene(api);
    await approve(scene);
    await end(api, scene);

    const answer = await resumeIn(api, scene);

    expectAtClient(answer, scene.client.redirectUri, {
      error: 'access_denied',
      state: 'a-state',
    });
  });

  test('sets no cookie, and takes away its own', async ({ api }) => {
    const scene = await aScene(api);
    await approve(scene);

    const { headers } = await resumeIn(api, scene);

    const cookies = (headers['set-cookie'] ?? []).map((cookie) => cookie.replace(/=.*?; /, ': '));
    const path = `path=/oauth/authorize/${scene.id}; expires=Thu, 01 Jan 1970 00:00:00 GMT; samesite=lax; httponly`;
    expect(cookies).toEqual([`roster_resume_3000: ${path}`, `roster_resume_3000.sig: ${path}`]);
  });
});
