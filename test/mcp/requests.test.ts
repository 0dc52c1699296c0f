import { describe, expect } from 'vitest';
import { test, startApi } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { signedIn } from '../support/browser.ts';
import { confirmed, connect } from './clients.ts';
import { call, codeOf, post } from './post.ts';

describe('requests', () => {
  test('of other origins are refused before anything else; listed ones can read the answer', async () => {
    const api = await startApi({ TRPC_ORIGINS: 'https://app.example' });
    const key = await api.anApiKey(await api.anAccount());
    const authorization = `Bearer ${key.secret}`;
    const foreign = await post(api, call('listTeams'), { authorization, origin: 'https://evil.example' });
    expect([foreign.status, await codeOf(foreign)]).toEqual([403, 'cross_site_request']);
    const listed = await post(api, call('listTeams'), { authorization, origin: 'https://app.example' });
    expect([listed.status, listed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
    await api.close();
  });

  test.for([undefined, '*/*', 'text/html, */*;q=0.1', 'application/json, text/event-stream'])(
    'that accept %s are answered',
    async (accept, { api }) => {
      const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });
      // `fetch` adds the header.
      const { status, text } = await api.as(secret).send({
        method: 'POST',
        path: '/mcp',
        headers: { 'content-type': 'application/json', ...(accept !== undefined && { accept }) },
        body: JSON.stringify(call('listTeams')),
      });
      expect([status, text]).toEqual([200, expect.stringContaining('"result"')]);
    },
  );

  test('each call of a batch consumes one request, and too many are refused', async () => {
    const api = await startApi({ RATE_LIMIT: '5' });
    const key = await api.anApiKey(await api.anAccount());
    const headers = { authorization: `Bearer ${key.secret}` };
    const batch = (length: number) =>
      post(api, Array.from({ length }, (_, id) => call('listTeams', {}, id)) as never, headers);

    expect((await batch(3)).headers.get('ratelimit-remaining')).toBe('2');
    const refused = await batch(3);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
    await api.close();
    const roomy = await startApi();
    const other = await roomy.anApiKey(await roomy.anAccount());
    const long = await post(roomy, Array.from({ length: 21 }, (_, id) => call('listTeams', {}, id)) as never, {
      authorization: `Bearer ${other.secret}`,
    });
    expect([long.status, await codeOf(long)]).toEqual([400, 'batch_too_large']);
    await roomy.close();
  });

  test('that are no JSON, too large, or of another method are problems with a request id', async ({ api }) => {
    const authorization = `Bearer ${(await api.anApiKey(await api.anAccount())).secret}`;
    const send = (init: RequestInit) =>
      fetch(`http://127.0.0.1:${api.port}/mcp`, { ...init, headers: { authorization, ...(init.headers as object) } });
    const json = { 'content-type': 'application/json' };
    const answers = [
      await send({ method: 'POST', body: '{', headers: json }),
      await send({ method: 'POST', body: JSON.stringify('x'.repeat(110_000)), headers: json }),
      await send({ method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } }),
      await send({ method: 'GET' }),
      await send({ method: 'DELETE' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 413, 415, 405, 405]);
    for (const answer of answers) expect(answer.headers.get('x-request-id')).toBeTruthy();
    for (const message of [null, 7, 'x', [], [null], {}, { jsonrpc: '2.0', method: 7 }])
      expect((await send({ method: 'POST', body: JSON.stringify(message), headers: json })).status).toBe(400);
  });

  test('a denied call is in the audit log with the credential, and a call in the access log with the tool', async ({
    api,
  }) => {
    const [owner, guest] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, guest, { role: 'guest' });
    const key = await api.anApiKey(guest, { scopes: ['teams:write'] });
    const client = await connect(api, '2026-07-28', key.secret);
    expect(await client.callTool({ name: 'updateTeam', arguments: { teamId: team.id, name: 'x' } })).toMatchObject({
      isError: true,
    });
    await api.denials.flush();
    expect(
      await api.rows(`select event, details->>'reason' as reason from audit_event where credential_id = $1`, [key.id]),
    ).toEqual([{ event: 'access.denied', reason: 'permission_missing' }]);
    expect(api.lines.some((line) => line['operation'] === 'updateTeam')).toBe(true);
  });

  test('the audit log names the OAuth client of a change, of a denied call, and of a key that it created', async ({
    api,
  }) => {
    const [owner, guest] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, guest, { role: 'guest' });
    const oauthClient = await api.anOAuthClient({ name: 'Planner' });
    const grantOf = async (account: { id: string }) => {
      const grant = await api.aGrant(account, { scopes: ['teams:write', 'api-keys:write'], client: oauthClient });
      await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [grant.id]);
      return grant;
    };
    const grants = [await grantOf(owner), await grantOf(guest)];
    for (const { secret } of grants)
      await confirmed(await connect(api, '2026-07-28', secret), 'updateTeam', { teamId: team.id, name: 'Mills' });
    const key = await api.anApiKey(owner, { scopes: ['teams:write'] });
    await api.rows('update api_key set oauth_grant_id = $2 where id = $1', [key.id, grants[0]?.id]);
    await confirmed(await connect(api, '2026-07-28', key.secret), 'updateTeam', { teamId: team.id, name: 'Engines' });
    await api.denials.flush();
    expect(
      await api.rows(
        'select event, actor_kind, credential_id, client_id from audit_event where credential_id = any($1) order by id',
        [[...grants.map(({ id }) => id), key.id]],
      ),
    ).toEqual(
      (
        [
          ['team.renamed', 'oauth_grant', grants[0]?.id],
          ['access.denied', 'oauth_grant', grants[1]?.id],
          ['team.renamed', 'api_key', key.id],
        ] as const
      ).map(([event, actor_kind, credential_id]) => ({ event, actor_kind, credential_id, client_id: oauthClient.id })),
    );
    const { events } = await (await signedIn(api, owner)).trpc.audit.list.query({ teamId: team.id });
    expect(events.find(({ actorKind }) => actorKind === 'oauth_grant')?.credentialName).toBe('Planner');
  });

  test('MCP=off: the path and its metadata do not exist; MCP_CREATE_API_KEY=on: the tool does', async () => {
    const off = await startApi({ MCP: 'off' });
    expect((await post(off, call('listTeams'))).status).toBe(404);
    expect((await off.anonymous.get('/.well-known/oauth-protected-resource/mcp')).status).toBe(404);
    await off.close();
    const on = await startApi({ MCP_CREATE_API_KEY: 'on' });
    const key = await on.anApiKey(await on.anAccount(), { scopes: ALL_SCOPES as never });
    const client = await connect(on, '2026-07-28', key.secret);
    const made = await client.callTool({ name: 'createApiKey', arguments: { name: 'CI', scopes: ['teams:read'] } });
    expect(made.structuredContent).toMatchObject({ secret: expect.stringMatching(/^rst_pk_/) });
    await on.close();
  });
});
