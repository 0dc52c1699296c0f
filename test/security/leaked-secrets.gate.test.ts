import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';
import { createOperatorKey } from '../../src/resources/operator-keys/operator-keys.service.ts';
import { refresh, someTokens } from '../oauth/flow.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { hashes, statusOf } from './reports.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY_ID = 'a-key-of-github';

async function withGitHubKeys(keys: readonly object[]): Promise<Api> {
  const directory = mkdtempSync(join(tmpdir(), 'roster-keys-'));
  const file = join(directory, 'keys.json');
  writeFileSync(file, JSON.stringify({ public_keys: keys }));
  const api = await startApi({ GITHUB_SECRET_SCANNING_KEYS: file, LEAK_ADDRESS_LIMIT: '3', TRUST_PROXY: '1' });
  rmSync(directory, { recursive: true });
  return api;
}

const test = testWith(() => {
  const key = publicKey.export({ type: 'spki', format: 'pem' });
  return withGitHubKeys([{ key_identifier: KEY_ID, key, is_current: true }]);
});

let addresses = 0;
/** An address that has reported nothing. */
const anAddress = (): string => `192.0.2.${(addresses += 1)}`;

const revoke = (api: Api, secret: unknown, address = anAddress()) =>
  api.anonymous.send({
    method: 'POST',
    path: '/security/revoke',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ secret }),
  });

type Forged = { readonly signature?: string; readonly keyId?: string; readonly address?: string };

function report(api: Api, tokens: readonly object[] | string, { signature, keyId, address }: Forged = {}) {
  const body = typeof tokens === 'string' ? tokens : JSON.stringify(tokens);
  return api.anonymous.send({
    method: 'POST',
    path: '/security/github',
    headers: {
      'content-type': 'application/json',
      'github-public-key-identifier': keyId ?? KEY_ID,
      'github-public-key-signature': signature ?? sign('sha256', Buffer.from(body), privateKey).toString('base64'),
      'x-forwarded-for': address ?? anAddress(),
    },
    body,
  });
}

const leaked = (token: string, url = 'https://github.com/octo/repo/blob/main/.env#L3') => ({
  token,
  type: 'roster_secret',
  url,
  source: 'content',
});

const endings = (api: Api, target: string) =>
  api.rows<{ event: string; reason: string; actor_kind: string; address: string | null }>(
    `select event, details->>'reason' as reason, actor_kind, address from audit_event
     where (target_id = $1 or account_id = $1) and event like '%.revoked'`,
    [target],
  );

