import { describe, expect } from 'vitest';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { aToken, callFirstTool, challengedScope, type Registered } from './sign-in.ts';

const test = testWith(() => startApiAtItsAddress({ OAUTH_REGISTRATION: 'on' }));

const CODE = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const PUBLIC = { ...CODE, token_endpoint_auth_method: 'none' };

/** What the clients send to register, and the redirect URI with which each then asks for a code. */
const CLIENTS = [
  {
    client: 'VS Code',
    body: {
      ...PUBLIC,
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      application_type: 'native',
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
    },
    redirects: ['http://127.0.0.1:33418/', 'http://127.0.0.1:50123/', 'https://vscode.dev/redirect'],
  },
  {
    client: 'Cursor',
    body: {
      ...PUBLIC,
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
    },
    redirects: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
  },
  {
    client: 'Claude',
    body: {
      ...CODE,
      client_name: 'Claude',
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
    },
    redirects: ['https://claude.ai/api/mcp/auth_callback'],
  },
  {
    client: 'Claude Code',
    body: {
      ...PUBLIC,
      client_name: 'Claude Code (roster)',
      application_type: 'native',
      redirect_uris: ['http://localhost:3118/callback'],
    },
    redirects: ['http://localhost:3118/callback', 'http://localhost:61022/callback'],
  },
  {
    client: 'ChatGPT',
    body: { ...PUBLIC, client_name: 'ChatGPT', redirect_uris: ['https://chatgpt.com/connector/oauth/Fq3xT0'] },
    redirects: ['https://chatgpt.com/connector/oauth/Fq3xT0'],
  },
  {
    client: 'Codex',
    body: {
      ...PUBLIC,
      client_name: 'Codex',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1:37819/callback/6MFBM1In3Ey-'],
    },
    redirects: ['http://127.0.0.1:37819/callback/6MFBM1In3Ey-', 'http://127.0.0.1:43999/callback/6MFBM1In3Ey-'],
  },
  {
    client: 'MCP Inspector in a browser',
    body: {
      ...PUBLIC,
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      scope: 'profile:read teams:read',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
    },
    redirects: ['http://localhost:6274/oauth/callback'],
  },
  {
    client: 'MCP Inspector on the command line',
    body: { ...PUBLIC, client_name: 'MCP Inspector', redirect_uris: ['http://127.0.0.1:6276/oauth/callback'] },
    redirects: ['http://127.0.0.1:6276/oauth/callback'],
  },
] as const;

const register = ({ services }: Api, body: object) =>
  fetch(`${services.config.baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

// Guarantees write access to users of clients that ask for the scopes of the challenge, and never for others.
test('a client that asks for exactly the scopes of the challenge is offered all, with those selected, and at /mcp only', async ({
  api,
}) => {
  const [redirectUri] = CLIENTS[0].redirects;
  const client = (await (await register(api, CLIENTS[0].body)).json()) as Registered;
  const scope = await challengedScope(api);
  const granted = async (options: object) => (await aToken(api, client, redirectUri, options)).scope.split(' ');

  expect(scope.split(' ')).toContain('teams:read');
  expect(await granted({ scope })).toEqual([...ALL_SCOPES]);
  expect(await granted({ scope, selection: 'preselected' })).toEqual(scope.split(' '));
  for (const other of ['teams:read', 'teams:read teams:write', `${scope} teams:write`])
    for (const selection of ['all', 'preselected'])
      expect((await granted({ scope: other, selection })).toSorted()).toEqual(other.split(' ').toSorted());
  expect(await granted({ scope, path: '/api/v1' })).toEqual(scope.split(' '));
});

describe.for(CLIENTS)('$client', ({ body, redirects }) => {
  test('registers, gets a token for each redirect URI that it uses, and calls a tool', async ({ api }) => {
    const response = await register(api, body);
    expect(response.status).toBe(201);
    const registered = (await response.json()) as Registered;
    expect(registered).toMatchObject({ client_name: body.client_name, redirect_uris: body.redirect_uris });

    for (const redirectUri of redirects) {
      const tokens = await aToken(api, registered, redirectUri);
      expect(tokens).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
      expect(await callFirstTool(api, tokens.access_token)).toEqual([200, expect.stringContaining('nextOffset')]);
    }
  });
});
