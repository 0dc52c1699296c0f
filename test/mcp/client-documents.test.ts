import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';
import { aCertificate } from '../support/certificate.ts';
import { aToken, callFirstTool, challengedScope } from './sign-in.ts';

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

/** The setting that these clients need; registration stays off. */
const test = testWith(() => startApiAtItsAddress({ OAUTH_CLIENT_DOCUMENTS: 'on' }));

const CODE = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };

/** The documents of the clients, at another host, and the redirect URIs with which each then asks for a code. */
const CLIENTS = [
  {
    client: 'VS Code',
    path: '/oauth/client-metadata.json', // vscode.dev
    document: {
      ...CODE,
      client_name: 'Visual Studio Code',
      client_uri: 'https://vscode.dev/product',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      token_endpoint_auth_method: 'none',
    },
    redirects: ['http://127.0.0.1:33418/', 'http://127.0.0.1:50123/', 'https://vscode.dev/redirect'],
  },
  {
    client: 'Claude',
    path: '/oauth/mcp-oauth-client-metadata', // claude.ai
    document: {
      ...CODE,
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      logo_uri: 'https://claude.ai/images/logo.png',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
      token_endpoint_auth_method: 'none',
    },
    redirects: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
  },
  {
    client: 'Claude Code', // names no application_type, and no port
    path: '/oauth/claude-code-client-metadata', // claude.ai
    document: {
      ...CODE,
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
    },
    redirects: ['http://localhost:8080/callback', 'http://localhost:3118/callback', 'http://127.0.0.1:52163/callback'],
  },
  {
    client: 'ChatGPT', // would rather sign its requests, and can do without
    path: '/oauth/client.json', // chatgpt.com
    document: {
      ...CODE,
      client_name: 'ChatGPT',
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
    redirects: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  },
  {
    client: 'a native client such as Codex or OpenCode',
    path: '/oauth/native/client.json',
    document: {
      ...CODE,
      client_name: 'opencode',
      client_uri: 'https://opencode.ai',
      logo_uri: 'https://opencode.ai/web-app-manifest-512x512.png',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
      token_endpoint_auth_method: 'none',
      token_endpoint_auth_methods_supported: ['none'],
    },
    redirects: ['http://127.0.0.1:37819/callback', 'http://localhost:37819/callback'],
  },
];

const certificate = aCertificate(HOST);
network.ca = certificate.cert;
const server = createServer(certificate, ({ url = '' }, res) => {
  const found = CLIENTS.find(({ path }) => path === url);
  const body = found && { client_id: urlOf(found.path), ...found.document };
  res.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
});

const urlOf = (path: string): string => `https://${HOST}:${(server.address() as AddressInfo).port}${path}`; // listening on TCP

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.for(CLIENTS)('the document of $client', ({ path, redirects, document }) => {
  test('leads to a token for each redirect URI that it uses, and to a tool call', async ({ api }) => {
    const metadata = await api.anonymous.get('/.well-known/oauth-authorization-server');
    expect(metadata.body).toMatchObject({
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['none']), // without it, Claude would register
    });
    expect(metadata.body).not.toHaveProperty('registration_endpoint');
    const scope = await challengedScope(api);
    for (const redirectUri of redirects)
      for (const asked of [{ scope }, {}]) {
        const tokens = await aToken(api, { client_id: urlOf(path) }, redirectUri, asked);
        expect(tokens).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
        expect(tokens.scope.split(' ')).toEqual([...ALL_SCOPES]);
        expect(await callFirstTool(api, tokens.access_token)).toEqual([200, expect.stringContaining('nextOffset')]);
      }
    expect(await api.rows('select name, source from oauth_client where id = $1', [urlOf(path)])).toEqual([
      { name: document.client_name, source: 'document' },
    ]);
  });
});
