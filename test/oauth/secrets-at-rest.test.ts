import { expect } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { startApi, test as base, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { AClient } from '../support/factories.ts';
import { formsOf } from '../support/forms.ts';
import { aCode, aProofKey, askConsent, exchange, goodRequest, post, queryOf, refresh, resume } from './flow.ts';
import { basic, outcome, postForm } from './token-endpoint.ts';

const test = base.extend<{ api: Api }>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const api = await startApi({ OAUTH_REGISTRATION: 'on' });
      await use(api);
      await api.close();
    },
    { scope: 'file' },
  ],
});

const SCOPES = ['teams:read', 'api-keys:write'] as const;

// Guarantees that the database, a backup of it or the log give access to no account.
test('no table and no line of the log holds a token, a code or a secret that was handed out', async ({ api }) => {
  const handedOut = new Map<string, string>();
  const keep = (kind: string, secret: string | null | undefined): string => {
    if (!secret) throw new Error(`There is no ${kind}.`);
    handedOut.set(secret, kind);
    return secret;
  };
  const keepTokens = ({ body }: { body: Record<string, string> }) => {
    keep('access token', body['access_token']);
    return keep('refresh token', body['refresh_token']);
  };

  const account = await api.anAccount();
  const visitor = await signedIn(api, account);
  const keepCookies = () => visitor.cookies.forEach((value, name) => keep(`cookie ${name}`, value));

  // Clients, whose secrets are made in three ways.
  const made = await visitor.trpc.oauthClients.create.mutate({
    name: 'A client',
    redirectUris: ['https://client.example/callback'],
    isNative: false,
    isConfidential: true,
  });
  const clientId = made.client.id;
  const firstSecret = keep('client secret', made.clientSecret);
  const rotated = await visitor.trpc.oauthClients.rotateSecret.mutate({ clientId, overlapHours: 1 });
  const client: AClient = {
    id: clientId,
    redirectUri: 'https://client.example/callback',
    clientSecret: keep('rotated client secret', rotated.clientSecret),
  };
  const registered = await api.anonymous.post('/oauth/register', { redirect_uris: [client.redirectUri] });
  expect(registered.status).toBe(201);
  keep('registered client secret', registered.body.client_secret);

  // A pushed request that becomes a grant, by both secrets; and one that waits.
  const push = async () => {
    const { verifier, challenge } = aProofKey();
    const pushed = await post(api, '/oauth/par', client, goodRequest(client, challenge, SCOPES));
    expect(pushed.status).toBe(201);
    return { requestUri: keep('request_uri', pushed.body.request_uri.replace(/^.*:/, '')), verifier, pushed };
  };
  await push();
  const { pushed, verifier } = await push();
  const id = keep(
    'consent id',
    await askConsent(api, visitor, { client_id: clientId, request_uri: pushed.body.request_uri }),
  );
  keepCookies();
  const storedMeanwhile = await dump(api);
  const { redirectTo } = await visitor.trpc.authorizations.approve.mutate({
    id,
    accountId: account.id,
    teamId: null,
    scopes: [...SCOPES],
  });
  const code = keep('code', (await resume(api, visitor, redirectTo)).get('code'));
  keepCookies();
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
  const first = await postForm(api, '/oauth/token', form, basic(clientId, firstSecret));
  expect(outcome(first)).toBe('200');

  // A refresh, repeated, whose answer is kept; a key made with its token.
  const oldRefresh = keepTokens(first);
  const second = await refresh(api, client, oldRefresh);
  keepTokens(second);
  expect((await refresh(api, client, oldRefresh)).body).toEqual(second.body);
  const key = await api
    .as(second.body.access_token)
    .post('/api/v1/api-keys', { name: 'A key', scopes: ['teams:read'] });
  keep('API key', key.body.secret);
  await post(api, '/oauth/introspect', client, { token: second.body.access_token });

  // Consents that wait, are denied, and whose code is never exchanged; a grant that a replay ends; one that is given back.
  const ask = async () =>
    keep('consent id', await askConsent(api, visitor, goodRequest(client, aProofKey().challenge, SCOPES)));
  await ask();
  const denied = await visitor.trpc.authorizations.deny.mutate({ id: await ask() });
  await resume(api, visitor, denied.redirectTo);
  keep('code', (await aCode(api, { client, account, visitor })).code);
  const replayed = await aCode(api, { client, account, visitor });
  keep('code', replayed.code);
  keepTokens(await exchange(api, replayed));
  expect(outcome(await exchange(api, replayed))).toBe('400 invalid_grant');
  const returned = await aCode(api, { client, account, visitor });
  keep('code', returned.code);
  await post(api, '/oauth/revoke', client, { token: keepTokens(await exchange(api, returned)) });
  keepCookies();

  // Secrets where they do not belong.
  for (const secret of handedOut.keys()) {
    await post(api, '/oauth/token', client, { grant_type: secret });
    await post(api, '/oauth/token', client, { grant_type: 'refresh_token', refresh_token: 'rst_rt_0', scope: secret });
    await postForm(api, '/oauth/token', { client_id: secret, client_secret: secret });
    await api.anonymous.get(`/oauth/authorize?${queryOf({ client_id: secret, request_uri: secret, scope: secret })}`);
    await api.anonymous.get(`/oauth/authorize/${encodeURIComponent(secret)}`);
    await api.anonymous.get(`/oauth/${encodeURIComponent(secret)}`);
  }
  await api.usage.flush();

  const stored = storedMeanwhile + (await dump(api));
  const log = JSON.stringify(api.lines);
  expect(new Set([...handedOut.values()].map((kind) => kind.replace(/^cookie .*$/, 'cookie')))).toEqual(
    new Set([
      'client secret',
      'rotated client secret',
      'registered client secret',
      'request_uri',
      'consent id',
      'code',
      'access token',
      'refresh token',
      'API key',
      'cookie',
    ]),
  );
  // It would be found: what is stored of it is.
  const isKnown = (secret: string) => stored.includes(hashSecret(secret).toString('hex'));
  expect([code, oldRefresh, second.body.access_token, firstSecret, id].map(isKnown)).not.toContain(false);
  const found = [...handedOut].flatMap(([secret, kind]) =>
    formsOf(secret).flatMap((form) => [
      ...(stored.includes(form) ? [`${kind} in the database`] : []),
      ...(log.includes(form) ? [`${kind} in the log`] : []),
    ]),
  );
  expect(found).toEqual([]);

  const [kept, ...others] = await api.rows<{ answer: string }>('select answer from oauth_refresh_answer');
  expect(others).toEqual([]);
  expect(() => createEncryption(['another-key-another-key-another-key']).decrypt(kept?.answer ?? '')).toThrow(
    'Decryption failed',
  );
  expect(JSON.parse(api.services.encryption.decrypt(kept?.answer ?? ''))).toMatchObject({ body: second.body });
});

/** Every row of every table, as text. */
async function dump({ rows }: Api): Promise<string> {
  const tables = await rows<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('public', 'graphile_worker') and table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const texts = await Promise.all(
    tables.map(({ name }) => rows<{ row: string }>(`select t::text as row from ${name} t`)),
  );
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n');
}
