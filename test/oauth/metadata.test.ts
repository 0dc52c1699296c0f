import { describe, expect } from 'vitest';
import { startApi, test, type Api } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';

const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource/api/v1';

const serverDocument = (baseUrl: string) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  introspection_endpoint: `${baseUrl}/oauth/introspect`,
  pushed_authorization_request_endpoint: `${baseUrl}/oauth/par`,
  scopes_supported: ALL_SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
  revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
  introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  authorization_response_iss_parameter_supported: true,
  protected_resources: [`${baseUrl}/api/v1`],
});

const resourceDocument = (baseUrl: string) => ({
  resource: `${baseUrl}/api/v1`,
  resource_name: 'Roster API',
  resource_documentation: `${baseUrl}/docs`,
  authorization_servers: [baseUrl],
  scopes_supported: ALL_SCOPES,
  bearer_methods_supported: ['header'],
});

const DOCUMENTS = [
  [SERVER, serverDocument],
  [RESOURCE, resourceDocument],
] as const;

// Whole documents, so that no member of OpenID Connect, or of what is switched off, is among them.
describe.for(DOCUMENTS)('%s', ([path, documentAt]) => {
  test('describes the server', async ({ api }) => {
    const answer = await api.anonymous.get(path);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(documentAt('http://localhost:3000'));
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json\b/),
      'x-request-id': expect.any(String),
      'ratelimit-limit': expect.any(String),
    });
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  const FOREIGN = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
  test.for<[what: string, prefix: string, headers: Record<string, string>]>([
    ['Host', '', { host: 'evil.example' }],
    ['Host with a port', '', { host: 'localhost:8080' }],
    ['X-Forwarded-Host', '', { 'x-forwarded-host': 'evil.example' }],
    ['X-Forwarded-Proto', '', { 'x-forwarded-proto': 'https' }],
    ['X-Forwarded-Prefix', '', { 'x-forwarded-prefix': '/evil' }],
    ['Forwarded', '', { forwarded: 'host=evil.example;proto=https' }],
    ['all of them', '', { ...FOREIGN, forwarded: 'host=evil.example' }],
    ['the target', 'http://evil.example', { host: 'evil.example' }],
    ['a target with another scheme', 'HTTPS://evil.example:8443', { host: 'evil.example' }],
  ])('is the same whatever is said in %s', async ([, prefix, headers], { api }) => {
    const answer = await api.anonymous.send({ method: 'GET', path: `${prefix}${path}`, headers });

    expect(answer.body).toEqual(documentAt('http://localhost:3000'));
  });

  test('can be read by every page, and answers its preflight', async ({ api }) => {
    const headers = { origin: 'https://anywhere.example' };
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'mcp-protocol-version' };

    const answer = await api.anonymous.send({ method: 'GET', path, headers });
    const preflight = await api.anonymous.send({ method: 'OPTIONS', path, headers: { ...headers, ...asked } });

    expect(preflight.status).toBe(204);
    for (const { headers: given } of [answer, preflight]) {
      expect(['*', 'https://anywhere.example']).toContain(given['access-control-allow-origin']);
      expect(given).not.toHaveProperty('access-control-allow-credentials');
    }
    expect(preflight.headers).toMatchObject({
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': expect.stringMatching(/^(?:\*|mcp-protocol-version)$/),
    });
  });

  test('answers HEAD as GET, and rejects other methods', async ({ api }) => {
    const [get, head] = [await api.anonymous.get(path), await api.anonymous.send({ method: 'HEAD', path })];

    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await api.anonymous.send({ method, path });
      expect(answer).toBeProblem('method_not_allowed');
      expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
    }
  });
});

test.for([
  '/.well-known/openid-configuration/',
  '/.well-known/oauth-authorization-server/',
  '/.well-known/oauth-authorization-server/api/v1',
  '/.well-known/OAuth-Authorization-Server',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/api/v1/',
  '/.well-known/oauth-protected-resource/API/v1',
  '/.well-known/oauth-protected-resource/api/v1/teams',
])('there is no %s', async (path, { api }) => {
  expect(await api.anonymous.get(path)).toBeProblem('route_not_found');
});

describe('what is switched on is in the documents', () => {
  /** Another instance on the same database. */
  async function documentsOf(api: Api, settings: Record<string, string>) {
    const other = await startApi(settings, api);
    const [server, resource] = [await other.anonymous.get(SERVER), await other.anonymous.get(RESOURCE)];
    await other.close();
    return [server.body, resource.body];
  }

  test('each of the switches, behind https', async ({ api }) => {
    const baseUrl = 'https://roster.example';
    const switches = { OAUTH_REGISTRATION: 'on', OAUTH_CLIENT_DOCUMENTS: 'on', OAUTH_DPOP: 'on' };

    const [server, resource] = await documentsOf(api, { BASE_URL: baseUrl, ...switches });

    expect(server).toEqual({
      ...serverDocument(baseUrl),
      registration_endpoint: `${baseUrl}/oauth/register`,
      client_id_metadata_document_supported: true,
      dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'],
    });
    expect(resource).toEqual({
      ...resourceDocument(baseUrl),
      dpop_bound_access_tokens_required: false,
      dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'],
    });
  });
});

// Guarantees that a client that knows the API alone finds its way: RFC 9728, section 5.1.
test('a 401 of the API names the document of the resource, which names the server', async ({ api }) => {
  const refused = await api.anonymous.get('/api/v1/me');
  expect(refused.status).toBe(401);
  const named = /^Bearer resource_metadata="([^"]+)"$/.exec(refused.headers['www-authenticate'] ?? '')?.[1] ?? '';
  expect(named).toBe(`http://localhost:3000${RESOURCE}`);

  const resource = await api.anonymous.get(new URL(named).pathname);
  expect(`${resource.body.resource}/me`).toBe('http://localhost:3000/api/v1/me');
  const [issuer = ''] = resource.body.authorization_servers;
  const server = await api.anonymous.get(new URL(SERVER, issuer).pathname);

  expect(server.body.issuer).toBe(issuer);
  const invalid = await api.as('rst_at_nothing').get('/api/v1/me');
  expect(invalid.headers['www-authenticate']).toBe(`Bearer error="invalid_token", resource_metadata="${named}"`);
});
