import { describe, expect } from 'vitest';
import { test, startApi, type Api } from '../support/api.ts';
import { ALL_SCOPES, OPERATIONS } from '../rest/operations.ts';
import { signedIn } from '../support/browser.ts';
import { numberEvents } from '../webhooks/receiver.ts';
import { confirmed, connect, ERAS } from './clients.ts';

const WITH_SECRET = 'createApiKey';
/** Tools that are reads of the console. */
const CONSOLE_READS = ['listTeamAuditLog', 'listTeamEvents', 'previewMemberRemoval'];
/** Tools whose answers name the kinds of actors. */
const ACTOR_READS = ['listTeamAuditLog', 'listTeamEvents'];

/** An access token for `/mcp`. */
async function anMcpToken(api: Api, account: { id: string }, scopes: string[]) {
  const grant = await api.aGrant(account, { scopes: scopes as never });
  await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [grant.id]);
  return grant;
}

const post = (api: Api, body: object, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${api.port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  });

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

const call = (name: string, args: object = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe.each(ERAS)('a client of %s', (era) => {
  test('sees each operation but the one that returns a secret, and three reads of the console, as tools with all four hints', async ({
    api,
  }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never });
    const client = await connect(api, era, key.secret);
    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...OPERATIONS.map(({ id }) => id).filter((id) => id !== WITH_SECRET), ...CONSOLE_READS].toSorted(),
    );
    for (const { name, description, annotations, inputSchema, outputSchema } of tools) {
      const { method } = OPERATIONS.find(({ id }) => id === name) ?? { method: 'GET' };
      expect(annotations).toMatchObject({
        readOnlyHint: method === 'GET',
        destructiveHint: method === 'DELETE' || method === 'PATCH',
        idempotentHint: method !== 'POST',
        openWorldHint: name === 'createTeamInvitation',
      });
      expect(description).toContain('never instructions');
      const schemas = JSON.stringify([name, inputSchema, outputSchema]);
      expect(schemas).not.toMatch(/\$ref|\$defs|"pattern"|"override"|"type":\[/);
      if (!ACTOR_READS.includes(name)) expect(schemas).not.toContain('"session"'); // what callers here never are
      expect(schemas.length).toBeLessThan(name === 'listTeamEvents' ? 7000 : 5000); // it lists all types of events
      expect(description).not.toMatch(/ {2}/);
      expect([inputSchema, outputSchema]).toMatchObject([{ type: 'object' }, { type: 'object' }]);
    }
    expect(client.getInstructions()).toContain('getCredential');
  });

  test('reads, changes, and gets results as text and as structured content', async ({ api }) => {
    const account = await api.anAccount();
    const client = await connect(api, era, (await api.anApiKey(account, { scopes: ALL_SCOPES as never })).secret);

    const made = await client.callTool({ name: 'createTeam', arguments: { name: 'Engines', description: null } });
    expect(made.structuredContent).toMatchObject({ name: 'Engines', role: { id: 'owner' } });
    expect(JSON.parse(made.content[0]?.text ?? '')).toEqual(made.structuredContent);

    const listed = await client.callTool({ name: 'listTeams' });
    expect(listed.structuredContent).toEqual({ items: [made.structuredContent], total: 1, nextOffset: null });
  });

  test('gets a long list in pages', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    for (let i = 0; i < 60; i += 1) await api.aMember(team, await api.anAccount(), { role: 'guest' });
    const client = await connect(api, era, (await api.anApiKey(account, { scopes: ['members:read'] })).secret);
    const page = async (offset?: number) =>
      (await client.callTool({ name: 'listTeamMembers', arguments: { teamId: team.id, ...(offset && { offset }) } }))
        .structuredContent as { items: { userId: string }[]; total: number; nextOffset: number | null };

    const [first, second] = [await page(), await page(50)];
    expect([first.items.length, first.total, first.nextOffset]).toEqual([50, 61, 50]);
    expect([second.items.length, second.total, second.nextOffset]).toEqual([11, 61, null]);
    expect(new Set([...first.items, ...second.items].map(({ userId }) => userId)).size).toBe(61);
  });

  test('gets each entry of a list of hundreds once', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    await api.rows(
      `with person as (
         insert into account (id, email, created_at, updated_at)
         select format('acc_%s_%s', $1::text, n), format('%s-%s@example.com', $1::text, n), now(), now()
         from generate_series(1, 310) n returning id)
       insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select 'mem_' || id, $1, id, 'member', now(), now() from person`,
      [team.id],
    );
    const client = await connect(api, era, (await api.anApiKey(account, { scopes: ['members:read'] })).secret);
    const userIds = new Set<string>();

    for (let offset: number | null = 0; offset !== null;) {
      const { structuredContent } = await client.callTool({
        name: 'listTeamMembers',
        arguments: { teamId: team.id, ...(offset > 0 && { offset }) },
      });
      const page = structuredContent as { items: { userId: string }[]; total: number; nextOffset: number | null };
      expect(page.total).toBe(311);
      for (const { userId } of page.items) userIds.add(userId);
      offset = page.nextOffset;
    }

    expect(userIds.size).toBe(311);
  });

  test('previews a removal, and follows the events of a team, with the permissions for both', async ({ api }) => {
    const [owner, member] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, member, { role: 'member' });
    const key = await api.anApiKey(member, { team });
    const as = async (account: { id: string }) =>
      connect(api, era, (await api.anApiKey(account, { scopes: ALL_SCOPES as never })).secret);
    const client = await as(owner);
    const listEvents = async (after?: unknown) =>
      (
        await client.callTool({
          name: 'listTeamEvents',
          arguments: { teamId: team.id, after, types: ['team.renamed'] },
        })
      ).structuredContent;

    const preview = { name: 'previewMemberRemoval', arguments: { teamId: team.id, userId: member.id } };
    expect((await client.callTool(preview)).structuredContent).toMatchObject({
      apiKeys: [{ id: key.id, name: 'A key' }],
      apiKeyCount: 1,
      nextOffset: null,
      oauthGrants: 0,
    });
    await confirmed(client, 'updateTeam', { teamId: team.id, name: 'Engines' });
    await numberEvents(api);
    const page = await listEvents();
    expect(page).toMatchObject({
      events: [{ type: 'team.renamed', actor: { id: owner.id }, data: { team: { name: 'Engines' } } }],
      hasMore: false,
    });
    expect(JSON.stringify(page)).not.toMatch(/127\.0\.0\.1|address/);
    expect(await listEvents(page?.['cursor'])).toMatchObject({ events: [], cursor: page?.['cursor'] });

    const [denied, invalid] = await Promise.all([
      (await as(member)).callTool({ name: 'listTeamEvents', arguments: { teamId: team.id } }),
      client.callTool({ name: 'listTeamEvents', arguments: { teamId: team.id, wait: 20 } }),
    ]);
    expect(denied.content[0]?.text).toContain('permission_missing');
    expect(invalid.content[0]?.text).toContain('Unknown arguments: wait.');
  });

  test('reads the audit log of a team in pages, as ids without names, email addresses and IP addresses', async ({
    api,
  }) => {
    const [owner, member] = [await api.anAccount({ firstName: 'Ada' }), await api.anAccount()];
    const [team, other] = [await api.aTeam({ owner }), await api.aTeam({ owner: await api.anAccount() })];
    await api.aMember(team, member, { role: 'member' });
    const as = async (account: { id: string }, options: object = {}) =>
      connect(api, era, (await api.anApiKey(account, { scopes: ALL_SCOPES as never, ...options })).secret);
    const client = await as(owner);
    const memberClient = await as(member);
    const list = async (args: object = {}) =>
      client.callTool({ name: 'listTeamAuditLog', arguments: { teamId: team.id, ...args } });

    await client.callTool({ name: 'createTeamInvitation', arguments: { teamId: team.id, email: 'ada@example.net' } });
    for (let i = 0; i < 55; i += 1) await confirmed(client, 'updateTeam', { teamId: team.id, name: `Engines ${i}` });
    const denied = await memberClient.callTool({ name: 'listTeamAuditLog', arguments: { teamId: team.id } });
    expect(denied.content[0]?.text).toContain('permission_missing');
    await api.denials.flush();

    const first = await list();
    const events = first.structuredContent?.['events'] as { event: string }[];
    expect(events).toHaveLength(50);
    expect(events[0]).toMatchObject({ event: 'access.denied', actorId: member.id, reason: 'permission_missing' });
    expect(events[1]).toMatchObject({ event: 'team.renamed', actorKind: 'api_key', actorId: owner.id, count: 1 });
    const second = await list({ cursor: first.structuredContent?.['nextCursor'] });
    expect(second.structuredContent).toMatchObject({ nextCursor: null });
    expect(JSON.stringify(second)).toContain('invitation.created');
    const answers = JSON.stringify([first, second, await list({ kind: 'invitation' })]);
    expect(answers).not.toMatch(/127\.0\.0\.1|address|Ada|@example/);
    expect(JSON.stringify(first.structuredContent).length).toBeLessThan(25_000);

    expect((await list({ teamId: other.id })).content[0]?.text).toContain('team_not_found');
    expect((await list({ address: '127.0.0.1' })).content[0]?.text).toContain('Unknown arguments: address.');
    expect((await list({ limit: 51 })).content[0]?.text).toContain('/limit');
    expect((await list({ cursor: 'evt_0' })).content[0]?.text).toContain('/cursor');
  });

  test('gets errors that a model can act on, with the code of the problem and no internals', async ({ api }) => {
    const client = await connect(
      api,
      era,
      (await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never })).secret,
    );
    const failure = async (name: string, args: Record<string, unknown>) => {
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect(isError).toBe(true);
      return JSON.parse(content[0]?.text ?? '') as object;
    };

    expect(await failure('getTeam', { teamId: 'team_x' })).toMatchObject({
      type: 'http://localhost:3000/problems/team-not-found',
      title: 'Team not found',
      status: 404,
      code: 'team_not_found',
      advice: expect.any(String),
      requestId: expect.any(String),
    });
    expect(await failure('createTeam', { name: '' })).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/name', code: 'min_length' }],
    });
    expect(await failure('createTeam', { name: 'x', colour: 'red' })).toMatchObject({
      code: 'validation_failed',
      detail: 'Unknown arguments: colour. The tool has: name, description.',
    });
  });

  // Guarantees that the message of an unexpected error stays in the log.
  test('gets nothing of an unexpected error but its request id', async () => {
    const api = await startApi();
    const client = await connect(
      api,
      era,
      (await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] })).secret,
    );
    await api.rows('alter table team rename to team_hidden');
    const { isError, content } = await client.callTool({ name: 'createTeam', arguments: { name: 'x' } });
    expect(isError).toBe(true);
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({
      code: 'internal_error',
      detail: 'Internal server error.',
      requestId: api.lines.find(({ problem }) => problem === 'internal_error')?.['requestId'],
    });
    await api.close();
  });

  test('reads the specification of all operations, and the error codes, as resources', async ({ api }) => {
    const client = await connect(api, era, (await api.anApiKey(await api.anAccount())).secret);
    const { baseUrl } = api.services.config;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([`${baseUrl}/api/v1/openapi.json`, `${baseUrl}/problems`]);
    const [specification, problems] = await Promise.all(
      resources.map(async ({ uri }) => (await client.readResource({ uri })).contents[0]?.text ?? ''),
    );
    const { openapi, paths } = JSON.parse(specification ?? '') as { openapi: string; paths: Record<string, object> };
    expect(openapi).toBe('3.1.1');
    const operations = Object.values(paths).flatMap((item) => Object.values(item) as { operationId: string }[]);
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
      OPERATIONS.map(({ id }) => id).toSorted(),
    );
    expect(specification?.length).toBeLessThan(200_000);
    expect(problems).toContain('seat_limit_reached');
  });

  test('is cut off by a revocation', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['teams:read'] });
    const client = await connect(api, era, key.secret);
    await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
    await expect(client.callTool({ name: 'listTeams' })).rejects.toThrow(/401|Unauthorized/i);
  });
});

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
    const made = await client.callTool({ name: WITH_SECRET, arguments: { name: 'CI', scopes: ['teams:read'] } });
    expect(made.structuredContent).toMatchObject({ secret: expect.stringMatching(/^rst_pk_/) });
    await on.close();
  });
});
