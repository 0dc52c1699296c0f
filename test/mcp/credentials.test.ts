import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { signedIn } from '../support/browser.ts';
import { connect } from './clients.ts';
import { anMcpToken, call, post } from './post.ts';

describe('credentials', () => {
  test('401 names the metadata and the scopes to begin with; the metadata names the resource', async ({ api }) => {
    for (const headers of [{}, { authorization: `Bearer rst_pk_${'0'.repeat(49)}` }]) {
      const response = await post(api, call('listTeams'), headers);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(
        /resource_metadata="http:\/\/localhost:3000\/\.well-known\/oauth-protected-resource\/mcp", scope="profile:read teams:read /,
      );
    }
    const metadata = await api.anonymous.get('/.well-known/oauth-protected-resource/mcp');
    expect(metadata.body).toMatchObject({
      resource: 'http://localhost:3000/mcp',
      authorization_servers: ['http://localhost:3000'],
      scopes_supported: ALL_SCOPES.filter((scope) => scope.endsWith(':read')),
    });
  });

  test('a token is accepted by the resource that it was issued for, and by no other', async ({ api }) => {
    const account = await api.anAccount();
    const forMcp = await anMcpToken(api, account, ['teams:read']);
    const forApi = await api.aGrant(account, { scopes: ['teams:read'] });
    const status = async (secret: string) =>
      (await post(api, call('listTeams'), { authorization: `Bearer ${secret}` })).status;

    expect([await status(forMcp.secret), await status(forApi.secret)]).toEqual([200, 401]);
    expect(await api.as(forMcp).get('/api/v1/teams')).toBeProblem('credential_invalid');
  });

  test('a session cookie is no credential', async ({ api }) => {
    const { cookies } = await signedIn(api, await api.anAccount());
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await post(api, call('listTeams'), { cookie })).status).toBe(401);
  });

  // Guarantees that clients can ask the user for more: they need to see the tool, and the scope that it lacks.
  test('a token without the scope of a call gets 403 with that scope; an API key does not see the tool', async ({
    api,
  }) => {
    const account = await api.anAccount();
    const token = await anMcpToken(api, account, ['teams:read']);
    const client = await connect(api, '2026-07-28', token.secret);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('createTeam');
    const response = await post(api, call('createTeam', { name: 'x' }), { authorization: `Bearer ${token.secret}` });
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toMatch(
      /error="insufficient_scope", scope="teams:write", resource_metadata="[^"]+\/mcp"/,
    );

    const key = await connect(api, '2026-07-28', (await api.anApiKey(account, { scopes: ['teams:read'] })).secret);
    expect((await key.listTools()).tools.map(({ name }) => name).toSorted()).toEqual([
      'getCredential',
      'getTeam',
      'listTeamAuditLog',
      'listTeamEvents',
      'listTeams',
    ]);
  });
});
