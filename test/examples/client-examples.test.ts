import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { installPackedClient } from '../clients/packed-client.ts';
import { approveAt, denyAt } from '../oauth/visit.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { freePort } from '../support/service.ts';
import { exampleFile, runExample, startExample } from './programs.ts';

const test = testWith(() => startApiAtItsAddress());
const dir = mkdtempSync(join(tmpdir(), 'roster-examples-'));

beforeAll(async () => {
  await installPackedClient(dir, ['express', 'oauth4webapi', '@trpc/client', '@trpc/server']);
  for (const [folder, file] of [
    ['express-api', 'server.mjs'],
    ['express-api', 'roster.mjs'],
    ['oauth-web-app', 'app.mjs'],
  ] as const)
    cpSync(exampleFile(folder, file), join(dir, file));
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('the Express API answers members of the team, and no one else, from the next request on', async ({ api }) => {
  const [owner, stranger] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner, name: 'Engines' });
  const url = await startExample(join(dir, 'server.mjs'), { ROSTER_URL: api.services.config.baseUrl, PORT: '0' });
  const ask = (secret?: string, teamId = team.id) =>
    fetch(
      `${url}/teams/${teamId}/report`,
      secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } },
    );
  const key = await api.anApiKey(owner, { scopes: ['teams:read'] });

  expect(await (await ask(key.secret)).json()).toEqual({ report: 'Everything is fine in Engines.', role: 'owner' });
  const refused = [await ask(), await ask('rst_pk_x'), await ask((await api.anApiKey(stranger)).secret)];
  expect(refused.map(({ status, headers }) => [status, headers.get('www-authenticate')])).toEqual([
    [401, 'Bearer'],
    [401, 'Bearer'],
    [401, 'Bearer'],
  ]);
  await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
  expect((await ask(key.secret)).status).toBe(401);
});

test('the middlewares let no one in while Roster does not answer', async () => {
  const url = await startExample(join(dir, 'server.mjs'), { ROSTER_URL: 'http://127.0.0.1:9', PORT: '0' });
  const answer = await fetch(`${url}/teams/team_x/report`, {
    headers: { authorization: `Bearer rst_pk_${'0'.repeat(49)}` },
  });
  expect(answer.status).toBe(503);
});

test('the middlewares for Hono and for handlers of fetch hand on the sender', async ({ api }) => {
  const team = await api.aTeam({ owner: await api.anAccount() });
  const member = await api.anAccount();
  await api.aMember(team, member, { role: 'member' });
  const { secret } = await api.anApiKey(member, { scopes: ['teams:read'] });
  writeFileSync(
    join(dir, 'fetch.mjs'),
    `import { honoSender, withSender } from './roster.mjs';
    const options = { baseUrl: process.env.ROSTER_URL, teamId: '${team.id}' };
    const GET = withSender(options, (_request, sender) => Response.json(sender.team.role.id));
    const context = (raw) => ({ req: { raw }, set: (name, value) => (context[name] = value) });
    const request = (key) => new Request('http://api.test/', { headers: { authorization: 'Bearer ' + key } });
    const seen = [await (await GET(request('${secret}'))).json(), (await GET(request('x'))).status];
    await honoSender(options)(context(request('${secret}')), async () => seen.push(context.sender.team.role.id));
    seen.push((await honoSender(options)(context(request('x')), () => seen.push('let in'))).status);
    console.log(JSON.stringify(seen));`,
  );
  const { stdout, stderr } = await runExample(process.execPath, [join(dir, 'fetch.mjs')], {
    ROSTER_URL: api.services.config.baseUrl,
  });
  expect([stderr, stdout.trim()]).toEqual(['', '["member",401,"member",401]']);
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
    runExample(process.execPath, [exampleFile('mcp-agent', 'agent.mjs'), ...args], {
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