describe('POST /security/revoke', () => {
  test('revokes an API key of either kind for whoever holds it, with its event', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    for (const key of [await api.anApiKey(owner), await api.anApiKey(owner, { team })]) {
      expect(await statusOf(api, key.secret)).toBe(200);

      const address = anAddress();
      const answer = await revoke(api, key.secret, address);

      expect([answer.status, answer.text]).toEqual([202, '']);
      expect(await statusOf(api, key.secret)).toBe(401);
      expect(await endings(api, key.id)).toEqual([
        {
          event: 'api_key.revoked',
          reason: 'leaked, reported by a holder of the secret',
          actor_kind: 'anonymous',
          address,
        },
      ]);
    }
  });

  test('tells the owner and, for a team key, the members who manage keys, once', async ({ api }) => {
    const [owner, creator, manager, bystander] = [
      await api.anAccount(),
      await api.anAccount(),
      await api.anAccount(),
      await api.anAccount(),
    ];
    const team = await api.aTeam({ owner, name: 'Acme' });
    const role = await api.aRole(team, ['access_dashboard', 'manage_api_keys']);
    for (const member of [creator, manager]) await api.aMember(team, member, { role: role.id });
    await api.aMember(team, bystander, { role: 'member' });
    const key = await api.anApiKey(creator, { team });

    await Promise.all(Array.from({ length: 5 }, () => revoke(api, key.secret)));

    for (const { email } of [owner, creator, manager]) {
      const { text } = await api.mailTo(email, /A leaked API key was revoked/);
      expect(text).toContain('“Acme”');
      expect(text).not.toContain(key.secret);
    }
    const told = api.mails.filter(({ subject }) => subject === 'A leaked API key was revoked').map(({ to }) => to);
    for (const { email } of [owner, creator, manager]) expect(told.filter((to) => to === email)).toHaveLength(1);
    expect(told).not.toContain(bystander.email);
    expect(await endings(api, key.id)).toHaveLength(1);
  });

  test('revokes a key by the secret that a rotation replaces', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account);
    const { secret, hash } = api.services.tokens.generate('personalKey');
    await api.rows(`update api_key_secret set expires_at = now() + interval '1 hour' where api_key_id = $1`, [key.id]);
    await api.rows('insert into api_key_secret (secret_hash, api_key_id, created_at) values ($1, $2, now())', [
      hash,
      key.id,
    ]);

    await revoke(api, key.secret);

    expect([await statusOf(api, key.secret), await statusOf(api, secret)]).toEqual([401, 401]);
  });

  test('revokes an operator key and tells the operators', async ({ api }) => {
    const operator = await api.anAccount();
    await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
    const { key, secret } = await createOperatorKey(api.services, 'system', {
      name: 'Backend',
      scopes: ['accounts:read'],
      addresses: [],
      expiresAt: null,
    });

    await Promise.all([revoke(api, secret), revoke(api, secret)]);

    expect(await endings(api, key.id)).toMatchObject([
      { event: 'operator_key.revoked', reason: 'leaked, reported by a holder of the secret' },
    ]);
    const answer = await api.as(secret).get('/operator/v1/operator-keys');
    expect(answer.status).toBe(401);
    expect((await api.mailTo(operator.email, /leaked API key/)).text).toContain('“Backend”');
  });

  test.for(['access', 'refresh', 'consumed'] as const)(
    'revokes all tokens of a consent by its %s token, and those of no other',
    async (kind, { api }) => {
      const { client, account, tokens } = await someTokens(api);
      const other = await someTokens(api, { client, account });
      let secret = tokens[kind === 'access' ? 'access' : 'refresh'];
      let successor = tokens.access;
      if (kind === 'consumed') {
        const { body } = await refresh(api, client, tokens.refresh);
        [secret, successor] = [tokens.refresh, (body as { access_token: string }).access_token];
      }
      expect(await statusOf(api, successor)).toBe(200);

      await revoke(api, secret);

      expect([await statusOf(api, successor), await statusOf(api, other.tokens.access)]).toEqual([401, 200]);
      expect((await refresh(api, client, tokens.refresh)).status).toBe(400);
      expect((await api.mailTo(account.email, /Access of an application was revoked/)).text).toContain('“A client”');
    },
  );

  // Guarantees that the answer is no oracle for secrets.
  test('answers the same for unknown, revoked and foreign strings, and changes nothing', async ({ api }) => {
    const account = await api.anAccount();
    const revoked = await api.anApiKey(account, { revoked: true });
    const strings = [
      api.services.tokens.generate('personalKey').secret,
      api.services.tokens.generate('session').secret,
      revoked.secret,
      'ghp_0123456789',
      'x'.repeat(4096),
    ];
    const valid = await revoke(api, (await api.anApiKey(account)).secret);
    const { date: _date, 'x-request-id': _id, ...headers } = valid.headers;

    for (const text of strings) {
      const answer = await revoke(api, text);
      expect([answer.status, answer.text]).toEqual([202, '']);
      expect(answer.headers).toMatchObject({ ...headers, 'ratelimit-reset': expect.any(String) });
    }
    expect(await endings(api, revoked.id)).toEqual([]);
  });

  test('rejects what is no report, without repeating it', async ({ api }) => {
    const { secret } = api.services.tokens.generate('personalKey');
    for (const body of [undefined, 1, '', 'x'.repeat(4097), { secret }, [secret], `${secret}\u0000`]) {
      const answer = await revoke(api, body);
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain(secret);
    }
    const malformed = await api.anonymous.send({
      method: 'POST',
      path: '/security/revoke',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': anAddress() },
      body: `{ "secret": "${secret}`,
    });
    expect([malformed.status, malformed.text.includes(secret)]).toEqual([400, false]);
    const got = await api.anonymous.get('/security/revoke');
    expect([got.status, got.headers.allow]).toEqual([405, 'POST']);
  });

  test('is limited for each address, so that no one can use it up for others', async ({ api }) => {
    const address = anAddress();
    const key = await api.anApiKey(await api.anAccount());

    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await revoke(api, 'anything', address)).status);
    const limited = await revoke(api, key.secret, address);

    expect(statuses).toEqual([202, 202, 202, 429]);
    expect([limited.status, Number(limited.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(await statusOf(api, key.secret)).toBe(200);
    expect((await revoke(api, key.secret)).status).toBe(202);
    expect(await statusOf(api, key.secret)).toBe(401);
  });
});

