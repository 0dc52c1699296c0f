import { realpathSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect } from 'vitest';
import { packClient } from '../clients/packed-client.ts';
import { exampleFile, OLDEST_NODE } from '../examples/programs.ts';
import { signedIn } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { test } from './consent.ts';
import { runCommand, runProgram, startCommand, temporaryFolder } from './programs.ts';
import { commandsIn, commandsOf, MINUTES, NPM_ENVIRONMENT, rosterCommandsOf, runInRoster } from './readmes.ts';

// As `npm ci` does, before the service reads it.
beforeAll(() => packClient());

test('the React app runs in an empty folder by the commands of its README', MINUTES, async ({ api, browser }) => {
  const account = await api.anAccount();
  await api.aTeam({ owner: account, name: 'Engines' });
  const cwd = temporaryFolder();
  const commands = commandsOf('react-app', { 'http://localhost:3000': api.services.config.baseUrl });
  const app = startCommand(commands, { cwd, env: { ...NPM_ENVIRONMENT, NO_COLOR: '1' } });
  const [, url = ''] = await app.prints(/Local:\s+(http:\S+)/);

  const context = await browser.newContext();
  context.setDefaultTimeout(60_000);
  const { cookies } = await signedIn(api, account);
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url })));
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole('heading', { level: 1, name: 'Engines' }).waitFor();
  await page.getByLabel('Email').fill('charles@example.com');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByText('charles@example.com was invited.').waitFor();
});

test('the agent runs in an empty folder by the commands of its README', MINUTES, async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines' });
  const { secret } = await api.anApiKey(account, { scopes: ['teams:read'] });
  const commands = commandsOf('mcp-agent', {
    'http://localhost:3000': api.services.config.baseUrl,
    'rst_pk_…': secret,
  });
  const agent = startCommand(commands, { cwd: temporaryFolder(), env: NPM_ENVIRONMENT });
  expect([await agent.ended, agent.printed.stderr]).toEqual([0, expect.anything()]);
  expect(agent.printed.stdout).toContain('listTeams reads\n');
  expect(agent.printed.stdout).toContain(`${team.id} Engines\n`);
});

test('the Express API runs in an empty folder by the commands of its README', MINUTES, async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines' });
  const { secret } = await api.anApiKey(account, { scopes: ['teams:read'] });
  const created = await runInRoster(api, rosterCommandsOf('express-api'));
  const [operatorKey = ''] = /rst_ok_\w{49}/.exec(created) ?? [];
  const commands = commandsOf('express-api', {
    'http://localhost:3000': api.services.config.baseUrl,
    'rst_ok_…': operatorKey,
  });
  const PORT = String(await freePort());
  const server = startCommand(commands, { cwd: temporaryFolder(), env: { ...NPM_ENVIRONMENT, PORT } });
  await server.prints(/listening/);
  const call = commandsIn('express-api', /```sh\n(curl -i [\s\S]*?)```/, {
    'team_…': team.id,
    'localhost:4001': `127.0.0.1:${PORT}`,
  });
  const { stdout } = await runCommand(call, { env: { ROSTER_KEY: secret } });
  expect(stdout).toMatch(/^HTTP\/1.1 200 OK/);
  expect(stdout).toContain('Everything is fine in Engines.');
});

// Guarantees that the tests above are of the version that the README names, wherever the machine has it.
test('commands of a README run with the oldest Node.js of this machine', async () => {
  const { stdout } = await runCommand('node -p process.execPath; node --version');
  const [path = '', version = ''] = stdout.split('\n');
  expect([realpathSync(path), version]).toEqual([
    realpathSync(OLDEST_NODE),
    (await runProgram(OLDEST_NODE, ['--version'])).stdout.trim(),
  ]);
  expect(Number(/^v(\d+)/.exec(version)?.[1])).toBeLessThanOrEqual(Number(process.versions.node.split('.')[0]));
});

test('every example is in the archive that the service serves', async ({ api }) => {
  const cwd = temporaryFolder();
  const command = `curl -s ${api.services.config.baseUrl}/clients/examples.tgz | tar tz`;
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd });
  const tracked = await promisify(execFile)('git', ['ls-files', '.'], { cwd: exampleFile() });
  const files = tracked.stdout.split('\n').filter(Boolean);
  expect(files.length).toBeGreaterThan(20);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(files.map((file) => `package/${file}`)));
});
