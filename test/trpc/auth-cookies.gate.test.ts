import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { aProofKey, askConsent, browse, exchange, goodRequest } from '../oauth/flow.ts';
import { startApi, test, type Api } from '../support/api.ts';
import type { Visitor } from '../support/browser.ts';
import { aPerson, aService, aSignedIn, codeOf, PASSWORD, signIn } from './people.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A call as a browser sends it, with headers that a test can change. */
async function call(api: Api, path: string, body: string | Buffer, headers: Record<string, string | undefined>) {
  const sent = {
    'content-type': 'application/json',
    origin: api.services.config.baseUrl,
    'sec-fetch-site': 'same-origin',
    ...headers,
  };
  const given = Object.entries(sent).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return api.anonymous.send({ method: 'POST', path: `/trpc/${path}`, headers: Object.fromEntries(given), body });
}

async function signInCookies(api: Api): Promise<string[]> {
  const { email } = await aPerson(api);
  const answer = await call(api, 'auth.signIn', JSON.stringify({ email, password: PASSWORD }), {});
  expect(answer.status).toBe(200);
  return answer.headers['set-cookie'] ?? [];
}

/** A cookie's name, attributes in lower case, and days. */
function partsOf(cookie: string) {
  const [pair = '', ...attributes] = cookie.split('; ');
  const expires = Date.parse(/expires=([^;]+)/i.exec(cookie)?.[1] ?? '');
  const flags = attributes
    .map((attribute) => attribute.toLowerCase())
    .filter((attribute) => !/^(expires|max-age)=/.test(attribute));
  return { name: pair.split('=')[0], flags: flags.toSorted(), days: Math.round((expires - Date.now()) / DAY_MS) };
}

describe('the cookies of a sign-in', () => {
  test('are out of reach for scripts and other sites', async ({ api }) => {
    expect((await signInCookies(api)).map(partsOf)).toEqual([
      { name: 'roster_session_3000', flags: ['httponly', 'path=/', 'samesite=lax'], days: 30 },
      { name: 'roster_device_3000', flags: ['httponly', 'path=/', 'samesite=lax'], days: 365 },
    ]);
  });

  test('last as long as an application can prolong the session', async () => {
    const api = await aService({});
    const client = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
    await api.rows('update oauth_client set session_days = 90 where id = $1', [client.id]);
    expect((await signInCookies(api)).map(partsOf)).toMatchObject([
      { name: 'roster_session_3000', days: 90 },
      { name: 'roster_device_3000' },
    ]);
    const ends = await api.rows<{ days: number }>(
      'select round(extract(epoch from expires_at - created_at) / 86400)::int as days from session',
    );
    expect(ends).toEqual([{ days: 30 }]);
  });

  test('behind https are bound to their host and never sent in the clear', async () => {
    const api = await aService({ BASE_URL: 'https://roster.example' });

    expect((await signInCookies(api)).map(partsOf)).toEqual([
      { name: '__Host-roster_session', flags: ['httponly', 'path=/', 'samesite=lax', 'secure'], days: 30 },
      { name: '__Host-roster_device', flags: ['httponly', 'path=/', 'samesite=lax', 'secure'], days: 365 },
    ]);
  });

  // Guarantees that another host or a plain http page cannot plant a session behind https.
  test('behind https count only under their own names', async () => {
    const api = await startApi({ BASE_URL: 'https://roster.example' });
    try {
      const { visitor } = await aSignedIn(api);
      const token = visitor.cookies.get('__Host-roster_session') ?? '';
      const get = (cookie: string) =>
        api.anonymous.send({
          method: 'GET',
          path: '/trpc/getMe',
          headers: { cookie, 'sec-fetch-site': 'same-origin' },
        });

      expect((await get(`__Host-roster_session=${token}`)).status).toBe(200);
      expect((await get(`roster_session=${token}`)).status).toBe(401);
    } finally {
      await api.close();
    }
  });

  test('are no credential of the API', async ({ api }) => {
    const { visitor } = await aSignedIn(api);
    const token = visitor.cookies.get('roster_session_3000') ?? '';
    const send = (headers: Record<string, string>) =>
      api.anonymous.send({ method: 'GET', path: '/api/v1/me', headers });

    expect(
      await send({
        cookie: `roster_session_3000=${token}`,
        origin: 'http://localhost:3000',
        'sec-fetch-site': 'same-origin',
      }),
    ).toBeProblem('credential_missing');
    expect(await send({ authorization: `Bearer ${token}` })).toBeProblem('credential_invalid');
  });
});

