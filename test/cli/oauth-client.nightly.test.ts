import { describe, expect, test } from 'vitest';
import { findClientBySecret } from '../../src/resources/oauth-clients/registered-client.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { newId } from '../../src/entities/index.ts';
import { listAllClients } from '../../src/resources/oauth-clients/oauth-clients.queries.ts';
import type { Api } from '../support/api.ts';
import { aPermission } from '../trpc/product-permissions.ts';
import { anId, anInstant, rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();

const HOUR_MS = 60 * 60 * 1000;

type Created = { clientId: string; clientSecret?: string };

/** Runs a command that succeeds. @returns what it prints, and the events that it records */
async function changed<Document>(...args: readonly string[]) {
  const [{ last }] = (await roster.rows<{ last: string }>(`select coalesce(max(id), '') as last from audit_event`)) as [
    { last: string },
  ]; // an aggregate is one row
  const document = await roster.json<Document>('oauth-client', ...args);
  const events = await roster.rows<Record<string, unknown>>('select * from audit_event where id > $1 order by id', [
    last,
  ]);
  return { document, events };
}

// Not by the command: each of its runs takes a good part of a second.
async function aClient({
  accountId = null,
  confidential = false,
}: {
  accountId?: string | null;
  confidential?: boolean;
}) {
  const id = newId('client');
  await roster.rows(
    `insert into oauth_client (id, source, account_id, name, redirect_uris, is_native, is_confidential, created_at)
     values ($1, $2, $3, 'A client', '{https://client.example/}', $4, $5, now())`,
    [id, accountId === null ? 'operator' : 'account', accountId, !confidential, confidential],
  );
  if (!confidential) return { id, secret: '' };
  const { secret, hash, last4 } = createTokens('rst').generate('clientSecret');
  await roster.rows(
    'insert into oauth_client_secret (secret_hash, client_id, last4, created_at) values ($1, $2, $3, now())',
    [hash, id, last4],
  );
  return { id, secret };
}

const isValid = (clientId: string, secret = '') =>
  findClientBySecret(roster.db, clientId, secret).then((client) => client !== undefined);
const one = async (clientId: string) => (await listAllClients(roster.db)).find(({ id }) => id === clientId);

describe('oauth-client create', () => {
  test('prints the id and, for a confidential client, the secret that works', async () => {
    const { document, events } = await changed<Created>(
      'create',
      '--name',
      'Reports',
      '--redirect-uri',
      'https://reports.example/a',
      '--redirect-uri',
      'https://reports.example/b',
      '--confidential',
    );

    expect(document).toEqual({
      clientId: anId('client'),
      clientSecret: expect.stringMatching(/^rst_cs_[0-9A-Za-z]{49}$/),
    });
    expect(await isValid(document.clientId, document.clientSecret)).toBe(true);
    expect(await one(document.clientId)).toMatchObject({
      source: 'operator',
      name: 'Reports',
      redirectUris: ['https://reports.example/a', 'https://reports.example/b'],
      isNative: false,
      isConfidential: true,
    });
    expect(events).toMatchObject([
      { event: 'oauth_client.created', actor_kind: 'operator_cli', account_id: null, client_id: document.clientId },
    ]);
    expect(JSON.stringify(events)).not.toContain(document.clientSecret);
  });

  test('prints that the secret is shown only once', async () => {
    const args = ['create', '--name', 'Desk', '--redirect-uri', 'https://desk.example/', '--confidential'];

    expect((await roster.run('oauth-client', ...args)).stdout).toMatch(
      /^client_[0-9a-v]{26} {2}Desk\nrst_cs_[0-9A-Za-z]{49}\nThe secret is shown only once\.\n$/,
    );
  });

  test('a public client has no secret to print', async () => {
    const args = ['create', '--name', 'Desk', '--redirect-uri', 'http://127.0.0.1/', '--native'];

    const { document } = await changed<Created>(...args);

    expect(document).toEqual({ clientId: anId('client') });
    expect(await one(document.clientId)).toMatchObject({ isNative: true, isConfidential: false, secrets: [] });
  });

  test('rejects invalid options in one line that names the option', async () => {
    const before = await roster.rows('select id from oauth_client order by id');
    const refusal = (...args: string[]) => roster.refusal('oauth-client', 'create', ...args);
    const good = ['--redirect-uri', 'https://client.example/'];

    const lines = await Promise.all([
      refusal('--name', 'a\u202eb', ...good),
      refusal('--name', 'X', ...good, '--redirect-uri', 'http://example.com/', '--native'),
      refusal('--name', 'X', ...good, '--native', '--confidential'),
      refusal('--name', 'X', ...Array.from({ length: 21 }, (_, i) => `--redirect-uri=https://client.example/${i}`)),
    ]);

    expect(lines).toEqual([
      expect.stringMatching(/--name.*It must have 1 to 100 visible characters/),
      '--redirect-uri: The redirect URI http://example.com/ can use http only with 127.0.0.1, [::1] or localhost.',
      '--confidential: Native clients cannot have a secret.',
      expect.stringMatching(/--redirect-uri.*A client can have at most 20 redirect URIs\.$/),
    ]);
    expect(await roster.rows('select id from oauth_client order by id')).toEqual(before);
  });
});

describe('oauth-client create --first-party', () => {
  test('needs the scopes that it can have, and others have none', async () => {
    const given = ['create', '--name', 'Web', '--redirect-uri', 'https://web.example/cb', '--confidential'];
    const { document } = await changed<Created>(...given, '--first-party', '--scopes', 'teams:read,profile:read');
    expect(await one(document.clientId)).toMatchObject({ isFirstParty: true, scopes: ['profile:read', 'teams:read'] });
    for (const half of [['--first-party'], ['--scopes', 'teams:read']])
      expect((await roster.run('oauth-client', ...given, ...half)).stderr).toContain('belong together');
  });
});

async function aFirstParty() {
  const { id } = await aClient({ confidential: true });
  await roster.rows(`update oauth_client set is_first_party = true, scopes = '{teams:read}' where id = $1`, [id]);
  return id;
}

describe('oauth-client set-logout', () => {
  test('sets both addresses, and removes what it does not name', async () => {
    const id = await aFirstParty();
    const settings = {
      postLogoutRedirectUris: ['https://app.example/out', 'https://app.example/bye'],
      backchannelLogoutUri: 'https://app.example/logout?x=1',
    };
    const given = settings.postLogoutRedirectUris.flatMap((uri) => ['--post-logout-redirect-uri', uri]);
    const uri = ['--backchannel-logout-uri', settings.backchannelLogoutUri];
    const { document, events } = await changed('set-logout', '--client', id, ...given, ...uri);
    expect(document).toEqual({ clientId: id, ...settings });
    expect(await one(id)).toMatchObject(settings);
    expect(events).toMatchObject([{ event: 'oauth_client.updated', client_id: id }]);

    expect((await changed('set-logout', '--client', id, ...given, ...uri)).events).toEqual([]);
    await changed('set-logout', '--client', id);
    expect(await one(id)).toMatchObject({ postLogoutRedirectUris: [], backchannelLogoutUri: null });
  });

  test('rejects addresses to which nothing can be sent', async () => {
    const id = await aFirstParty();
    const { id: other } = await aClient({ confidential: true });
    const refusal = (...args: string[]) => roster.refusal('oauth-client', 'set-logout', '--client', ...args);
    const twice = ['--post-logout-redirect-uri', 'https://app.example/'];
    expect(
      await Promise.all([
        refusal('client_none'),
        refusal(id, '--post-logout-redirect-uri', 'http://app.example/'),
        refusal(id, ...twice, ...twice),
        refusal(id, '--backchannel-logout-uri', 'http://app.example/'),
        refusal(id, '--backchannel-logout-uri', 'https://app.example/#part'),
        refusal(id, '--backchannel-logout-uri', 'https://10.0.0.1/'),
        refusal(other, '--backchannel-logout-uri', 'https://app.example/'),
      ]),
    ).toEqual([
      '--client: OAuth client not found.',
      '--post-logout-redirect-uri: It can use http only with 127.0.0.1, [::1] or localhost.',
      '--post-logout-redirect-uri: It is listed twice.',
      '--backchannel-logout-uri: Enter a URL that starts with https://.',
      '--backchannel-logout-uri: It must have no fragment.',
      '--backchannel-logout-uri: Use a public IP address or host name.',
      '--backchannel-logout-uri: Only first-party clients have tokens that end with a session.',
    ]);
    expect(await one(id)).toMatchObject({ postLogoutRedirectUris: [], backchannelLogoutUri: null });
  });
});

describe('oauth-client set-openid', () => {
  test('sets the scopes that users can be asked for, of clients that are not first-party', async () => {
    const { id } = await aClient({});
    const set = (...args: string[]) => changed('set-openid', '--client', id, ...args);
    expect((await set('--scopes', 'email,openid')).events).toMatchObject([{ event: 'oauth_client.updated' }]);
    expect(await one(id)).toMatchObject({ openidScopes: ['openid', 'email'] });
    await set();
    expect(await one(id)).toMatchObject({ openidScopes: null });

    const refusal = (...args: string[]) => roster.refusal('oauth-client', 'set-openid', '--client', ...args);
    expect(
      await Promise.all([refusal(id, '--scopes', 'email'), refusal(await aFirstParty(), '--scopes', 'openid')]),
    ).toEqual([
      '--scopes: Include openid: the others need it.',
      '--scopes: First-party clients have all scopes of OpenID Connect.',
    ]);
  });
});

describe('oauth-client set-session', () => {
  test('sets how long sessions last, of first-party clients alone', async () => {
    const id = await aFirstParty();
    const { document, events } = await changed('set-session', '--client', id, '--days', '90');
    expect(document).toEqual({ clientId: id, sessionDays: 90 });
    expect(events).toMatchObject([{ event: 'oauth_client.updated', client_id: id }]);
    expect(await one(id)).toMatchObject({ sessionDays: 90 });
    await changed('set-session', '--client', id);
    expect(await one(id)).toMatchObject({ sessionDays: null });

    const { id: other } = await aClient({ confidential: true });
    const refusal = (...args: string[]) => roster.refusal('oauth-client', 'set-session', '--client', ...args);
    expect(await Promise.all([refusal(other, '--days', '90'), refusal(id, '--days', '3651')])).toEqual([
      '--days: Only tokens of first-party clients end with a session.',
      expect.stringMatching(/--days.*whole number from 1 to 3650/),
    ]);
  });
});

test('oauth-client update lets first-party clients with a secret alone be without a limit of token requests', async () => {
  const id = await aFirstParty();
  const { events } = await changed('update', '--client', id, '--token-limit', 'on');
  expect(events).toMatchObject([{ event: 'oauth_client.updated', client_id: id }]);
  expect(await one(id)).toMatchObject({ hasTokenLimit: true });
  await changed('update', '--client', id, '--name', 'Renamed');
  expect(await one(id)).toMatchObject({ name: 'Renamed', hasTokenLimit: true });
  await changed('update', '--client', id, '--token-limit', 'off');
  expect(await one(id)).toMatchObject({ hasTokenLimit: false });

  const { id: other } = await aClient({ confidential: true });
  expect(await roster.refusal('oauth-client', 'update', '--client', other, '--token-limit', 'off')).toBe(
    '--token-limit: Clients that are not first-party with a secret always have a limit.',
  );
  expect((await changed('update', '--client', other, '--token-limit', 'on')).events).toEqual([]);
  expect(await one(other)).toMatchObject({ hasTokenLimit: true });
});

// Guarantees that a command widens nothing in silence that the operator API reports.
test('whose client it is, is told what a command lets it do: its owner, or the operators', async () => {
  const [admin, owner] = [await roster.account(), await roster.account()];
  await roster.rows(`update account set role = 'admin' where id = $1`, [admin.id]);
  const [ofInstance, { id: ofOwner }] = [await aFirstParty(), await aClient({ accountId: owner.id })];
  const permission = await aPermission({ services: roster } as unknown as Api); // uses the database alone
  const toldOf = async (...args: string[]) => {
    await changed(...args);
    const told = await roster.rows<{ payload: { kind: string; to: string } }>(
      `delete from graphile_worker._private_jobs where payload ->> 'kind' is not null returning payload`,
    );
    await roster.rows('delete from sent_mail');
    return told.map(({ payload: { kind, to } }) => `${kind} ${to}`);
  };

  expect(await toldOf('set-session', '--client', ofInstance, '--days', '90')).toEqual([
    `operator_client_changed ${admin.email}`,
  ]);
  expect(await toldOf('set-session', '--client', ofInstance, '--days', '60')).toEqual([]);
  expect(await toldOf('set-permissions', '--client', ofOwner, '--permissions', permission)).toEqual([
    `oauth_client_changed ${owner.email}`,
  ]);
  expect(await toldOf('set-permissions', '--client', ofOwner, '--permissions', '')).toEqual([]);
});

describe('oauth-client list', () => {
  test('lists every client, with whose it is', async () => {
    const { id: accountId, email } = await roster.account();
    const { id: own } = await aClient({ accountId });
    const { id: operators, secret } = await aClient({ confidential: true });
    await roster.rows(
      `insert into oauth_client (id, source, name, redirect_uris, created_at)
       values ('https://d.example/c.json', 'document', 'Described', '{https://d.example/}', now())`,
    );

    const [json, { stdout }] = await Promise.all([
      roster.json<{ id: string }[]>('oauth-client', 'list'),
      roster.run('oauth-client', 'list'),
    ]);

    expect(json.find(({ id }) => id === operators)).toEqual({
      id: operators,
      source: 'operator',
      email: null,
      name: 'A client',
      redirectUris: ['https://client.example/'],
      isNative: false,
      isConfidential: true,
      isFirstParty: false,
      scopes: null,
      homeUrl: null,
      initiateLoginUri: null,
      isDevelopment: false,
      sessionDays: null,
      hasTokenLimit: true,
      openidScopes: null,
      permissions: [],
      postLogoutRedirectUris: [],
      backchannelLogoutUri: null,
      createdAt: anInstant,
      secrets: [{ last4: secret.slice(-4), createdAt: anInstant, expiresAt: null }],
    });
    expect(json).toContainEqual(expect.objectContaining({ id: own, source: 'account', email }));
    expect(json).toContainEqual(expect.objectContaining({ name: 'Described', source: 'document', email: null }));
    expect(stdout).toContain(`${own}  A client  (${email}, public, native)  https://client.example/\n`);
    expect(stdout).toContain(`${operators}  A client  (operator, confidential)  https://client.example/\n`);
  });
});

describe('oauth-client rotate-secret', () => {
  test('the old secret works for another day, or for the hours that are given', async () => {
    const { id: clientId, secret: first } = await aClient({ confidential: true });

    const { document: second, events } = await changed<Created>('rotate-secret', '--client', clientId);
    expect(second).toEqual({ clientId, clientSecret: expect.stringMatching(/^rst_cs_/) });
    expect(events).toMatchObject([{ event: 'oauth_client.secret_rotated', client_id: clientId }]);
    const old = (await one(clientId))?.secrets[1];
    expect(old?.last4).toBe(first.slice(-4));
    expect(Date.parse(old?.expiresAt ?? '') - Date.now()).toBeCloseTo(24 * HOUR_MS, -5);

    const args = ['rotate-secret', '--client', clientId, '--overlap-hours', '0'];
    const { document: third } = await changed<Created>(...args);
    const secrets = [first, second.clientSecret, third.clientSecret];
    expect(await Promise.all(secrets.map((secret) => isValid(clientId, secret)))).toEqual([false, false, true]);
  });

  test('rejects clients without a secret, and hours out of range', async () => {
    const { id } = await aClient({});
    const refusal = (...args: string[]) => roster.refusal('oauth-client', 'rotate-secret', '--client', ...args);

    expect(await Promise.all([refusal('client_none'), refusal(id), refusal(id, '--overlap-hours', '169')])).toEqual([
      '--client: OAuth client not found.',
      '--client: Public clients have no secret.',
      expect.stringMatching(/--overlap-hours.*whole number from 0 to 168/),
    ]);
  });
});

describe('oauth-client delete', () => {
  test('deletes a client, whosever it is, with what people allowed it', async () => {
    const { id: accountId } = await roster.account();
    const { id: clientId } = await aClient({ accountId });
    const grantId = newId('grant');
    await roster.rows(
      `insert into oauth_grant (id, account_id, client_id, audience, scopes, created_at, expires_at)
       values ($1, $2, $3, 'personal', '{teams:read}', now(), now() + interval '1 day')`,
      [grantId, accountId, clientId],
    );

    const { document, events } = await changed('delete', '--client', clientId);

    expect(document).toEqual({ success: true });
    expect(events).toMatchObject([
      {
        event: 'oauth_grant.revoked',
        account_id: accountId,
        client_id: clientId,
        target_id: grantId,
        details: { reason: 'client deleted' },
      },
      { event: 'oauth_client.deleted', account_id: accountId, client_id: clientId },
    ]);
    expect(await one(clientId)).toBeUndefined();
    expect(await roster.rows('select id from oauth_grant where id = $1', [grantId])).toEqual([]);
    expect(await roster.refusal('oauth-client', 'delete', '--client', clientId)).toBe(
      '--client: OAuth client not found.',
    );
  });
});
