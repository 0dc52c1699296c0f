import pg from 'pg';
import { describe, expect } from 'vitest';
import { findClient, findClientBySecret } from '../../src/resources/oauth-clients/registered-client.ts';
import { newId } from '../../src/entities/index.ts';
import { startApi, test, testWith, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, outcomeOf, tally, withKey } from './console.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Instances that are not in development, as that of `test` is. */
const SERVING_OTHERS = {
  'with a BASE_URL of https': testWith(() => startApi({ BASE_URL: 'https://auth.example' })),
  'with an SMTP_URL': testWith(() => startApi({ SMTP_URL: 'smtp://127.0.0.1:9' })),
};

const LOOPBACK = [
  'http://127.0.0.1',
  'http://127.0.0.1:8080/callback',
  'http://[::1]/callback',
  'http://[::1]:5000',
  'http://localhost:5173/callback',
];

/** The refusal of a loopback address, which says what to do. */
const DEVELOPMENT_ADVISED = {
  code: 'validation_failed',
  detail: expect.stringMatching(/must use https\..*the operator creates one with `--development` or `isDevelopment`/),
  errors: [{ in: 'body', pointer: '/redirectUris/0', code: 'invalid_value' }],
};

const WEB = {
  name: 'Reports',
  redirectUris: ['https://reports.example/callback'],
  isNative: false,
  isConfidential: true,
};
const NATIVE = { ...WEB, redirectUris: ['http://127.0.0.1/callback'], isNative: true, isConfidential: false };

/** A developer who is signed in, as `api.oauthClients`. */
async function aDeveloper(api: Api) {
  const account = await api.anAccount();
  return { account, clients: (await as(api, account)).oauthClients };
}

async function aConfidentialClient(api: Api) {
  const developer = await aDeveloper(api);
  const { client, clientSecret } = await developer.clients.create.mutate(WEB);
  return { ...developer, clientId: client.id, secret: clientSecret ?? '' };
}

/** Returns all clients, secrets, grants and keys, without the last use, which is written in the background. */
const stateOf = (api: Api) =>
  api.rows(
    `select (select jsonb_agg(to_jsonb(c) order by c.id) from oauth_client c) as clients,
       (select jsonb_agg(to_jsonb(s) order by s.secret_hash) from oauth_client_secret s) as secrets,
       (select jsonb_agg(to_jsonb(g) - 'last_used_at' order by g.id) from oauth_grant g) as grants,
       (select jsonb_agg(to_jsonb(k) - 'last_used_at' order by k.id) from api_key k) as keys`,
  );

const auditOf = (api: Api, clientId: string) =>
  api.lines
    .filter((line) => line['clientId'] === clientId)
    .map(({ audit, accountId, grantId, teamId, reason }) => ({ audit, accountId, grantId, teamId, reason }));

/** What was recorded of changes of a client. */
const eventsAbout = (api: Api, clientId: string) =>
  api.rows<{ event: string; account_id: string; details: object }>(
    `select event, account_id, details from audit_event where client_id = $1 and event = 'oauth_client.updated' order by id`,
    [clientId],
  );

/** The rows there are, whether they are valid or not. */
const secretsOf = (api: Api, clientId: string) =>
  api.rows(
    'select expires_at is null as is_current from oauth_client_secret where client_id = $1 order by is_current',
    [clientId],
  );

const isValid = (api: Api, clientId: string, secret: string) =>
  findClientBySecret(api.services.db, clientId, secret).then((client) => client !== undefined);

/** Changes of one account that hold a connection at the same time; more wait in the service. */
const CONCURRENT_PER_ACCOUNT = 2;

