import { describe, expect } from 'vitest';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { connect } from './clients.ts';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const post = (api: Api, secret: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${api.port}/mcp`, {
    method: 'POST',
    headers: { ...HEADERS, authorization: `Bearer ${secret}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const call = (name: unknown, args: unknown = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** A call with an argument that is nested `levels` deep. */
const nested = (name: string, levels: number) =>
  JSON.stringify(call(name, { teamId: 0 })).replace('0}', `${'['.repeat(levels)}${']'.repeat(levels)}}`);

/** Tools that concern the whole account. */
const OF_ACCOUNT = [
  'getMe',
  'updateMe',
  'listMySessions',
  'revokeMySession',
  'createTeam',
  'listApiKeys',
  'updateApiKey',
  'revokeApiKey',
];

describe('a stranger', () => {
  test('gets a short answer to messages of any shape, and the service logs no error', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never });
    const long = 'x'.repeat(90_000);
    const bad: readonly (readonly [body: unknown, status: number, says: string])[] = [
      [nested('listTeams', 45_000), 400, 'nested deeper'],
      [nested('updateTeam', 33), 400, 'nested deeper'],
      [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, 400, 'nested deeper'],
      [nested('getTeam', 5), 200, '/teamId'],
      [call(long), 400, '/params/name'],
      [{ jsonrpc: '2.0', id: 1, method: long }, 400, '/method'],
      [{ jsonrpc: '2.0', id: long, method: 'ping' }, 400, '/id'],
      [{ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: long } }, 400, '/params/uri'],
      [[call('listTeams'), call(long)], 400, '/params/name'],
      [call('removeEverything'), 200, 'not found'],
      [call({ toString: 1 }), 200, 'name'],
      [call(7), 200, 'name'],
      [call('listTeams', 'x'), 200, 'arguments'],
      [call('__proto__'), 200, 'error'],
      [{ jsonrpc: '2.0', id: 1, method: { toString: 1 } }, 400, 'error'],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: 'x' }, 400, 'error'],
      [[call('listTeams'), 7], 400, 'invalid message'],
    ];
    for (const [body, status, says] of bad) {
      const response = await post(api, secret, body);
      const text = await response.text();
      expect([response.status, text]).toEqual([status, expect.stringContaining(says)]);
      expect(text.length).toBeLessThan(2000);
    }
    expect((await post(api, secret, call('listTeams'))).status).toBe(200);
    expect(api.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  // DNS rebinding: the page reaches the service, but by its own name, which is its origin.
  test('cannot reach it from a page whose name leads to the address of the service', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());
    for (const origin of [
      'http://evil.example',
      `http://evil.example:${api.port}`,
      'null',
      `http://127.0.0.1:${api.port}`,
    ])
      for (const body of [call('listTeams'), '{', long()])
        expect((await post(api, secret, body, { origin })).status).toBe(403);
  });

  test('has every call of 200 at once counted, by all that share a token', async () => {
    const api = await startApi({ RATE_LIMIT: '150' });
    const { secret } = await api.anApiKey(await api.anAccount());
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await post(api, secret, call('listTeams'));
        await response.text();
        return response.status;
      }),
    );
    const count = (status: number) => statuses.filter((one) => one === status).length;
    expect([count(200), count(429)]).toEqual([150, 50]);
    await api.close();
  });

  test('who hangs up harms nobody: others are answered, and the service logs no error', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());
    const gone = Array.from({ length: 60 }, (_, n) => {
      const over = new AbortController();
      const answer = fetch(`http://127.0.0.1:${api.port}/mcp`, {
        method: 'POST',
        signal: over.signal,
        headers: { ...HEADERS, authorization: `Bearer ${secret}` },
        body: JSON.stringify(call('listTeams')),
      }).then((response) => response.text());
      setTimeout(() => over.abort(), n % 7);
      return answer.catch(() => 'gone');
    });
    await Promise.all(gone);
    expect((await post(api, secret, call('listTeams'))).status).toBe(200);
    expect(api.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('learns nothing of a team of others: each tool answers as for one that does not exist', async ({ api }) => {
    const foreign = await api.aTeam({ owner: await api.anAccount() });
    const client = await connect(
      api,
      '2026-07-28',
      (await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never })).secret,
    );
    const { tools } = await client.listTools();
    const ofTeams = tools.filter(({ inputSchema }) =>
      (inputSchema as { required?: string[] }).required?.includes('teamId'),
    );
    expect(ofTeams.length).toBeGreaterThan(10);
    const others = { name: 'Mine', userId: 'acc_x', email: 'a@example.com', invitationId: 'inv_x' };
    for (const { name, inputSchema } of ofTeams) {
      const known = Object.keys((inputSchema as { properties: object }).properties);
      const given = Object.fromEntries(Object.entries(others).filter(([key]) => known.includes(key)));
      const answers = await Promise.all(
        [foreign.id, 'team_x'].map(async (teamId) => {
          const { isError, content } = await client.callTool({ name, arguments: { ...given, teamId } });
          const { code, detail } = JSON.parse(content[0]?.text ?? '') as { code: string; detail: string };
          return [name, isError, code, detail];
        }),
      );
      expect(answers[0]).toEqual([name, true, 'team_not_found', expect.any(String)]);
      expect(answers[0]).toEqual(answers[1]);
    }
  });
});

const long = () => JSON.stringify('x'.repeat(110_000));

describe('a credential of one team', () => {
  test('is offered no tool of the account, and is told why if it calls one', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { team, scopes: ['teams:read', 'teams:write', 'members:read'] });
    const client = await connect(api, '2026-07-28', key.secret);
    expect(
      (await client.listTools()).tools.map(({ name }) => name).filter((name) => OF_ACCOUNT.includes(name)),
    ).toEqual([]);
    const { isError, content } = await client.callTool({ name: 'createTeam', arguments: { name: 'Mills' } });
    expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining('team_credential_refused')]);
  });

  // Guarantees that clients do not ask the user for ever for a scope that such a grant never has.
  test('of an application is not asked for a scope that would not help', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const grant = await api.aGrant(owner, { scopes: ['teams:read', 'profile:write'], team });
    await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [grant.id]);
    const client = await connect(api, '2026-07-28', grant.secret);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => OF_ACCOUNT.includes(name))).toEqual([]);
    expect(names).toContain('removeTeamMember'); // for which it can get the scope
    for (const name of OF_ACCOUNT) {
      const response = await post(api, grant.secret, call(name));
      expect([name, response.status, await response.text()]).toEqual([
        name,
        200,
        expect.stringMatching(/team_credential_refused|scope_missing/),
      ]);
    }
    const response = await post(api, grant.secret, call('removeTeamMember'));
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="members:write"'),
    ]);
  });
});

test('an API key that calls a tool beyond its scopes is told the scope', async ({ api }) => {
  const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });
  const client = await connect(api, '2026-07-28', secret);
  const { isError, content } = await client.callTool({ name: 'createTeam', arguments: { name: 'Mills' } });
  expect([isError, content[0]?.text]).toEqual([true, expect.stringMatching(/scope_missing.*teams:write/)]);
});
