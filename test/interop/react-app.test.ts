import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import type { Browser, Locator, Page } from 'playwright-core';
import { expect, test as base } from 'vitest';
import { build } from 'vite';
import { hashPassword } from '../../src/crypto/password-hash.ts';
import { installPackedClient } from '../clients/packed-client.ts';
import { startApi, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { launchBrowser } from '../support/chromium.ts';
import { setLastProof } from '../support/sessions.ts';
import { exampleFile } from '../examples/programs.ts';

const PASSWORD = 'correct horse battery staple';

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

/** Builds the app with the packed client. @returns its folder */
async function buildApp(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'roster-react-'));
  await installPackedClient(dir, ['react', 'react-dom', '@tanstack/react-query', '@trpc/client', '@trpc/server']);
  cpSync(exampleFile('react-app'), dir, { recursive: true });
  await build({ root: dir, configFile: false, logLevel: 'error', plugins: [react()], resolve: { dedupe: ['react'] } });
  return dir;
}

/** The app on an origin, which forwards `/trpc` to Roster. */
async function serveApp(dir: string) {
  let port = 0;
  const server = createServer((req, res) => {
    const { url = '/', method, headers } = req;
    if (url.startsWith('/trpc')) {
      const upstream = request({ host: '127.0.0.1', port, path: url, method, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      });
      upstream.on('error', () => res.destroy());
      req.pipe(upstream);
      return;
    }
    const path = new URL(url, 'http://app.test').pathname;
    const file = path === '/' ? '/index.html' : path;
    res.setHeader('content-type', TYPES[file.split('.').at(-1) ?? ''] ?? 'text/plain');
    res.end(readFileSync(join(dir, 'dist', file)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // listening on TCP
    forwardTo: (to: number) => void (port = to),
    close: () => server.close(),
  };
}

const test = base.extend<{
  api: Api;
  browser: Browser;
  open: (account: { id: string }, path?: string) => Promise<Page>;
}>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const dir = await buildApp();
      const app = await serveApp(dir);
      const api = await startApi({ BASE_URL: app.url });
      app.forwardTo(api.port);
      await use(api);
      await api.close();
      app.close();
      rmSync(dir, { recursive: true, force: true });
    },
    { scope: 'file' },
  ],
  browser: [
    // eslint-disable-next-line no-empty-pattern -- as above
    async ({}, use) => {
      const browser = await launchBrowser();
      await use(browser);
      await browser.close();
    },
    { scope: 'file' },
  ],
  open: async ({ api, browser }, use) => {
    const errors: string[] = [];
    await use(async (account, path = '/') => {
      const { baseUrl } = api.services.config;
      const context = await browser.newContext({ locale: 'en-GB' });
      context.setDefaultTimeout(15_000);
      const { cookies } = await signedIn(api, account);
      await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: baseUrl })));
      const page = await context.newPage();
      page.on('pageerror', (error) => errors.push(String(error)));
      await page.goto(baseUrl + path);
      return page;
    });
    expect(errors).toEqual([]);
  },
});

test('the team switcher remembers the team, and forgets one that the user has left', async ({ api, open }) => {
  const account = await api.anAccount();
  const owner = await api.anAccount();
  await api.aTeam({ owner: account, name: 'Engines' });
  const mills = await api.aTeam({ owner, name: 'Mills' });
  await api.aMember(mills, account, { role: 'member' });
  const page = await open(account);
  await page.getByRole('heading', { level: 1, name: 'Engines' }).waitFor();
  await page.getByLabel('Team', { exact: true }).selectOption('Mills');
  await page.getByRole('heading', { level: 1, name: 'Mills' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Mills' }).waitFor();
  await api.rows('delete from membership where team_id = $1 and account_id = $2', [mills.id, account.id]);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Engines' }).waitFor();
});

test('the members table searches, orders, pages, gives roles and removes', async ({ api, open }) => {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const members = [];
  for (let n = 0; n < 24; n += 1) {
    const member = await api.anAccount();
    await api.aMember(team, member, { role: 'member' });
    members.push(member);
  }
  const [member] = members;
  const page = await open(owner);
  await page.getByRole('heading', { name: 'Members (25)' }).waitFor();
  expect(await page.getByRole('row').count()).toBe(21);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('2 / 2').waitFor();
  expect(await page.getByRole('row').count()).toBe(6);

  await page.getByRole('button', { name: 'Role', exact: true }).click();
  await page.getByRole('button', { name: 'Role', exact: true }).click();
  await page.getByRole('button', { name: 'Previous' }).click();
  expect(await page.getByRole('row').nth(1).innerText()).toContain(owner.email);

  await page.getByLabel('Search').fill(member?.email.toUpperCase() ?? '');
  await page.getByRole('heading', { name: 'Members (1)' }).waitFor();
  await page.getByLabel(`Role of ${member?.email}`).selectOption('Guest');
  await expect.poll(() => page.getByLabel(`Role of ${member?.email}`).inputValue()).toBe('guest');
  await page.getByRole('button', { name: `Remove ${member?.email}` }).click();
  await page.getByRole('heading', { name: 'Members (0)' }).waitFor();
  expect(await api.rows('select role_id from membership where account_id = $1', [member?.id])).toEqual([]);
});

test('the invite form shows what is wrong where it is, invites, and an invited person joins once', async ({
  api,
  open,
}) => {
  const [owner, invited] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner, name: 'Engines' });
  const { trpc } = await signedIn(api, owner);
  await trpc.roles.create.mutate({ teamId: team.id, name: 'Accounting', permissions: [] });
  const page = await open(owner);
  await page.getByLabel('Email').fill('nobody');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByText('This is not an email address.').waitFor();
  expect(await page.getByLabel('Email').inputValue()).toBe('nobody');

  await page.getByLabel('Email').fill(`  ${invited.email}`);
  await page.getByRole('combobox', { name: 'Role', exact: true }).selectOption('Accounting');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByText(`${invited.email} was invited.`).waitFor();
  await page.getByRole('button', { name: `Revoke ${invited.email}` }).waitFor();
  expect(await page.getByText('This is not an email address.').count()).toBe(0);

  const { text } = await api.mailTo(invited.email);
  const token = /token=([\w-]+)/.exec(text)?.[1] ?? '';
  const theirs = await open(invited, `/?token=${token}`);
  await theirs.getByRole('button', { name: 'Join Engines as Accounting' }).click();
  await theirs.getByText('You are in Engines.').waitFor();
  await theirs.goto(api.services.config.baseUrl);
  await theirs.getByRole('heading', { level: 1, name: 'Engines' }).waitFor();

  const wrong = await open(invited, '/?token=x');
  await wrong.getByRole('alert').waitFor();
});