/** Holds a row back until each of the calls, started one after the other, waits for some row or for its turn. */
async function heldUp(api: Api, sql: string, id: string, calls: readonly (() => Promise<unknown>)[]) {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const holder = new pg.Client({ connectionString: api.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(sql, [id]);
    const started: Promise<string>[] = [];
    for (const call of calls) {
      started.push(outcomeOf(call()));
      await expect
        .poll(async () => (await api.rows(waiting)).length, { interval: 5 })
        .toBeGreaterThanOrEqual(Math.min(started.length, CONCURRENT_PER_ACCOUNT));
    }
    await holder.query('commit');
    return await Promise.all(started);
  } finally {
    await holder.end();
  }
}

describe('an account whose address is not verified', () => {
  test('makes no client', async ({ api }) => {
    const { account, clients } = await aDeveloper(api);
    await api.rows('update account set email_verified_at = null where id = $1', [account.id]);

    expect(await problemOf(clients.create.mutate(WEB))).toMatchObject({ code: 'email_not_verified' });
  });
});

describe('oauthClients.create', () => {
  test('a confidential client gets a secret, of which only the hash and its end are kept', async ({ api }) => {
    const { account, clients } = await aDeveloper(api);

    const { client, clientSecret } = await clients.create.mutate(WEB);

    expect(clientSecret).toMatch(/^rst_cs_[0-9A-Za-z]{49}$/);
    expect(client).toEqual({
      id: expect.stringMatching(/^client_[0-9a-v]{26}$/),
      ...WEB,
      createdAt: expect.any(String),
      secrets: [{ last4: clientSecret?.slice(-4), createdAt: expect.any(String), expiresAt: null }],
    });
    expect(await clients.list.query()).toEqual([client]);
    expect(await isValid(api, client.id, clientSecret ?? '')).toBe(true);
    expect(JSON.stringify(await stateOf(api))).not.toContain(clientSecret);
    expect(await findClient(api.services.db, client.id)).toEqual({
      id: client.id,
      source: 'account',
      isFirstParty: false,
      isDevelopment: false,
      openidScopes: null,
      ...WEB,
      metadata: {},
    });
    expect(auditOf(api, client.id)).toMatchObject([{ audit: 'oauth_client.created', accountId: account.id }]);
  });

  test('a public client gets none, native or not', async ({ api }) => {
    const { clients } = await aDeveloper(api);

    const web = await clients.create.mutate({ ...WEB, isConfidential: false });
    const native = await clients.create.mutate(NATIVE);

    expect(web).toMatchObject({ clientSecret: null, client: { isNative: false, isConfidential: false, secrets: [] } });
    expect(native).toMatchObject({ clientSecret: null, client: { ...NATIVE, secrets: [] } });
    expect(await clients.list.query()).toEqual([web.client, native.client]);
  });

  test('a native client cannot be confidential', async ({ api }) => {
    const { clients } = await aDeveloper(api);

    expect(await problemOf(clients.create.mutate({ ...NATIVE, isConfidential: true }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/isConfidential', code: 'invalid_value' }],
    });
    expect(await clients.list.query()).toEqual([]);
  });

  // Guarantees that clients made at the same moment are counted one after the other.
  test('an account has at most 50, also with concurrent calls; those of others do not count', async ({ api }) => {
    const { account, clients } = await aDeveloper(api);
    const other = await aDeveloper(api);
    for (let i = 0; i < 48; i++) await api.anOAuthClient({ owner: account });
    await api.anOAuthClient();
    await api.anOAuthClient({ owner: other.account });

    expect(await tally(Array.from({ length: 4 }, () => clients.create.mutate(NATIVE)))).toEqual({
      done: 2,
      client_limit_reached: 2,
    });
    expect(await clients.list.query()).toHaveLength(50);
    expect(await outcomeOf(other.clients.create.mutate(NATIVE))).toBe('done');
  });

  test.for([
    [{ name: '' }, '/name', 'min_length'],
    [{ name: 'x'.repeat(101) }, '/name', 'max_length'],
    [{ name: 'Reports\u202egpj.exe' }, '/name', 'invalid_format'],
    [{ name: 'Reports\u2066' }, '/name', 'invalid_format'],
    [{ name: 'Re\nports' }, '/name', 'invalid_format'],
    [{ name: 'Re\u2028ports' }, '/name', 'invalid_format'],
    [{ name: 'Re\u0085ports' }, '/name', 'invalid_format'],
    [{ name: ' \u200b\u00a0' }, '/name', 'invalid_format'],
    [{ name: 'a\u0000' }, '/name', 'invalid_format'],
    [{ name: '\ud800' }, '/name', 'invalid_format'],
    [{ name: undefined }, '/name', 'required'],
    [{ redirectUris: [] }, '/redirectUris', 'min_length'],
    [
      { redirectUris: Array.from({ length: 21 }, (_, i) => `https://client.example/${i}`) },
      '/redirectUris',
      'max_length',
    ],
    [{ redirectUris: null }, '/redirectUris', 'invalid_type'],
    [{ redirectUris: [1] }, '/redirectUris/0', 'invalid_type'],
    [{ isNative: 'false' }, '/isNative', 'invalid_type'],
    [{ isConfidential: undefined }, '/isConfidential', 'required'],
  ] as const)('refuses %j', async ([change, pointer, code], { api }) => {
    const { clients } = await aDeveloper(api);
    // What the types of the client would not allow.
    const input = { ...WEB, ...change } as unknown as Parameters<typeof clients.create.mutate>[0];

    const { code: problem, errors } = await problemOf(clients.create.mutate(input));

    expect({ problem, errors }).toMatchObject({ problem: 'validation_failed', errors: [{ pointer, code }] });
    expect(errors).toHaveLength(1);
    expect(await clients.list.query()).toEqual([]);
  });

  test.for(['🏔'.repeat(100), 'تقارير', '報告', 'Zoë’s app', '👩‍💻'])('takes the name %s', async (name, { api }) => {
    const { clients } = await aDeveloper(api);

    expect((await clients.create.mutate({ ...WEB, name })).client.name).toBe(name);
  });
});

describe('redirect URIs', () => {
  test.for([
    'https://client.example',
    'https://client.example/callback?tenant=1&x=%2F',
    'https://client.example:8443/a/../b',
    'HTTPS://Client.Example/Callback',
    `https://client.example/${'x'.repeat(1977)}`,
  ])('%s is one for every client, kept as it is', async (uri, { api }) => {
    const { clients } = await aDeveloper(api);

    for (const kind of [WEB, NATIVE]) {
      const { client } = await clients.create.mutate({ ...kind, redirectUris: [uri] });
      expect(client.redirectUris).toEqual([uri]);
    }
  });

  test.for(LOOPBACK)('%s is one for every client in development', async (uri, { api }) => {
    const { clients } = await aDeveloper(api);

    for (const kind of [WEB, { ...WEB, isConfidential: false }, NATIVE]) {
      const { client } = await clients.create.mutate({ ...kind, redirectUris: [uri] });
      expect(client.redirectUris).toEqual([uri]);
    }
  });

  // Applications on devices need none, and any port of the loopback address is theirs.
  test.for(['http://app.localhost/', 'http://app.eu.localhost:5173/callback'])(
    '%s is one in development, but for native clients',
    async (uri, { api }) => {
      const { clients } = await aDeveloper(api);
      for (const isConfidential of [true, false]) {
        const { client } = await clients.create.mutate({ ...WEB, isConfidential, redirectUris: [uri] });
        expect(client.redirectUris).toEqual([uri]);
      }
      expect(await problemOf(clients.create.mutate({ ...NATIVE, redirectUris: [uri] }))).toMatchObject({
        errors: [{ in: 'body', pointer: '/redirectUris/0', code: 'invalid_value' }],
      });
    },
  );

  for (const [instance, served] of Object.entries(SERVING_OTHERS))
    served.for(LOOPBACK)(`%s is one for native clients alone ${instance}`, async (uri, { api }) => {
      const { clients } = await aDeveloper(api);

      const { client } = await clients.create.mutate({ ...NATIVE, redirectUris: [uri] });
      expect(client.redirectUris).toEqual([uri]);
      for (const isConfidential of [true, false])
        expect(await problemOf(clients.create.mutate({ ...WEB, isConfidential, redirectUris: [uri] }))).toMatchObject(
          DEVELOPMENT_ADVISED,
        );
    });

  test.for(['com.example.app:/callback', 'com.example.app://callback'])(
    '%s is one for native clients alone',
    async (uri, { api }) => {
      const { clients } = await aDeveloper(api);

      const { client } = await clients.create.mutate({ ...NATIVE, redirectUris: [uri] });
      expect(client.redirectUris).toEqual([uri]);
      expect(await problemOf(clients.create.mutate({ ...WEB, redirectUris: [uri] }))).toMatchObject({
        code: 'validation_failed',
        errors: [{ in: 'body', pointer: '/redirectUris/0', code: 'invalid_value' }],
      });
    },
  );

  test.for([
    ['', 'invalid_format'],
    ['/callback', 'invalid_format'],
    ['//client.example/callback', 'invalid_format'],
    ['client.example/callback', 'invalid_format'],
    ['https://', 'invalid_format'],
    ['https://client.example:99999/', 'invalid_format'],
    ['https://client.example/a b', 'invalid_format'],
    [' https://client.example/', 'invalid_format'],
    ['https://client.example/\n', 'invalid_format'],
    ['https:\\\\client.example\\', 'invalid_format'],
    ['https://cliént.example/', 'invalid_format'],
    ['https://client.example/%zz', 'invalid_format'],
    ['https://client.example/\u0000', 'invalid_format'],
    ['https:client.example', 'invalid_value'],
    ['https:///client.example', 'invalid_value'],
    ['https://client.example/#', 'invalid_value'],
    ['https://client.example/#token', 'invalid_value'],
    ['https://user@client.example/', 'invalid_value'],
    ['https://user:password@client.example/', 'invalid_value'],
    ['https://@client.example/', 'invalid_value'],
    ['http://client.example/', 'invalid_value'],
    ['http://app.localhost.client.example/', 'invalid_value'],
    ['http://localhost.client.example/', 'invalid_value'],
    ['http://127.0.0.1.client.example/', 'invalid_value'],
    ['http://127.0.0.2/', 'invalid_value'],
    ['http://127.1/', 'invalid_value'],
    ['http://2130706433/', 'invalid_value'],
    ['http://[::ffff:127.0.0.1]/', 'invalid_value'],
    ['http://[0:0:0:0:0:0:0:1]/', 'invalid_value'],
    ['http:127.0.0.1', 'invalid_value'],
    ['http://0.0.0.0/', 'invalid_value'],
    ['http://127.0.0.1@client.example/', 'invalid_value'],
    ['http://127.0.0.1/#', 'invalid_value'],
    ['com.example.app://user@callback', 'invalid_value'],
    ['com.example.app:/#a', 'invalid_value'],
    ['myapp:/callback', 'invalid_value'],
    ['javascript:alert(1)', 'invalid_value'],
    ['JavaScript://client.example/%0Aalert(1)', 'invalid_value'],
    ['data:text/html,x', 'invalid_value'],
    ['vbscript:x', 'invalid_value'],
    ['blob:https://client.example/x', 'invalid_value'],
    ['file:///etc/passwd', 'invalid_value'],
    ['about:blank', 'invalid_value'],
    ['urn:ietf:wg:oauth:2.0:oob', 'invalid_value'],
    ['ftp://client.example/', 'invalid_value'],
    [`https://client.example/${'x'.repeat(1978)}`, 'max_length'],
  ] as const)('%s is none for any client', async ([uri, code], { api }) => {
    const { clients } = await aDeveloper(api);

    for (const kind of [WEB, NATIVE]) {
      const redirectUris = [kind.redirectUris[0] ?? '', uri];
      expect(await problemOf(clients.create.mutate({ ...kind, redirectUris }))).toMatchObject({
        code: 'validation_failed',
        errors: [{ in: 'body', pointer: '/redirectUris/1', code }],
      });
    }
    expect(await clients.list.query()).toEqual([]);
  });

  test.for(['https://localhost/', 'https://127.0.0.1/', 'https://[::1]:8443/'])(
    '%s is none for a native client',
    async (uri, { api }) => {
      const { clients } = await aDeveloper(api);

      expect(await problemOf(clients.create.mutate({ ...NATIVE, redirectUris: [uri] }))).toMatchObject({
        errors: [{ pointer: '/redirectUris/0', code: 'invalid_value' }],
      });
    },
  );

  test('each fault has its entry, and what is there twice is one', async ({ api }) => {
    const { clients } = await aDeveloper(api);
    const redirectUris = ['https://a.example/', 'nowhere', 'https://a.example/', 'https://A.example/'];

    const { errors } = await problemOf(clients.create.mutate({ ...WEB, redirectUris }));

    expect(errors).toMatchObject([
      { pointer: '/redirectUris/1', code: 'invalid_format' },
      { pointer: '/redirectUris/2', code: 'invalid_value' },
    ]);
    expect(errors).toHaveLength(2);
  });
});

describe('oauthClients.update', () => {
  test('changes what is given; grants stay', async ({ api }) => {
    const { account, clients, clientId } = await aConfidentialClient(api);
    const [before] = await clients.list.query();
    const grant = await api.aGrant(await api.anAccount(), { client: { id: clientId } });

    const renamed = await clients.update.mutate({ clientId, name: 'Reports 2' });
    expect(renamed).toEqual({ ...before, name: 'Reports 2' });

    const redirectUris = ['https://reports.example/2', 'https://reports.example/3'];
    const moved = await clients.update.mutate({ clientId, redirectUris });
    expect(moved).toEqual({ ...renamed, redirectUris });
    expect(await clients.update.mutate({ clientId })).toEqual(moved);
    expect(await clients.list.query()).toEqual([moved]);
    expect(await outcomeOf(withKey(api, grant).listTeams.query())).toBe('done');
    const updated = { event: 'oauth_client.updated', account_id: account.id };
    expect(await eventsAbout(api, clientId)).toEqual([
      { ...updated, details: { changed: ['name'] } },
      { ...updated, details: { changed: ['redirectUris'], redirectUrisBefore: WEB.redirectUris, redirectUris } },
    ]);
  });

  test('records nothing where nothing changed, and all of many long URIs, cut', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);
    const long = (path: string) =>
      Array.from({ length: 20 }, (_, i) => `https://reports.example/${i}/${path.repeat(1900)}`);

    await clients.update.mutate({ clientId, name: WEB.name, redirectUris: WEB.redirectUris });
    expect(await eventsAbout(api, clientId)).toEqual([]);
    await clients.update.mutate({ clientId, redirectUris: long('a') });
    await clients.update.mutate({ clientId, redirectUris: long('b') });

    const [, last] = await eventsAbout(api, clientId);
    const cut = (path: string) => long(path).map((uri) => `${uri.slice(0, 36)}…`);
    expect(last?.details).toEqual({
      changed: ['redirectUris'],
      redirectUrisBefore: cut('a'),
      redirectUris: cut('b'),
    });
  });

  test('looks at the URIs as at those of a new client of its kind', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);
    const native = (await clients.create.mutate(NATIVE)).client;
    const scheme = { redirectUris: ['com.example.app:/callback'] };
    const before = await stateOf(api);

    expect(await problemOf(clients.update.mutate({ clientId, name: 'New', ...scheme }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/redirectUris/0', code: 'invalid_value' }],
    });
    expect(await problemOf(clients.update.mutate({ clientId, name: 'a\u202eb' }))).toMatchObject({
      errors: [{ pointer: '/name', code: 'invalid_format' }],
    });
    expect(await stateOf(api)).toEqual(before);
    expect(await clients.update.mutate({ clientId: native.id, ...scheme })).toMatchObject(scheme);
  });

  test('takes loopback addresses in development', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);

    expect(await clients.update.mutate({ clientId, redirectUris: LOOPBACK })).toMatchObject({ redirectUris: LOOPBACK });
  });

  for (const [instance, served] of Object.entries(SERVING_OTHERS))
    served(`takes loopback addresses for native clients alone ${instance}`, async ({ api }) => {
      const { clients, clientId } = await aConfidentialClient(api);
      const native = (await clients.create.mutate(NATIVE)).client;
      const loopback = { redirectUris: ['http://127.0.0.1:1/'] };
      const before = await stateOf(api);

      const refused = await problemOf(clients.update.mutate({ clientId, name: 'New', ...loopback }));
      expect(refused).toMatchObject(DEVELOPMENT_ADVISED);
      expect(await stateOf(api)).toEqual(before);
      expect(await clients.update.mutate({ clientId: native.id, ...loopback })).toMatchObject(loopback);
    });
});

