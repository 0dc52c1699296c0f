import { describe, expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AClient } from '../support/factories.ts';
import { anAddress, aPerson, codeOf, OTHER_PASSWORD, PASSWORD, tokenTo } from '../trpc/people.ts';
import { aFirstParty, authorize, endOf, firstPartyTokens } from './first-party-flow.ts';
import { aProofKey, browse, exchange } from './flow.ts';

const test = testWith(() => startApi({ LINK_MAILS_PER_HOUR: '20' }));

const HOME = 'https://app.example/start?from=roster';
const BEGIN = 'https://app.example/sign-in?with=roster';

/** An application of the operator's own that begins requests at its own address. */
const anApp = (api: Api, options: Parameters<Api['anOAuthClient']>[0] = {}) =>
  api.anOAuthClient({
    name: 'Planner',
    confidential: true,
    firstParty: ['profile:read', 'teams:read', 'teams:write', 'invites:write'],
    homeUrl: HOME,
    initiateLoginUri: BEGIN,
    ...options,
  });

/** A browser that an application has sent, and its waiting request. */
async function sentBy(api: Api, client: AClient, asked: Record<string, string> = {}, visitor = api.visitor()) {
  const { verifier, challenge } = aProofKey();
  const { headers } = await authorize(api, visitor, client, challenge, asked);
  const authorizationId = /^\/oauth\/consent\/([\w-]+)/.exec(headers.location ?? '')?.[1];
  if (authorizationId === undefined) throw new Error(`No page: ${headers.location}`);
  return { visitor, authorizationId, verifier };
}

type Sent = Awaited<ReturnType<typeof sentBy>>;

/** The ways that lead over an email, each as what is asked for and what the link does. */
const WAYS = {
  'sign-up': {
    person: () => Promise.resolve({ email: anAddress() }),
    ask: ({ visitor, authorizationId }: Sent, email: string) =>
      visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD, authorizationId }),
    about: /^Verify/,
    read: ({ trpc }: Visitor, token: string) => trpc.auth.readVerification.mutate({ token }),
    use: ({ trpc }: Visitor, token: string, isElsewhere = false) =>
      trpc.auth.verifyEmail.mutate({ token, ...(isElsewhere && { password: PASSWORD }) }),
  },
  'sign-in link': {
    person: aPerson,
    ask: ({ visitor, authorizationId }: Sent, email: string) =>
      visitor.trpc.auth.emailSignInLink.mutate({ email, authorizationId }),
    about: /sign-in link/i,
    read: ({ trpc }: Visitor, token: string) => trpc.auth.readSignInLink.mutate({ token }),
    use: ({ trpc }: Visitor, token: string) => trpc.auth.signInWithLink.mutate({ token }),
  },
  reset: {
    person: aPerson,
    ask: ({ visitor, authorizationId }: Sent, email: string) =>
      visitor.trpc.auth.forgotPassword.mutate({ email, authorizationId }),
    about: /password/i,
    read: ({ trpc }: Visitor, token: string) => trpc.auth.checkLink.mutate({ purpose: 'reset_password', token }),
    use: ({ trpc }: Visitor, token: string) => trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD }),
  },
  'verification sent again': {
    person: (api: Api) => aPerson(api, { isVerified: false }),
    ask: ({ visitor, authorizationId }: Sent, email: string) =>
      visitor.trpc.auth.resendVerification.mutate({ email, authorizationId }),
    about: /^Verify/,
    read: ({ trpc }: Visitor, token: string) => trpc.auth.readVerification.mutate({ token }),
    use: ({ trpc }: Visitor, token: string) => trpc.auth.verifyEmail.mutate({ token, password: PASSWORD }),
  },
} as const;

const ALL = Object.entries(WAYS);
type Way = (typeof WAYS)[keyof typeof WAYS];

/** Sends the links that were asked for, which otherwise wait a second for the answers to have left. */
const sendNow = (api: Api) =>
  api.rows(
    `select graphile_worker.reschedule_jobs(array_agg(id), run_at := now()), pg_notify('jobs:insert', '{"r":1,"count":1}')
     from graphile_worker.jobs where task_identifier = 'sendRequestedLink' having count(*) > 0`,
  );

/** Somebody whom an application sent, and the token of the link that they got. */
async function onTheWay(api: Api, way: Way, client: AClient, asked: Record<string, string> = {}) {
  const sent = await sentBy(api, client, asked);
  const { email } = await way.person(api);
  await way.ask(sent, email);
  await sendNow(api);
  return { ...sent, email, client, token: await tokenTo(api, email, way.about) };
}