test('two clicks before the page shows that the first one runs are one call', async ({ api, open }) => {
  const [owner, invited] = [await api.anAccount(), await api.anAccount()];
  await api.aTeam({ owner, name: 'Engines' });
  const page = await open(owner);
  const calls = callsOf(page);
  await page.getByLabel('Email').fill(invited.email);
  await twice(page.getByRole('button', { name: 'Invite', exact: true }));
  await page.getByText(`${invited.email} was invited.`).waitFor();
  await page.getByRole('button', { name: 'Invite', exact: true }).click(); // of an empty address, after the answer
  await page.getByRole('button', { name: `Revoke ${invited.email}` }).waitFor();
  expect(calls.filter((name) => name === 'createTeamInvitation')).toHaveLength(1);
  expect(await page.getByRole('alert').count()).toBe(0);

  const { text } = await api.mailTo(invited.email);
  const theirs = await open(invited, `/?token=${/token=([\w-]+)/.exec(text)?.[1]}`);
  const answers = callsOf(theirs);
  await twice(theirs.getByRole('button', { name: 'Join Engines' }));
  await theirs.getByText('You are in Engines.').waitFor();
  expect(answers.filter((name) => name === 'invitations.accept')).toHaveLength(1);
});

test('a user without a team creates one, and is shown it', async ({ api, open }) => {
  const page = await open(await api.anAccount());
  await page.getByText('You are not in a team yet.').waitFor();
  await page.getByRole('button', { name: 'Create team' }).click();
  await page.getByRole('alert').waitFor(); // a team needs a name
  await page.getByLabel('Team name').fill('Engines');
  const calls = callsOf(page);
  await twice(page.getByRole('button', { name: 'Create team' }));
  await page.getByRole('heading', { level: 1, name: 'Engines' }).waitFor();
  expect(calls.filter((name) => name === 'createTeam')).toHaveLength(1);
});

// Guarantees that nothing that needs a recent proof fails, or is done without one.
test('a key is created after the password that it needs, and the call is not lost', async ({ api, open }) => {
  const account = await api.anAccount();
  await api.aTeam({ owner: account, name: 'Engines' });
  await api.rows('update account set password_hash = $2 where id = $1', [account.id, await hashPassword(PASSWORD)]);
  const page = await open(account);
  await setLastProof(api, 11, account);
  const mine = page.getByRole('region', { name: 'My keys' });
  await mine.getByLabel('Key name').fill('CI');
  await mine.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await mine.getByRole('alert').waitFor();
  expect(await api.rows('select name from api_key where account_id = $1', [account.id])).toEqual([]);

  await mine.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Your password').fill('not the password');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByLabel('Your password').fill(PASSWORD); // asked again
  await page.getByRole('button', { name: 'Confirm' }).click();
  const secret = await mine.getByRole('status').locator('code').innerText();
  expect(await api.rows('select name, team_id from api_key where account_id = $1', [account.id])).toEqual([
    { name: 'CI', team_id: null },
  ]);
  const answer = await fetch(`${api.services.config.baseUrl}/trpc/listTeams`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(answer.status).toBe(200);
  await mine.getByRole('button', { name: 'Revoke CI' }).click();
  await mine.getByRole('listitem').waitFor({ state: 'detached' });
  expect(await api.rows('select from api_key where account_id = $1 and revoked_at is null', [account.id])).toEqual([]);
});

test('the owner of a team revokes a key of the team that another member has created', async ({ api, open }) => {
  const [owner, member] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner, name: 'Engines' });
  await api.aMember(team, member, { role: 'member' });
  const theirs = await api.anApiKey(member, { team });
  const page = await open(owner);
  const keys = page.getByRole('region', { name: 'Keys of the team' });
  await keys.getByRole('button', { name: /^Revoke/ }).click();
  await keys.getByRole('listitem').waitFor({ state: 'detached' });
  expect(await keys.getByRole('alert').count()).toBe(0);
  expect(await api.rows('select from api_key where id = $1 and revoked_at is null', [theirs.id])).toEqual([]);
});

/** The procedures that a page calls from now on; one request can have several. */
function callsOf(page: Page): string[] {
  const calls: string[] = [];
  page.on('request', (sent) => {
    const { pathname } = new URL(sent.url());
    if (pathname.startsWith('/trpc/')) calls.push(...pathname.slice('/trpc/'.length).split(','));
  });
  return calls;
}

const twice = (button: Locator) =>
  button.evaluate((element: { click: () => void }) => {
    element.click();
    element.click();
  });