describe('oauthClients.rotateSecret', () => {
  test('the old secret works for the hours that are given, beside the new one', async ({ api }) => {
    const { account, clients, clientId, secret } = await aConfidentialClient(api);

    const rotated = await clients.rotateSecret.mutate({ clientId, overlapHours: 168 });

    expect(rotated.clientSecret).toMatch(/^rst_cs_/);
    expect(rotated.client.secrets).toEqual([
      { last4: rotated.clientSecret.slice(-4), createdAt: expect.any(String), expiresAt: null },
      { last4: secret.slice(-4), createdAt: expect.any(String), expiresAt: expect.any(String) },
    ]);
    expect(Date.parse(rotated.client.secrets[1]?.expiresAt ?? '') - Date.now()).toBeCloseTo(168 * HOUR_MS, -5);
    expect(await Promise.all([secret, rotated.clientSecret].map((each) => isValid(api, clientId, each)))).toEqual([
      true,
      true,
    ]);
    expect(auditOf(api, clientId).at(-1)).toMatchObject({
      audit: 'oauth_client.secret_rotated',
      accountId: account.id,
    });

    await api.rows(
      `update oauth_client_secret set expires_at = now() - interval '1 ms' where client_id = $1 and expires_at is not null`,
      [clientId],
    );
    expect(await isValid(api, clientId, secret)).toBe(false);
    expect(await clients.list.query()).toMatchObject([{ secrets: [{ last4: rotated.clientSecret.slice(-4) }] }]);
  });

  test('without an overlap the old secret stops working immediately, and so does the older one', async ({ api }) => {
    const { clients, clientId, secret } = await aConfidentialClient(api);
    const second = await clients.rotateSecret.mutate({ clientId, overlapHours: 24 });

    const third = await clients.rotateSecret.mutate({ clientId, overlapHours: 0 });

    expect(third.client.secrets).toHaveLength(1);
    expect(await secretsOf(api, clientId)).toEqual([{ is_current: true }]);
    expect(await isValid(api, clientId, secret)).toBe(false);
    expect(await isValid(api, clientId, second.clientSecret)).toBe(false);
    expect(await isValid(api, clientId, third.clientSecret)).toBe(true);
  });

  test('during an overlap the oldest secret ends', async ({ api }) => {
    const { clients, clientId, secret } = await aConfidentialClient(api);
    const second = await clients.rotateSecret.mutate({ clientId, overlapHours: 24 });

    const third = await clients.rotateSecret.mutate({ clientId, overlapHours: 1 });

    expect(await isValid(api, clientId, secret)).toBe(false);
    expect(await isValid(api, clientId, second.clientSecret)).toBe(true);
    expect(third.client.secrets.map(({ last4 }) => last4)).toEqual(
      [third.clientSecret, second.clientSecret].map((each) => each.slice(-4)),
    );
    expect(Date.parse(third.client.secrets[1]?.expiresAt ?? '') - Date.now()).toBeCloseTo(HOUR_MS, -5);
  });

  // Guarantees that rotating at the same moment is rotating one after the other.
  test('of several concurrent rotations two secrets remain, one of them current', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);
    const rotate = () => clients.rotateSecret.mutate({ clientId, overlapHours: 1 });
    const row = 'select id from oauth_client where id = $1 for update';

    expect(await heldUp(api, row, clientId, [rotate, rotate, rotate])).toEqual(['done', 'done', 'done']);

    expect(await secretsOf(api, clientId)).toEqual([{ is_current: false }, { is_current: true }]);
  });

  test('a secret is valid for one client only', async ({ api }) => {
    const [one, other] = [await aConfidentialClient(api), await aConfidentialClient(api)];

    expect(await isValid(api, one.clientId, other.secret)).toBe(false);
    expect(await isValid(api, one.clientId, `${one.secret}x`)).toBe(false);
  });

  test('rejects a public client, and hours out of range', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);
    const { client } = await clients.create.mutate(NATIVE);
    const before = await stateOf(api);

    expect(await problemOf(clients.rotateSecret.mutate({ clientId: client.id, overlapHours: 1 }))).toMatchObject({
      code: 'validation_failed',
      detail: 'Public clients have no secret.',
      errors: [{ in: 'body', pointer: '/clientId', code: 'invalid_value' }],
    });
    for (const [overlapHours, code] of [
      [-1, 'min_value'],
      [169, 'max_value'],
      [1.5, 'invalid_type'],
    ] as const) {
      expect(await problemOf(clients.rotateSecret.mutate({ clientId, overlapHours }))).toMatchObject({
        errors: [{ pointer: '/overlapHours', code }],
      });
    }
    expect(await stateOf(api)).toEqual(before);
  });
});