/** Continues the request at an address of the service, as the console does. @returns the parameters for the application */
async function follow(api: Api, visitor: Visitor, url: string | undefined) {
  const { pathname, origin } = new URL(url ?? 'https://nowhere.example');
  expect(origin).toBe(api.services.config.baseUrl);
  const id = pathname.split('/').at(-1) ?? '';
  const page = await visitor.trpc.authorizations.read.query({ id });
  expect(page.firstParty).toBe('nothing');
  const { redirectTo } = await visitor.trpc.authorizations.continue.mutate({ id, accountId: page.account.id });
  const end = endOf(await browse(api, visitor)(new URL(redirectTo).pathname));
  return { end: end as Record<string, string>, account: page.account };
}

const started = (api: Api, accountId: string, more: Record<string, string> = {}) =>
  `${BEGIN}&${new URLSearchParams({ iss: api.services.config.baseUrl, login_hint: accountId, target_link_uri: HOME, ...more }).toString()}`;

const idOf = async (api: Api, email: string): Promise<string> => {
  const [row] = await api.rows<{ id: string }>('select id from account where lower(email) = lower($1)', [email]);
  return row?.id ?? '';
};

/** Lets hours pass for the requests of a client. */
const passHours = (api: Api, client: AClient, hours: number) =>
  api.rows(
    `update authorization_request set began_at = began_at - make_interval(hours => $2::int),
       expires_at = expires_at - make_interval(hours => $2::int) where payload->'params'->>'client_id' = $1`,
    [client.id, hours],
  );

/** Somebody on each of the ways. */
const onAllWays = (api: Api, client: () => Promise<AClient>) =>
  Promise.all(ALL.map(async ([name, way]) => ({ name, way, ...(await onTheWay(api, way, await client())) })));

describe('a link by email that an application’s request led to', () => {
  test('says where it leads, and continues the request in its browser, once, also hours later', async ({ api }) => {
    const all = await onAllWays(api, () => anApp(api));
    for (const { name, way, visitor, token, verifier, authorizationId, client, email } of all) {
      await passHours(api, client, 23);
      expect(await way.read(visitor, token), name).toMatchObject({ application: 'Planner' });
      const used = await way.use(visitor, token);
      const { baseUrl } = api.services.config;
      expect(used.continueTo, name).toEqual({ name: 'Planner', url: `${baseUrl}/oauth/consent/${authorizationId}` });
      if (name === 'reset') await visitor.trpc.auth.signIn.mutate({ email, password: OTHER_PASSWORD });

      const { end, account } = await follow(api, visitor, used.continueTo?.url);
      expect(account.email, name).toBe(email);
      expect(end, name).toMatchObject({ code: expect.any(String), state: 'a-state' });
      const tokens = await exchange(api, { client, code: end['code'] ?? '', verifier });
      expect(tokens.status, name).toBe(200);

      expect(await codeOf(way.use(visitor, token)), name).toBe('link_invalid');
      const again = visitor.trpc.authorizations.read.query({ id: authorizationId });
      expect(await codeOf(again), name).toBe('authorization_not_found');
    }
  });

  test('leads to the address of the application in another browser', async ({ api }) => {
    for (const { name, way, token, email } of await onAllWays(api, () => anApp(api))) {
      const other = api.visitor();
      expect(await way.read(other, token), name).toMatchObject({ application: 'Planner' });
      const { continueTo } = await way.use(other, token, true);
      expect(continueTo, name).toEqual({ name: 'Planner', url: started(api, await idOf(api, email)) });
    }
  });

  test('leads to the home page of the application later, if it has no other address', async ({ api }) => {
    for (const { name, way, token, visitor, client } of await onAllWays(api, () =>
      anApp(api, { initiateLoginUri: null }),
    )) {
      await passHours(api, client, 25);
      expect((await way.use(visitor, token)).continueTo, name).toEqual({ name: 'Planner', url: HOME });
    }
  });

  test('leads nowhere without an application, nor for who invents its request', async ({ api }) => {
    const foreign = await sentBy(api, await anApp(api));
    const answered = await sentBy(api, await anApp(api));
    await api.rows(`update authorization_request set result = '{}' where browser_hash = sha256($1)`, [
      Buffer.from(answered.visitor.cookies.get('roster_browser_3000') ?? ''),
    ]);
    const { visitor } = answered;
    const invented = [foreign.authorizationId, answered.authorizationId, 'x', '', '../../evil', undefined];
    const asked = await Promise.all(
      invented.map(async (authorizationId, index) => {
        const [name, way] = ALL[index % ALL.length] as (typeof ALL)[number];
        const { email } = await way.person(api);
        await way.ask({ visitor, authorizationId } as Sent, email);
        return { way, email, about: `${name} ${authorizationId}` };
      }),
    );
    await sendNow(api);
    for (const { way, email, about } of asked) {
      const token = await tokenTo(api, email, way.about);
      expect(await way.read(visitor, token), about).not.toHaveProperty('application');
      expect(await way.use(visitor, token, true), about).not.toHaveProperty('continueTo');
    }
    for (const [name, way] of ALL) {
      const tooLong = way.ask({ visitor, authorizationId: 'x'.repeat(256) } as Sent, anAddress()) as Promise<unknown>;
      expect(await codeOf(tooLong), name).toBe('validation_failed');
    }
  });
});

