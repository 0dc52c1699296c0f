import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { installPackedClient } from '../clients/packed-client.ts';
import { approveAt, denyAt } from '../oauth/visit.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { OLDEST_NODE, exampleFile, runExample, startExample } from '../examples/programs.ts';

const test = testWith(() => startApiAtItsAddress());
const dir = mkdtempSync(join(tmpdir(), 'roster-examples-'));

beforeAll(async () => {
  await installPackedClient(dir, ['express', 'hono', 'oauth4webapi', '@trpc/client', '@trpc/server']);
  for (const [folder, file] of [
    ['express-api', 'server.mjs'],
    ['express-api', 'roster.mjs'],
    ['oauth-web-app', 'app.mjs'],
  ] as const)
    cpSync(exampleFile(folder, file), join(dir, file));
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The environment of an API that asks Roster who its callers are. */
const anApi = async (api: Api) => ({
  ROSTER_URL: api.services.config.baseUrl,
  ROSTER_OPERATOR_KEY: (await api.anOperatorKey({ scopes: ['credentials:verify'] })).secret,
});

test('the Express API answers members of the team, and no one else, from the next request on', async ({ api }) => {
  const [owner, stranger, guest] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner, name: 'Engines' });
  await api.aMember(team, guest, { role: 'guest' });
  const url = await startExample(join(dir, 'server.mjs'), { ...(await anApi(api)), PORT: '0' });
  const ask = (secret?: string) =>
    fetch(
      `${url}/teams/${team.id}/report`,
      secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } },
    );
  const key = await api.anApiKey(owner, { scopes: ['teams:read'] });

  expect(await (await ask(key.secret)).json()).toEqual({
    report: 'Everything is fine in Engines.',
    for: owner.email,
    role: 'owner',
  });
  const refused = [
    await ask(),
    await ask('rst_pk_x'),
    await ask((await api.anApiKey(stranger)).secret),
    await ask((await api.anApiKey(guest)).secret),
    await ask((await api.anApiKey(owner, { scopes: ['profile:read'] })).secret),
  ];
  expect(refused.map(({ status, headers }) => [status, headers.get('www-authenticate')])).toEqual([
    [401, 'Bearer'],
    [401, 'Bearer error="invalid_token"'],
    [404, null],
    [403, null],
    [403, 'Bearer error="insufficient_scope", scope="teams:read"'],
  ]);
  await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
  expect((await ask(key.secret)).status).toBe(401);
});

