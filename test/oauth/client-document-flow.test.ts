import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { aCertificate } from '../support/certificate.ts';
import type { Answer } from '../support/client.ts';
import type { AClient } from '../support/factories.ts';
import { aProofKey, askConsent, goodRequest, post, queryOf, refresh, someTokens } from './flow.ts';

const HOST = 'client.example';

// The documents are on this machine, where nothing is fetched from otherwise.
const network = vi.hoisted(() => {
  const lookup: LookupFunction = (_host, options, found) =>
    options.all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);
  return { lookup, ca: '', allowedNetworks: ['127.0.0.1'] };
});
vi.mock(import('../../src/oauth/client-documents.ts'), async (load) => {
  const { fetchClientDocument } = await load();
  return { fetchClientDocument: (url, options) => fetchClientDocument(url, options, network) };
});

const test = testWith(() => startApi({ OAUTH_CLIENT_DOCUMENTS: 'on' }));

type Served = { readonly status?: number; readonly type?: string; readonly location?: string; readonly body: string };

const certificate = aCertificate(HOST);
network.ca = certificate.cert;
const served = new Map<string, Served>();
const asked: string[] = [];
const server = createServer(certificate, ({ url = '' }, res) => {
  asked.push(url);
  const { status = 200, type = 'application/json', location, body } = served.get(url) ?? { status: 404, body: '{}' };
  res.writeHead(status, { 'content-type': type, ...(location !== undefined && { location }) }).end(body);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const REDIRECT = `https://${HOST}/callback`;

/** A path that no other test has, of a length. */
const aPath = (length = 20): string =>
  `/${randomBytes(length)
    .toString('base64url')
    .slice(0, length - 1)}`;

const urlOf = (path: string): string => `https://${HOST}:${(server.address() as AddressInfo).port}${path}`; // listening on TCP

/** A client whose document is at a path, with what a test says of it. */
function aClient(members: Record<string, unknown> = {}, answer: Partial<Served> = {}, path = aPath()): AClient {
  const id = urlOf(path);
  const document = { client_id: id, client_name: 'Calendar', redirect_uris: [REDIRECT], ...members };
  served.set(path, { body: JSON.stringify(document), ...answer });
  return { id, redirectUri: REDIRECT, clientSecret: null };
}

const ask = (api: Api, client: AClient): Promise<Answer> =>
  api.anonymous.get(`/oauth/authorize?${queryOf(goodRequest(client, aProofKey().challenge, ['teams:read']))}`);

const rowOf = async (api: Api, { id }: AClient) =>
  (await api.rows<Record<string, unknown>>('select * from oauth_client where id = $1', [id]))[0];

function expectPage(answer: Answer, error: string): void {
  expect(answer.status).toBe(400);
  expect(answer.headers['content-type']).toContain('text/html');
  expect(answer.headers.location).toBeUndefined();
  expect(answer.text).toContain('The application cannot be connected');
  expect(answer.text).toContain(error);
}

describe('a client that is named by the URL of its document', () => {
  test('is advertised', async ({ api }) => {
    const { body } = await api.anonymous.get('/.well-known/oauth-authorization-server');

    expect(body.client_id_metadata_document_supported).toBe(true);
  });

  test('connects, and is listed by its name', async ({ api }) => {
    const client = aClient({ client_uri: `https://${HOST}`, scope: 'teams:read', token_endpoint_auth_method: 'none' });

    const { visitor, tokens } = await someTokens(api, { client });

    const refreshed = await refresh(api, client, tokens.refresh);
    expect((await api.as(refreshed.body.access_token).get('/api/v1/credential')).status).toBe(200);
    const [grant] = await visitor.trpc.grants.list.query();
    expect(grant).toMatchObject({ client: { id: client.id, name: 'Calendar' }, scopes: ['teams:read'] });
    expect(await rowOf(api, client)).toMatchObject({
      source: 'document',
      account_id: null,
      name: 'Calendar',
      redirect_uris: [REDIRECT],
      is_native: false,
      is_confidential: false,
    });
    await visitor.trpc.grants.revoke.mutate({ grantId: grant?.id ?? '' });
    expect(await api.as(refreshed.body.access_token).get('/api/v1/credential')).toBeProblem('credential_invalid');
  });

  test('is not verified on the consent page', async ({ api }) => {
    const visitor = await signedIn(api, await api.anAccount());
    const client = aClient({ client_name: 'Roster' });
    const id = await askConsent(api, visitor, goodRequest(client, aProofKey().challenge, ['teams:read']));

    expect((await visitor.trpc.authorizations.read.query({ id })).client).toEqual({
      id: client.id,
      name: 'Roster',
      redirectHost: HOST,
      isVerified: false,
      source: 'document',
      madeBy: new URL(client.id).host,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('may push its request ahead', async ({ api }) => {
    const client = aClient();
    const visitor = await signedIn(api, await api.anAccount());

    const pushed = await post(api, '/oauth/par', client, goodRequest(client, aProofKey().challenge, ['teams:read']));

    expect(pushed.status).toBe(201);
    const id = await askConsent(api, visitor, { client_id: client.id, request_uri: pushed.body.request_uri });
    expect((await visitor.trpc.authorizations.read.query({ id })).client.name).toBe('Calendar');
  });

  test('may listen on people’s own devices, at any port', async ({ api }) => {
    const client = aClient({ redirect_uris: ['http://127.0.0.1/callback', REDIRECT] });

    const { tokens } = await someTokens(api, { client: { ...client, redirectUri: 'http://127.0.0.1:51004/callback' } });

    expect((await api.as(tokens.access).get('/api/v1/credential')).status).toBe(200);
    expect(await rowOf(api, client)).toMatchObject({ is_native: true });
  });

  test('may listen at localhost, at any port, as Claude Code does', async ({ api }) => {
    const client = aClient({ redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'] });

    const { tokens } = await someTokens(api, { client: { ...client, redirectUri: 'http://localhost:51004/callback' } });

    expect((await api.as(tokens.access).get('/api/v1/credential')).status).toBe(200);
  });

  test('is public if it can do without its key, as that of ChatGPT says', async ({ api }) => {
    const client = aClient({
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: `https://${HOST}/jwks.json`,
    });

    const { tokens } = await someTokens(api, { client });

    expect((await api.as(tokens.access).get('/api/v1/credential')).status).toBe(200);
    expect(await rowOf(api, client)).toMatchObject({ is_confidential: false });
    expect(asked).not.toContain('/jwks.json');
  });

  test('without a name goes by where it sends people', async ({ api }) => {
    const client = aClient({ client_name: undefined });

    expect((await ask(api, client)).status).toBe(303);

    expect(await rowOf(api, client)).toMatchObject({ name: HOST });
  });

  test('is known by the present content of its document', async ({ api }) => {
    const path = aPath();
    const client = aClient({}, {}, path);
    const { visitor } = await someTokens(api, { client });
    const replica = await startApi({ OAUTH_CLIENT_DOCUMENTS: 'on' }, api);
    onTestFinished(() => replica.close());

    // Another replica has not kept the document.
    aClient({ client_name: 'Planner' }, {}, path);
    expect((await ask(replica, client)).status).toBe(303);

    expect(await visitor.trpc.grants.list.query()).toMatchObject([{ client: { name: 'Planner' } }]);
  });

  test.for([[300], [2000]])('may have a URL of %i characters', async ([length = 0], { api }) => {
    const client = aClient({}, {}, aPath(length - urlOf('').length));
    expect(client.id).toHaveLength(length);

    const { visitor, tokens } = await someTokens(api, { client });

    expect((await refresh(api, client, tokens.refresh)).status).toBe(200);
    expect(await visitor.trpc.grants.list.query()).toMatchObject([{ client: { id: client.id } }]);
  });

  test('is recorded when its document is new or has changed, and not when it is as it was', async ({ api }) => {
    const path = aPath();
    const client = aClient({}, {}, path);
    // Each replica fetches the document once and keeps it for a while.
    const askAtAnother = async () => {
      const replica = await startApi({ OAUTH_CLIENT_DOCUMENTS: 'on' }, api);
      onTestFinished(() => replica.close());
      expect((await ask(replica, client)).status).toBe(303);
      return api.rows('select event, address, details from audit_event where client_id = $1 order by id', [client.id]);
    };
    const event = { event: 'oauth_client.updated', address: '127.0.0.1' };
    const reason = 'its metadata document';
    const isNew = { changed: ['name', 'redirectUris'], redirectUrisBefore: [], redirectUris: [client.redirectUri] };
    const first = { ...event, details: { ...isNew, reason } };

    expect(await askAtAnother()).toEqual([first]);
    expect(await askAtAnother()).toEqual([first]);
    aClient({ client_name: 'Planner' }, {}, path);
    expect(await askAtAnother()).toEqual([first, { ...event, details: { changed: ['name'], reason } }]);
  });

  test('has a URL of at most 2000 characters', async ({ api }) => {
    const client = aClient({}, {}, aPath(2001 - urlOf('').length));

    expectPage(await ask(api, client), 'invalid_client');

    expect(asked).not.toContain(new URL(client.id).pathname);
    expect(await rowOf(api, client)).toBeUndefined();
  });
});

describe('an error page for an invalid document', () => {
  test.for([
    ['that is another client’s', { client_id: `https://${HOST}/other.json` }, 'invalid_client_metadata'],
    ['without its own URL', { client_id: undefined }, 'invalid_client_metadata'],
    ['with a shared secret', { token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
    ['with the other way to send one', { token_endpoint_auth_method: 'client_secret_post' }, 'invalid_client_metadata'],
    ['that contains a secret', { client_secret: 'a secret' }, 'invalid_client_metadata'],
    ['that would sign its requests', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [
      'with ways to sign in only',
      { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_methods_supported: ['private_key_jwt'] },
      'invalid_client_metadata',
    ],
    ['that wants to be trusted', { first_party: true }, 'invalid_client_metadata'],
    ['that wants no consent page', { skip_consent: true }, 'invalid_client_metadata'],
    ['with a name that turns the text', { client_name: 'Calendar \u202erotsoR' }, 'invalid_client_metadata'],
    ['with a name of 101 characters', { client_name: 'a'.repeat(101) }, 'invalid_client_metadata'],
    ['with a name that is a number', { client_name: 1 }, 'invalid_client_metadata'],
    ['with a redirect to a private network', { redirect_uris: ['http://192.168.0.10/'] }, 'invalid_redirect_uri'],
    ['with another path at localhost', { redirect_uris: ['http://localhost/'] }, 'invalid_redirect_uri'],
    ['with a redirect to a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['with redirects that are a text', { redirect_uris: REDIRECT }, 'invalid_redirect_uri'],
    ['without redirects', { redirect_uris: undefined }, 'invalid_redirect_uri'],
    ['for another redirect', { redirect_uris: [`${REDIRECT}/other`] }, 'invalid_redirect_uri'],
  ] as const)('%s', async ([, members, error], { api }) => {
    const client = aClient(members);

    expectPage(await ask(api, client), error);

    expect(await rowOf(api, client)).toBeUndefined();
  });

  test.for([
    ['that is not there', { status: 404 }, 'invalid_client'],
    ['that is elsewhere', { status: 302, location: `https://${HOST}/client.json` }, 'invalid_client'],
    ['of a server that fails', { status: 500 }, 'invalid_client'],
    ['that is a page', { type: 'text/html' }, 'invalid_client'],
    ['that is not JSON', { body: '{' }, 'invalid_client'],
    ['that is a list', { body: '[]' }, 'invalid_client_metadata'],
    ['that is null', { body: 'null' }, 'invalid_client_metadata'],
    ['of more than 5 KB', { body: `{}${' '.repeat(5120)}` }, 'invalid_client'],
  ] as const)('%s', async ([, answer, error], { api }) => {
    const client = aClient({}, answer);

    expectPage(await ask(api, client), error);

    expect(await rowOf(api, client)).toBeUndefined();
  });

  test.for([
    ['http', (url: string) => url.replace('https:', 'http:')],
    ['a user', (url: string) => url.replace('https://', 'https://user@')],
    ['a fragment', (url: string) => `${url}#here`],
    ['a dot segment', (url: string) => url.replace(/\/[^/]+$/, '/a/..$&')],
    ['a hidden dot segment', (url: string) => url.replace(/\/[^/]+$/, '/a/%2e%2E$&')],
    ['another scheme', (url: string) => url.replace('https:', 'file:')],
  ] as const)('unread, where its URL has %s', async ([, change], { api }) => {
    const path = aPath();
    const id = change(urlOf(path));
    aClient({ client_id: id }, {}, path);

    expectPage(await ask(api, { id, redirectUri: REDIRECT, clientSecret: null }), 'invalid_client');

    expect(asked.filter((url) => url.includes(path))).toEqual([]);
  });

  test('only until it is good', async ({ api }) => {
    const path = aPath();
    const client = aClient({}, { status: 503 }, path);
    expectPage(await ask(api, client), 'invalid_client');

    aClient({}, {}, path);

    expect((await ask(api, client)).status).toBe(303);
  });

  test('to a client without a browser as JSON', async ({ api }) => {
    const client = aClient({ client_name: 1 });

    const pushed = await post(api, '/oauth/par', client, goodRequest(client, aProofKey().challenge, ['teams:read']));

    expect([pushed.status, pushed.body.error]).toEqual([400, 'invalid_client_metadata']);
  });
});

describe('a document changes no client that is registered here', () => {
  test('whose id it claims', async ({ api }) => {
    const registered = await api.anOAuthClient({ name: 'Registered' });
    const before = await rowOf(api, registered);

    expectPage(await ask(api, aClient({ client_id: registered.id })), 'invalid_client_metadata');

    expect(await rowOf(api, registered)).toEqual(before);
  });

  test('even under the same id', async ({ api }) => {
    const client = aClient();
    await api.rows(
      `insert into oauth_client (id, source, name, redirect_uris, created_at) values ($1, 'operator', 'Registered', '{}', now())`,
      [client.id],
    );
    const before = await rowOf(api, client);

    await ask(api, client);

    expect(await rowOf(api, client)).toEqual(before);
  });
});

describe('while documents are switched off', () => {
  test('none is read, and no metadata names them', async () => {
    const api = await startApi();
    onTestFinished(() => api.close());
    const client = aClient();

    expectPage(await ask(api, client), 'invalid_client');

    expect(asked).not.toContain(new URL(client.id).pathname);
    const { body } = await api.anonymous.get('/.well-known/oauth-authorization-server');
    expect(body).not.toHaveProperty('client_id_metadata_document_supported');
  });
});

describe('a document that fails', () => {
  test.for<[what: string, members: Record<string, unknown>, answer: Partial<Served>]>([
    ['is missing', {}, { status: 404 }],
    ['is no JSON', {}, { body: 'no' }],
    ['has a redirect that is refused', { redirect_uris: ['http://client.example/'] }, {}],
  ])('because it %s is fetched once for a request', async ([, members, answer], { api }) => {
    const client = aClient(members, answer);

    expect((await ask(api, client)).status).toBe(400);

    expect(asked.filter((path) => client.id.endsWith(path))).toHaveLength(1);
  });

  test.for(['', '?id=1'])('because its URL has no path is not fetched: %j', async (query, { api }) => {
    const id = urlOf(query);
    served.set(`/${query}`, { body: JSON.stringify({ client_id: id, redirect_uris: [REDIRECT] }) });
    const before = asked.length;

    expectPage(await ask(api, { id, redirectUri: REDIRECT, clientSecret: null }), 'invalid_client');

    expect(asked).toHaveLength(before);
  });
});