const AFTERWARDS: Readonly<
  Record<string, { change: string; same: 'request' | 'address' | null; other: string | null }>
> = {
  'nothing changed': { change: 'select $1::text', same: 'request', other: BEGIN },
  deleted: { change: 'update oauth_client set deleted_at = now() where id = $1', same: null, other: null },
  'no longer first-party': {
    change: 'update oauth_client set is_first_party = false, scopes = null where id = $1',
    same: 'request',
    other: null,
  },
  'without its redirect URI': {
    change: `update oauth_client set redirect_uris = '{https://app.example/new}' where id = $1`,
    same: 'address',
    other: BEGIN,
  },
  'with another address': {
    change: `update oauth_client set initiate_login_uri = 'https://new.example/' where id = $1`,
    same: 'request',
    other: 'https://new.example/',
  },
  'with an address that is not allowed': {
    change: `update oauth_client set initiate_login_uri = 'http://app.example/', home_url = 'javascript:alert(1)' where id = $1`,
    same: 'request',
    other: null,
  },
  'without addresses': {
    change: 'update oauth_client set initiate_login_uri = null, home_url = null where id = $1',
    same: 'request',
    other: null,
  },
};

describe('an application', () => {
  test('is looked at again when its link is used', async ({ api }) => {
    const way = WAYS['sign-in link'];
    const cases = await Promise.all(
      Object.entries(AFTERWARDS).map(async ([name, expected]) => {
        const client = await anApp(api);
        const [here, there] = await Promise.all([onTheWay(api, way, client), onTheWay(api, way, client)]);
        return { name, client, here, there, ...expected };
      }),
    );
    for (const { name, client, here, there, change, same, other } of cases) {
      await api.rows(change, [client.id]);
      const { continueTo: inSame } = await way.use(here.visitor, here.token);
      const kind = inSame?.url.startsWith(api.services.config.baseUrl) ? 'request' : inSame && 'address';
      expect(kind ?? null, name).toBe(same);
      const { continueTo: inOther } = await way.use(api.visitor(), there.token);
      expect(inOther?.url.split(/.iss=/)[0] ?? null, name).toBe(other);
    }
  });

  test('does not get its request back if the keys of the service that encrypted it are gone', async ({ api }) => {
    const way = WAYS['sign-in link'];
    const { visitor, token, client } = await onTheWay(api, way, await anApp(api));
    await api.rows(
      `update authorization_request set sealed_id = 'AAAA' || sealed_id where payload->'params'->>'client_id' = $1`,
      [client.id],
    );
    expect((await way.use(visitor, token)).continueTo?.url).toMatch(/^https:\/\/app\.example\/sign-in/);
  });
});

describe('the application to which a sign-in leads', () => {
  const nameOf = ({ authorizationId }: Sent, { trpc }: Visitor) => trpc.auth.readApplication.query({ authorizationId });

  test('is named to the browser that it sent, if the operator created it', async ({ api }) => {
    for (const client of [await anApp(api), await api.anOAuthClient({ name: 'Planner' })]) {
      const sent = await sentBy(api, client);
      expect(await nameOf(sent, sent.visitor)).toEqual({ name: 'Planner' });
      expect(await nameOf(sent, api.visitor())).toBeNull();
      expect(await nameOf({ ...sent, authorizationId: 'x' }, sent.visitor)).toBeNull();
      await api.rows('update oauth_client set deleted_at = now() where id = $1', [client.id]);
      expect(await nameOf(sent, sent.visitor)).toBeNull();
    }
  });

  // Guarantees that a stranger's application looks like nobody else's on the page that asks for a password.
  test('is not named if somebody else chose its name', async ({ api }) => {
    const client = await api.anOAuthClient({ name: 'Planner', owner: await api.anAccount() });
    const sent = await sentBy(api, client);
    expect(await nameOf(sent, sent.visitor)).toBeNull();
  });
});