describe('the names of all cookies', () => {
  // Browsers send the cookies of a host to all of its ports.
  test.for([
    ['http://localhost:3000', '', '_3000'],
    ['http://localhost', '', ''],
    ['https://roster.example:8443', '__Host-', '_8443'],
    ['https://roster.example', '__Host-', ''],
  ] as const)('at %s have its port', async ([BASE_URL, prefix, port]) => {
    const api = await aService({ BASE_URL, SIGNUP: 'open' });
    const { email } = await aPerson(api);
    const visitor = api.visitor();
    const client = await api.anOAuthClient();
    const session = `${prefix}roster_session${port}`;

    await signIn(visitor, email);
    await askConsent(api, visitor, goodRequest(client, aProofKey().challenge, ['teams:read']));
    const all = [
      session,
      `${prefix}roster_device${port}`,
      `${prefix}roster_browser${port}`,
      `roster_resume${port}`,
      `roster_resume${port}.sig`,
    ];
    expect([...visitor.cookies.keys()]).toEqual(all);

    await visitor.trpc.auth.signOut.mutate();
    expect([...visitor.cookies.keys()]).toEqual(all.slice(1));
    await visitor.trpc.auth.signUp.mutate({ email: 'ada@example.com', password: PASSWORD });
    expect(new Set(visitor.cookies.keys())).toEqual(new Set(all));
  });

  test('keep the sessions and authorizations of two instances on one host apart', async ({ api }) => {
    const other = await aService({ BASE_URL: 'http://localhost:3001' });
    const jar = new Map<string, string>();
    /** Does something at an instance, in the browser that visits both. */
    async function at<Result>(instance: Api, work: (visitor: Visitor) => Promise<Result>): Promise<Result> {
      const visitor = instance.visitor();
      for (const [name, value] of jar) visitor.cookies.set(name, value);
      const result = await work(visitor);
      jar.clear();
      for (const [name, value] of visitor.cookies) jar.set(name, value);
      return result;
    }
    const instances = await Promise.all(
      [api, other].map(async (instance) => ({
        instance,
        account: await aPerson(instance),
        client: await instance.anOAuthClient(),
        key: aProofKey(),
      })),
    );

    const ids: string[] = [];
    for (const { instance, account } of instances) await at(instance, (visitor) => signIn(visitor, account.email));
    for (const { instance, client, key } of instances) {
      const request = goodRequest(client, key.challenge, ['teams:read']);
      ids.push(await at(instance, (visitor) => askConsent(instance, visitor, request)));
    }
    for (const [index, { instance, account, client, key }] of instances.entries()) {
      const answer = await at(instance, async (visitor) => {
        const approval = { id: ids[index] ?? '', accountId: account.id, teamId: null, scopes: ['teams:read' as const] };
        const { redirectTo } = await visitor.trpc.authorizations.approve.mutate(approval);
        return browse(instance, visitor)(new URL(redirectTo).pathname);
      });
      const code = new URL(answer.headers.location ?? '').searchParams.get('code') ?? '';
      expect((await exchange(instance, { client, code, verifier: key.verifier })).status).toBe(200);
    }
    await at(other, (visitor) => visitor.trpc.auth.signOut.mutate());
    expect(await at(api, (visitor) => visitor.trpc.getMe.query())).toMatchObject({ id: instances[0]?.account.id });
  });
});

describe('cookies of the time when names had no port', () => {
  const withFormerNames = ({ cookies }: Visitor): void => {
    for (const [name, value] of new Map(cookies)) {
      cookies.delete(name);
      cookies.set(name.replace('_3000', ''), value);
    }
  };

  test('keep their session and browser, get the present names, and stay', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api);
    const before = new Map(visitor.cookies);
    withFormerNames(visitor);
    const former = new Map(visitor.cookies);

    expect((await visitor.trpc.getMe.query()).id).toBe(id);
    expect(new Map(visitor.cookies)).toEqual(new Map([...former, ...before]));

    await visitor.trpc.auth.signOut.mutate();
    expect(visitor.cookies.get('roster_session')).toBe(former.get('roster_session'));
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('credential_missing');
    expect(visitor.cookies.get('roster_session_3000') ?? '').toBe('');
  });

  test('are not used after a sign-out, if they are of another session', async ({ api }) => {
    const one = await aSignedIn(api);
    const other = await aSignedIn(api);
    one.visitor.cookies.set('roster_session', other.visitor.cookies.get('roster_session_3000') ?? '');

    await one.visitor.trpc.auth.signOut.mutate();

    expect(await codeOf(one.visitor.trpc.getMe.query())).toBe('credential_missing');
    expect((await other.visitor.trpc.getMe.query()).id).toBe(other.id);
    await signIn(one.visitor, other.email);
    expect((await one.visitor.trpc.getMe.query()).id).toBe(other.id);
  });

  test('are nothing beside the present ones, nor if they are of another instance', async ({ api }) => {
    const one = await aSignedIn(api);
    const other = await aSignedIn(api);
    one.visitor.cookies.set('roster_session', other.visitor.cookies.get('roster_session_3000') ?? '');
    expect((await one.visitor.trpc.getMe.query()).id).toBe(one.id);

    const visitor = api.visitor();
    visitor.cookies.set('roster_session', api.services.tokens.generate('session').secret);
    visitor.cookies.set('roster_device', 'of-another-instance');
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect([...visitor.cookies.keys()]).toEqual(['roster_session', 'roster_device']);
  });

  test('continue an authorization request', async ({ api }) => {
    const { id: accountId, visitor } = await aSignedIn(api);
    const [client, { verifier, challenge }] = [await api.anOAuthClient(), aProofKey()];
    const id = await askConsent(api, visitor, goodRequest(client, challenge, ['teams:read']));
    withFormerNames(visitor);
    const [key] = api.services.encryption.keysFor('oauth-cookies');
    if (key === undefined) throw new Error('There is no key.');
    const signature = createHmac('sha1', key).update(`roster_resume=${id}`).digest('base64url');
    visitor.cookies.set('roster_resume.sig', signature);

    const approval = { id, accountId, teamId: null, scopes: ['teams:read' as const] };
    const { redirectTo } = await visitor.trpc.authorizations.approve.mutate(approval);
    const answer = await browse(api, visitor)(new URL(redirectTo).pathname);

    const code = new URL(answer.headers.location ?? '').searchParams.get('code') ?? '';
    expect((await exchange(api, { client, code, verifier })).status).toBe(200);
    expect(visitor.cookies.get('roster_resume')).toBe(id);
  });

  test('keep the session of an application that needs no page', async ({ api }) => {
    const client = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
    const { visitor } = await aSignedIn(api);
    const token = visitor.cookies.get('roster_session_3000');
    withFormerNames(visitor);

    await browse(
      api,
      visitor,
    )(`/oauth/authorize?${new URLSearchParams(goodRequest(client, aProofKey().challenge, ['teams:read'])).toString()}`);
    expect(visitor.cookies.get('roster_session_3000')).toBe(token);
  });
});