test('the middlewares let no one in while Roster does not answer, or the operator key is wrong', async ({ api }) => {
  for (const env of [
    { ROSTER_URL: 'http://127.0.0.1:9', ROSTER_OPERATOR_KEY: 'rst_ok_x' },
    { ROSTER_URL: api.services.config.baseUrl, ROSTER_OPERATOR_KEY: 'rst_ok_x' },
  ]) {
    const url = await startExample(join(dir, 'server.mjs'), { ...env, PORT: '0' });
    const answer = await fetch(`${url}/teams/team_x/report`, { headers: { authorization: 'Bearer rst_pk_x' } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  }
});

test('the middlewares for Hono and for handlers of fetch hand on the sender', async ({ api }) => {
  const team = await api.aTeam({ owner: await api.anAccount() });
  const member = await api.anAccount();
  await api.aMember(team, member, { role: 'member' });
  const { secret } = await api.anApiKey(member, { scopes: ['teams:read'] });
  writeFileSync(
    join(dir, 'fetch.mjs'),
    `import { createOperator } from '@roster/client';
    import { Hono } from 'hono';
    import { honoSender, withSender } from './roster.mjs';
    const { ROSTER_URL, ROSTER_OPERATOR_KEY } = process.env;
    const operator = createOperator({ baseUrl: ROSTER_URL, operatorKey: ROSTER_OPERATOR_KEY });
    const app = new Hono();
    app.use('/teams/:teamId', honoSender(operator, (context) => ({ teamId: context.req.param('teamId') })));
    app.get('/teams/:teamId', (context) => context.json(context.get('sender').role.id));
    const needs = async (_request, { params }) => ({ teamId: (await params).teamId });
    const GET = withSender(operator, needs, (_request, sender) => Response.json(sender.role.id));
    const request = (key) => new Request('http://api.test/teams/${team.id}', { headers: { authorization: 'Bearer ' + key } });
    const context = { params: Promise.resolve({ teamId: '${team.id}' }) };
    const seen = [];
    for (const key of ['${secret}', 'x'])
      for (const answer of [await app.request(request(key)), await GET(request(key), context)])
        seen.push(answer.status, await answer.json(), answer.headers.get('www-authenticate'));
    console.log(JSON.stringify(seen));`,
  );
  const { stdout, stderr } = await runExample(OLDEST_NODE, [join(dir, 'fetch.mjs')], await anApi(api));
  const granted = [200, 'member', null];
  const refused = [401, { error: 'credential_invalid' }, 'Bearer error="invalid_token"'];
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual([...granted, ...granted, ...refused, ...refused]);
});

test('the web app signs in for one team, shows its members, and signs out for good', async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines <&>' });
  await api.aTeam({ owner: account, name: 'Mills' });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const client = await api.anOAuthClient({ native: true, redirectUri: `${origin}/callback` });
  const url = await startExample(join(dir, 'app.mjs'), {
    ROSTER_URL: api.services.config.baseUrl,
    PORT: String(port),
    CLIENT_ID: client.id,
    ...(client.clientSecret !== null && { CLIENT_SECRET: client.clientSecret }),
  });
  let cookie = '';
  const open = async (path: string, method = 'GET') => {
    const answer = await fetch(new URL(path, url), { method, redirect: 'manual', headers: { cookie } });
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return { text: await answer.text(), location: answer.headers.get('location') ?? '', status: answer.status };
  };
  const authorizationUrl = async () => new URL((await open('/sign-in')).location);

  expect((await open('/')).text).toContain('Sign in with Roster');
  const denied = await open((await denyAt(api, await authorizationUrl())).href);
  expect([denied.status, denied.text]).toEqual([403, expect.stringContaining('access_denied')]);

  const before = cookie;
  const callback = await approveAt(api, await authorizationUrl(), { account, team });
  expect((await open(callback.href)).location).toBe('/');
  expect(cookie).not.toBe(before);
  const { text } = await open('/');
  expect(text).toContain('Engines &#60;&#38;&#62;');
  expect(text).toContain(account.email);
  expect(text).not.toContain('Mills');
  await open(callback.href); // a code is used once, and a second use changes nothing here
  expect((await open('/')).text).toContain('Engines');

  await open('/sign-out', 'POST');
  expect((await open('/')).text).toContain('Sign in with Roster');
  expect(await (await signedIn(api, account)).trpc.grants.list.query()).toEqual([]);
});

test('the Python script lists teams and members, waits for the rate limit, and names an error', async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines' });
  const member = await api.anAccount();
  await api.aMember(team, member, { role: 'guest' });
  const run = (ROSTER_KEY: string, ROSTER_URL = api.services.config.baseUrl) =>
    runExample('python3', [exampleFile('python-report', 'report.py')], { ROSTER_URL, ROSTER_KEY });

  const { secret } = await api.anApiKey(account, { scopes: ['teams:read', 'members:read'] });
  const report = await run(secret);
  expect(report).toMatchObject({ code: 0, stderr: '' });
  expect(report.stdout.split('\n').filter(Boolean).toSorted()).toEqual(
    ['Engines (owner)', `  ${account.email} Owner`, `  ${member.email} Guest`].toSorted(),
  );
  expect(await run('rst_pk_x')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^credential_invalid: .* \(request [\w-]+\)/),
  });

  let refusals = 1;
  const proxy = createServer((req, res) => {
    if (req.url?.endsWith('/teams') && refusals-- > 0) {
      res.writeHead(429, { 'retry-after': '0' }).end('{}');
      return;
    }
    void fetch(new URL(req.url ?? '', api.services.config.baseUrl), {
      headers: { authorization: req.headers.authorization ?? '' },
    }).then(async (answer) => res.writeHead(answer.status).end(await answer.text()));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo; // listening on TCP
  expect((await run(secret, `http://127.0.0.1:${port}`)).stdout).toBe(report.stdout);
});

test('the agent pages through teams, and removes a member only after a confirmation', async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines' });
  const member = await api.anAccount();
  await api.aMember(team, member, { role: 'member' });
  const { secret } = await api.anApiKey(account, { scopes: ['teams:read', 'members:read', 'members:write'] });
  const run = (...args: string[]) =>
    runExample(OLDEST_NODE, [exampleFile('mcp-agent', 'agent.mjs'), ...args], {
      ROSTER_URL: api.services.config.baseUrl,
      ROSTER_KEY: secret,
    });
  const isMember = async () =>
    (await api.rows('select from membership where team_id = $1 and account_id = $2', [team.id, member.id])).length;

  expect((await run()).stdout).toMatch(/^removeTeamMember destroys$/m);
  expect(await run('teams')).toMatchObject({ code: 0, stdout: `${team.id} Engines\n` });
  expect((await run('remove', team.id, member.id)).stdout).toContain('Nothing was changed');
  expect(await isMember()).toBe(1);
  expect(await run('remove', team.id, member.id, '--yes')).toMatchObject({ code: 0 });
  expect(await isMember()).toBe(0);
  expect(await run('remove', team.id, member.id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('member_not_found'),
  });
});