describe('the request of an application that a link continues', () => {
  test('is of no browser but its own, and the last one that this browser began', async ({ api }) => {
    const way = WAYS['sign-in link'];
    const client = await anApp(api);
    const { visitor, token } = await onTheWay(api, way, client);
    await sentBy(api, await anApp(api, { name: 'Other' }), {}, visitor);
    const again = await sentBy(api, client, { state: 'later' }, visitor);
    await sentBy(api, client);
    const { continueTo } = await way.use(visitor, token);
    expect(continueTo?.url).toMatch(new RegExp(`/${again.authorizationId}$`));
    expect((await follow(api, visitor, continueTo?.url)).end).toMatchObject({ state: 'later' });
  });

  test('waits 15 minutes without a link, and a day with one', async ({ api }) => {
    const client = await anApp(api);
    const minutes = () =>
      api
        .rows<{ minutes: number }>(
          `select round(extract(epoch from expires_at - began_at) / 60)::int as minutes from authorization_request
           where payload->'params'->>'client_id' = $1`,
          [client.id],
        )
        .then(([row]) => row?.minutes);
    const sent = await sentBy(api, client);
    expect(await minutes()).toBe(15);
    await sent.visitor.trpc.auth.signUp.mutate({ email: anAddress(), password: PASSWORD, authorizationId: 'x' });
    expect(await minutes()).toBe(15);
    await WAYS['sign-up'].ask(sent, anAddress());
    expect(await minutes()).toBeGreaterThanOrEqual(24 * 60);
  });

  test('begins with the sign-up if the application asks for it, and asks nothing more', async ({ api }) => {
    const way = WAYS['sign-up'];
    const { visitor, token } = await onTheWay(api, way, await anApp(api), { prompt: 'create' });
    const { continueTo } = await way.use(visitor, token);
    expect((await follow(api, visitor, continueTo?.url)).end).toHaveProperty('code');
  });

  test('counts the link as the proof that the application asked for', async ({ api }) => {
    for (const asked of [{ max_age: '0' }, { prompt: 'login' }] as Record<string, string>[]) {
      const { visitor, token, client } = await onTheWay(api, WAYS['sign-in link'], await anApp(api), asked);
      await passHours(api, client, 2);
      const { continueTo } = await WAYS['sign-in link'].use(visitor, token);
      expect((await follow(api, visitor, continueTo?.url)).end).toHaveProperty('code');
    }
  });

  test('continues as who followed the link, whose session replaces that of another account', async ({ api }) => {
    const { visitor, token, email } = await onTheWay(api, WAYS['sign-in link'], await anApp(api));
    const other = await aPerson(api);
    await visitor.trpc.auth.signIn.mutate({ email: other.email, password: PASSWORD });
    const { continueTo } = await WAYS['sign-in link'].use(visitor, token);
    expect((await follow(api, visitor, continueTo?.url)).account.email).toBe(email);
    const open = await api.rows('select from session where account_id = $1 and revoked_at is null', [other.id]);
    expect(open).toEqual([]);
  });

  test('is not continued as another account, after a reset that leaves it signed in', async ({ api }) => {
    const { visitor, token, email } = await onTheWay(api, WAYS.reset, await anApp(api));
    const other = await aPerson(api);
    await visitor.trpc.auth.signIn.mutate({ email: other.email, password: PASSWORD });
    const { continueTo } = await WAYS.reset.use(visitor, token);
    expect(continueTo?.url).toBe(started(api, await idOf(api, email)));
  });

  test('of others than first-party clients waits for a consent, and leads nowhere else', async ({ api }) => {
    const way = WAYS['sign-in link'];
    const client = await api.anOAuthClient({ name: 'Planner', homeUrl: HOME, initiateLoginUri: BEGIN });
    const { visitor, token, authorizationId } = await onTheWay(api, way, client);
    const { continueTo } = await way.use(visitor, token);
    expect(continueTo?.url).toMatch(new RegExp(`/oauth/consent/${authorizationId}$`));
    expect(await visitor.trpc.authorizations.read.query({ id: authorizationId })).toMatchObject({ firstParty: null });
    const elsewhere = await onTheWay(api, way, client);
    expect(await way.use(api.visitor(), elsewhere.token)).not.toHaveProperty('continueTo');
  });
});