describe('oauthClients.delete', () => {
  // Guarantees that nothing is left of what people allowed the client, and nothing else is touched.
  test('revokes its grants and tokens, and the keys created through them', async ({ api }) => {
    const { account, clients, clientId, secret } = await aConfidentialClient(api);
    const person = await api.anAccount();
    const team = await api.aTeam({ owner: person });
    const ended = await api.aGrant(person, { client: { id: clientId } });
    await api.rows('update oauth_grant set revoked_at = now() where id = $1', [ended.id]);
    const [personal, ofTeam, foreign] = [
      await api.aGrant(person, { client: { id: clientId } }),
      await api.aGrant(person, { client: { id: clientId }, team }),
      await api.aGrant(person, { client: await api.anOAuthClient({ owner: account }) }),
    ];
    const [through, own] = [await api.anApiKey(person), await api.anApiKey(person)];
    await api.rows('update api_key set oauth_grant_id = $1 where id = $2', [personal.id, through.id]);
    const outcomes = () =>
      Promise.all(
        [personal, ofTeam, through, foreign, own].map((each) => outcomeOf(withKey(api, each).listTeams.query())),
      );
    expect(await outcomes()).toEqual(['done', 'done', 'done', 'done', 'done']);

    expect(await clients.delete.mutate({ clientId })).toEqual({ success: true });

    const invalid = 'credential_invalid';
    expect(await outcomes()).toEqual([invalid, invalid, invalid, 'done', 'done']);
    expect(await clients.list.query()).toHaveLength(1);
    expect(await findClient(api.services.db, clientId)).toBeUndefined();
    expect(await isValid(api, clientId, secret)).toBe(false);
    expect(await outcomeOf(clients.delete.mutate({ clientId }))).toBe('client_not_found');
    const reason = 'client deleted';
    expect(auditOf(api, clientId).slice(1)).toEqual([
      { audit: 'oauth_grant.revoked', accountId: person.id, grantId: personal.id, teamId: null, reason },
      { audit: 'oauth_grant.revoked', accountId: person.id, grantId: ofTeam.id, teamId: team.id, reason },
      { audit: 'oauth_client.deleted', accountId: account.id },
    ]);
  });

  test('of two concurrent calls one finds no client', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);
    await api.aGrant(await api.anAccount(), { client: { id: clientId } });

    expect(await tally([clients.delete.mutate({ clientId }), clients.delete.mutate({ clientId })])).toEqual({
      done: 1,
      client_not_found: 1,
    });
    expect(auditOf(api, clientId).filter(({ audit }) => audit === 'oauth_grant.revoked')).toHaveLength(1);
  });

  // Guarantees that both lock the account first: either way round would have the two wait for each other.
  test('waits for the deletion of its account', async ({ api }) => {
    const { account, clients, clientId } = await aConfidentialClient(api);
    const grant = await api.aGrant(account, { client: { id: clientId } });
    const { account: ofAccount } = await as(api, account);

    const outcomes = await heldUp(api, 'select id from oauth_grant where id = $1 for update', grant.id, [
      () => ofAccount.delete.mutate(),
      () => clients.delete.mutate({ clientId }),
    ]);

    expect(outcomes).toEqual(['done', 'credential_invalid']);
    expect(await findClient(api.services.db, clientId)).toBeUndefined();
  });

  // Guarantees that the revocation of a grant is recorded once, with its actor.
  test('records no grant that was revoked concurrently', async ({ api }) => {
    const { clients, clientId } = await aConfidentialClient(api);
    const grant = await api.aGrant(await api.anAccount(), { client: { id: clientId } });

    const revoke = 'update oauth_grant set revoked_at = now() where id = $1';
    const outcomes = await heldUp(api, revoke, grant.id, [() => clients.delete.mutate({ clientId })]);

    expect(outcomes).toEqual(['done']);
    expect(auditOf(api, clientId).map(({ audit }) => audit)).toEqual(['oauth_client.created', 'oauth_client.deleted']);
  });
});