test('a sign-in at another address than BASE_URL is told to open that one', async ({ api }) => {
  const at = `http://192.0.2.7:${api.port}`;
  const answer = await call(
    api,
    'auth.signIn',
    JSON.stringify({ email: 'ada@example.com', password: 'a password 42' }),
    {
      host: new URL(at).host,
      origin: at,
      'sec-fetch-site': undefined,
    },
  );

  expect(answer.body.error.data.problem).toMatchObject({
    code: 'cross_site_request',
    detail: `Open http://localhost:3000 instead of ${at}, or set BASE_URL to the address that browsers use.`,
  });
});

describe('a change that another site makes the browser send', () => {
  const form = 'multipart/form-data; boundary=x';
  const formBody = '--x\r\nContent-Disposition: form-data; name="firstName"\r\n\r\nMallory\r\n--x--\r\n';
  const json = JSON.stringify({ firstName: 'Mallory', lastName: 'Mallory' });

  test.for([
    [
      'with a foreign origin',
      { origin: 'https://evil.example', 'sec-fetch-site': undefined },
      json,
      'cross_site_request',
    ],
    [
      'with an origin that only begins like ours',
      { origin: 'http://localhost:3000.evil.example', 'sec-fetch-site': undefined },
      json,
      'cross_site_request',
    ],
    ['from a sandboxed page', { origin: 'null', 'sec-fetch-site': undefined }, json, 'cross_site_request'],
    ['without an origin', { origin: undefined, 'sec-fetch-site': undefined }, json, 'cross_site_request'],
    ['that the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }, json, 'cross_site_request'],
    ['that the browser calls same-site', { 'sec-fetch-site': 'same-site' }, json, 'cross_site_request'],
    ['as plain text', { 'content-type': 'text/plain' }, json, 'unsupported_media_type'],
    ['as a form', { 'content-type': form }, formBody, 'unsupported_media_type'],
    [
      'as an encoded form',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'firstName=Mallory',
      'unsupported_media_type',
    ],
    ['as bytes', { 'content-type': 'application/octet-stream' }, json, 'unsupported_media_type'],
    ['without a type', { 'content-type': undefined }, json, 'unsupported_media_type'],
  ] as const)('%s is refused and changes nothing', async ([, headers, body, code], { api }) => {
    const { id, visitor } = await aSignedIn(api);
    const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ');
    const before = await api.rows('select * from account where id = $1', [id]);

    for (const [path, sent] of [
      ['updateMe', body],
      ['account.delete', '{}'],
      ['auth.signOut', '{}'],
    ] as const) {
      const answer = await call(api, path, sent, { ...headers, cookie });
      expect(answer.body.error.data.problem.code).toBe(code);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }

    expect(await api.rows('select * from account where id = $1', [id])).toEqual(before);
    expect((await visitor.trpc.getMe.query()).id).toBe(id);
  });

  // Guarantees that a user is not signed in to an attacker's account without noticing.
  test('cannot sign in a browser, nor sign it up', async ({ api }) => {
    const { email } = await aPerson(api);
    for (const path of ['auth.signIn', 'auth.signUp']) {
      const answer = await call(api, path, JSON.stringify({ email, password: PASSWORD }), {
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
      });
      expect(answer.body.error.data.problem.code).toBe('cross_site_request');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('is not sent as a GET either: those change nothing', async ({ api }) => {
    const { visitor } = await aSignedIn(api);
    const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await api.anonymous.send({
      method: 'GET',
      path: '/trpc/auth.signOut',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });

    expect(answer.status).toBe(405);
    expect(await visitor.trpc.listMySessions.query()).toHaveLength(1);
  });
});