describe('POST /security/github', () => {
  test('revokes the tokens of a signed report and labels each', async ({ api }) => {
    const account = await api.anAccount();
    const [personal, revoked] = [await api.anApiKey(account), await api.anApiKey(account, { revoked: true })];
    const { account: person, tokens } = await someTokens(api);
    const unknown = api.services.tokens.generate('teamKey').secret;
    const all = [personal.secret, revoked.secret, tokens.access, unknown, 'not ours', personal.secret];

    const { status, body } = await report(
      api,
      all.map((token) => leaked(token)),
    );

    expect(status).toBe(200);
    const labels = ['true', 'true', 'true', 'false', 'false', 'true'].map((word) => `${word}_positive`);
    expect(body).toEqual(
      all.map((token, i) => ({ token_hash: hashes(token), token_type: 'roster_secret', label: labels[i] })),
    );
    expect([await statusOf(api, personal.secret), await statusOf(api, tokens.access)]).toEqual([401, 401]);
    expect(await endings(api, personal.id)).toMatchObject([{ reason: 'leaked, reported by GitHub' }]);
    expect((await api.mailTo(account.email, /leaked API key/)).text).toContain('com/octo/repo');
    await api.mailTo(person.email, /Access of an application/);
  });

  test('answers only requests that one of the configured keys signed', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount());
    const tokens = [leaked(key.secret)];
    const body = Buffer.from(JSON.stringify(tokens));
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const forgeries: Forged[] = [
      { signature: '' },
      { signature: 'no base64 at all' },
      { signature: sign('sha256', body, stranger).toString('base64') },
      { signature: sign('sha256', Buffer.concat([body, Buffer.from(' ')]), privateKey).toString('base64') },
      { signature: sign('sha256', body, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64') },
      { keyId: 'another' },
      { keyId: '__proto__' },
    ];
    for (const forgery of forgeries) {
      const answer = await report(api, tokens, forgery);
      expect([answer.status, answer.body.code]).toEqual([403, 'signature_invalid']);
      expect(answer.text).not.toContain(hashes(key.secret));
    }
    expect(await statusOf(api, key.secret)).toBe(200);
  });

  test('limits unsigned requests by address, and signed ones not at all', async ({ api }) => {
    const address = anAddress();
    const statuses = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await report(api, [], { address })).status);
    for (let i = 0; i < 4; i += 1) statuses.push((await report(api, [], { address, signature: 'AAAA' })).status);

    expect(statuses).toEqual([200, 200, 200, 200, 200, 403, 403, 403, 429]);
  });

  test('accepts a report of thousands of tokens, and no longer one', async ({ api }) => {
    const account = await api.anAccount();
    const keys = await Promise.all(Array.from({ length: 50 }, () => api.anApiKey(account)));
    const unknown = Array.from({ length: 4950 }, () => leaked(api.services.tokens.generate('personalKey').secret, ''));

    const { status, body } = await report(api, [...unknown, ...keys.map(({ secret }) => leaked(secret))]);

    expect(status).toBe(200);
    expect((body as { label: string }[]).filter(({ label }) => label === 'true_positive')).toHaveLength(50);
    expect(
      (
        await report(
          api,
          Array.from({ length: 5001 }, () => leaked('x')),
        )
      ).status,
    ).toBe(413);
  });

  test.for(['{}', '[{"token":1}]', '["a"]', 'not json', '[{"token":null}]'])(
    'rejects the signed body %s',
    async (body, { api }) => {
      expect((await report(api, body)).status).toBe(400);
    },
  );

  // The key, payload and signature of GitHub's documentation (github/docs, pull requests 18776 and 20937).
  test('accepts the signature of the example that GitHub publishes', async () => {
    const key = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9MJJHnMfn2+H4xL4YaPDA4RpJqUq
kCmRCBnYERxZanmcpzQSXs1X/AljlKkbJ8qpVIW4clayyef9gWhFbNHWAA==
-----END PUBLIC KEY-----`;
    const keyId = '90a421169f0a406205f1563a953312f0be898d3c7b6c06b681aa86a874555f4a';
    const signature =
      'MEUCIQDKZokqnCjrRtw0tni+2Ltvl/uiMJ1EGumEsp1BsNr32AIgQY1YXD2nlj+XNfGK4rBfkMJ1JDOQcYXxa2sY8FNkrKc=';
    const payload = '[{"token":"some_token","type":"some_type","url":"some_url"}]';
    const api = await withGitHubKeys([{ key_identifier: keyId, key, is_current: true }]);
    onTestFinished(() => api.close());

    const { status, body } = await report(api, payload, { keyId, signature });
    expect([status, body]).toEqual([
      200,
      [{ token_hash: hashes('some_token'), token_type: 'some_type', label: 'false_positive' }],
    ]);
    expect((await report(api, payload.replace('some_url', 'any_url'), { keyId, signature })).status).toBe(403);
  });

  test('does not exist without the keys of GitHub', async () => {
    const api = await startApi();
    onTestFinished(() => api.close());
    expect((await report(api, [])).status).toBe(404);
  });
});

describe('the rules for scanners in docs/leaked-keys.md', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/leaked-keys.md'), 'utf8');
  const rules = [/'''(.+)'''/, /secret: '(.+)'/].map((rule) => rule.exec(docs)?.[1] ?? '');

  test.for(rules)('%s finds every secret that can leak, of any brand', (rule) => {
    for (const brand of ['rst', 'acme1']) {
      const tokens = createTokens(brand);
      const pattern = new RegExp(rule.replaceAll('rst', brand));
      for (const kind of [
        'personalKey',
        'teamKey',
        'operatorKey',
        'accessToken',
        'refreshToken',
        'clientSecret',
      ] as const) {
        const { secret } = tokens.generate(kind);
        for (const text of [`ROSTER_KEY=${secret}`, `"${secret}",`, `Bearer ${secret}\n`])
          expect(pattern.exec(text)?.[1]).toBe(secret);
        expect(pattern.test(`${secret}0`)).toBe(false);
        expect(pattern.test(secret.slice(0, -1))).toBe(false);
      }
    }
  });
});