describe('clients of others', () => {
  // Guarantees that an id reveals nothing: those of the operator, of another account and unknown ones get the same error.
  test('do not exist for an account', async ({ api }) => {
    const { clients } = await aDeveloper(api);
    const other = await aConfidentialClient(api);
    const operators = await api.anOAuthClient({ confidential: true });
    const [registered] = await api.rows<{ id: string }>(
      `insert into oauth_client (id, source, name, redirect_uris, is_confidential, created_at)
       values ($1, 'registration', 'R', '{https://r.example/}', true, now()) returning id`,
      [newId('client')],
    );
    await api.aGrant(await api.anAccount(), { client: { id: other.clientId } });
    const before = await stateOf(api);
    const logged = api.lines.filter((line) => 'audit' in line).length;

    expect(await clients.list.query()).toEqual([]);
    for (const clientId of [other.clientId, operators.id, registered?.id ?? '', newId('client'), 'x']) {
      const outcomes = await Promise.all(
        [
          clients.update.mutate({ clientId, name: 'New' }),
          clients.update.mutate({ clientId, redirectUris: ['nowhere'] }),
          clients.rotateSecret.mutate({ clientId, overlapHours: 0 }),
          clients.delete.mutate({ clientId }),
        ].map(outcomeOf),
      );
      expect(outcomes).toEqual(Array.from({ length: 4 }, () => 'client_not_found'));
    }
    expect(await stateOf(api)).toEqual(before);
    expect(api.lines.filter((line) => 'audit' in line)).toHaveLength(logged);
  });

  test('no key, no grant and no signed-out caller can manage clients', async ({ api }) => {
    const { account } = await aConfidentialClient(api);
    const callers = [
      [withKey(api, await api.anApiKey(account)), 'session_required'],
      [withKey(api, await api.aGrant(account)), 'session_required'],
      [api.visitor().trpc, 'credential_missing'],
    ] as const;
    const before = await stateOf(api);
    const [{ id: clientId } = { id: '' }] = await (await as(api, account)).oauthClients.list.query();
    for (const [{ oauthClients }, expected] of callers) {
      const outcomes = await Promise.all(
        [
          oauthClients.list.query(),
          oauthClients.create.mutate(WEB),
          oauthClients.update.mutate({ clientId, name: 'New' }),
          oauthClients.rotateSecret.mutate({ clientId, overlapHours: 0 }),
          oauthClients.delete.mutate({ clientId }),
        ].map(outcomeOf),
      );
      expect(outcomes).toEqual(Array.from({ length: 5 }, () => expected));
    }
    expect(await stateOf(api)).toEqual(before);
  });
});

describe('what the OAuth engine finds', () => {
  test('is every client but those of metadata documents, and nothing for what is no id', async ({ api }) => {
    const { db } = api.services;
    const described = newId('client');
    const operators = await api.anOAuthClient({ name: 'Desk', redirectUri: 'http://127.0.0.1/', native: true });
    await api.rows(
      `insert into oauth_client (id, source, name, redirect_uris, created_at)
       values ('https://d.example/client.json', 'document', 'D', '{https://d.example/}', now()),
         ($1, 'document', 'E', '{https://e.example/}', now())`,
      [described],
    );

    expect(await findClient(db, operators.id)).toEqual({
      id: operators.id,
      source: 'operator',
      name: 'Desk',
      redirectUris: ['http://127.0.0.1/'],
      isNative: true,
      isConfidential: false,
      isFirstParty: false,
      isDevelopment: false,
      openidScopes: null,
      metadata: {},
    });
    for (const id of [
      'https://d.example/client.json',
      described,
      newId('client'),
      '',
      'client_\u0000',
      `${operators.id}\u0000`,
    ]) {
      expect(await findClient(db, id)).toBeUndefined();
      expect(await findClientBySecret(db, id, 'secret')).toBeUndefined();
    }
  });
});