/** Invites somebody to the team of a user with the token of an application. */
async function anInvitationBy(api: Api, client: AClient, email = anAddress()) {
  const { account, visitor } = await aFirstParty(api);
  const team = await api.aTeam({ owner: account });
  const { access } = await firstPartyTokens(api, { client, visitor }, { scope: '' });
  const body = { email, roleId: 'member', isSystemRole: true };
  const answer = await api.as(access).post(`/api/v1/teams/${team.id}/invitations`, body);
  expect(answer.status).toBeLessThan(300);
  return { team, visitor, account, email, token: await tokenTo(api, email, /invitation/i) };
}

describe('an invitation that a first-party application sent', () => {
  test('leads to it who signs up, and who accepts', async ({ api }) => {
    const { token, email } = await anInvitationBy(api, await anApp(api));
    const visitor = api.visitor();
    expect(await visitor.trpc.invitations.read.mutate({ token })).toMatchObject({ application: 'Planner' });
    const signUp = { email, password: PASSWORD, invitationToken: token };
    const { continueTo } = await visitor.trpc.auth.signUp.mutate(signUp);
    expect(continueTo).toEqual({ name: 'Planner', url: started(api, await idOf(api, email)) });

    const known = await aPerson(api);
    const second = await anInvitationBy(api, await anApp(api, { initiateLoginUri: null }), known.email);
    const accepting = await signedIn(api, known);
    const accept = () => accepting.trpc.invitations.accept.mutate({ token: second.token });
    expect(await accept()).toMatchObject({ id: second.team.id, continueTo: { name: 'Planner', url: HOME } });
    // Clicked twice.
    expect(await accept()).toMatchObject({ continueTo: { url: HOME } });
  });

  test('continues the request that waits for it in this browser', async ({ api }) => {
    const client = await anApp(api);
    const { token, email } = await anInvitationBy(api, client);
    const { visitor } = await sentBy(api, client);
    const signUp = { email, password: PASSWORD, invitationToken: token };
    const { continueTo } = await visitor.trpc.auth.signUp.mutate(signUp);
    expect((await follow(api, visitor, continueTo?.url)).end).toHaveProperty('code');
  });

  test('still does after it was sent again in the console, and not to one that was deleted', async ({ api }) => {
    const client = await anApp(api);
    const { team, visitor, account, email } = await anInvitationBy(api, client);
    const [invited] = await api.rows<{ id: string }>('select id from invitation where team_id = $1', [team.id]);
    await api.rows('update session set proven_at = now() where account_id = $1', [account.id]);
    await visitor.trpc.invitations.resend.mutate({ teamId: team.id, invitationId: invited?.id ?? '' });
    const { link } = await visitor.trpc.invitations.create.mutate({ teamId: team.id, email });
    const token = new URL(link).searchParams.get('token') ?? '';
    const read = () => api.visitor().trpc.invitations.read.mutate({ token });
    expect(await read()).toMatchObject({ application: 'Planner' });
    await api.rows('update oauth_client set deleted_at = now() where id = $1', [client.id]);
    expect(await read()).not.toHaveProperty('application');
  });

  test('is none if the console, a key or an application of others sent it', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const client = await api.anOAuthClient({ homeUrl: HOME, initiateLoginUri: BEGIN });
    const key = await api.anApiKey(account, { scopes: ['invites:write'] });
    const grant = await api.aGrant(account, { scopes: ['invites:write'], client });
    for (const secret of [key.secret, grant.secret]) {
      const body = { email: anAddress(), roleId: 'member', isSystemRole: true };
      const answer = await api.as(secret).post(`/api/v1/teams/${team.id}/invitations`, body);
      expect(answer.status).toBeLessThan(300);
    }
    const { trpc } = await signedIn(api, account);
    await trpc.invitations.create.mutate({ teamId: team.id, email: anAddress() });
    const rows = await api.rows('select client_id from invitation where team_id = $1', [team.id]);
    expect(rows).toEqual([{ client_id: null }, { client_id: null }, { client_id: null }]);
  });
});
