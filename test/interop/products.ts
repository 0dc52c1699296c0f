import type { Browser, Page } from 'playwright-core';
import { hashPassword } from '../../src/crypto/password-hash.ts';
import { startApiAtItsAddress, type Api } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { startCommand, temporaryFolder } from './programs.ts';
import { commandsIn, commandsOf, NPM_ENVIRONMENT, rosterCommandsOf, runInRoster } from './readmes.ts';

export const PASSWORD = 'correct horse battery staple';

/** The commands that name the client, which the first ones print. */
const SET_LOGOUT = /session has ended:\s+```sh\n([\s\S]*?)```/;

type Example = {
  /** Of the product, in the README. */
  readonly port: number;
  /** What it prints when it listens. */
  readonly prints: (appUrl: string) => RegExp;
  readonly env?: Readonly<Record<string, string>>;
};

/** Starts a service under a host name of its own, as browsers see it. */
export const startApiAtAName = (settings: Record<string, string> = {}) =>
  startApiAtItsAddress(settings, 'auth.localhost');

/** Starts a product by the commands of its README, under another host name. */
export async function startProduct(api: Api, example: string, { port, prints, env = {} }: Example) {
  const at = String(await freePort());
  const appUrl = `http://app.localhost:${at}`;
  const addresses = { [port]: at };
  const created = await runInRoster(api, rosterCommandsOf(example, addresses));
  const find = (pattern: RegExp): string => pattern.exec(created)?.[0] ?? '';
  const values = {
    ...addresses,
    'http://auth.localhost:3000': api.services.config.baseUrl,
    'http://localhost:3000': `http://127.0.0.1:${api.port}`,
    'client_…': find(/client_\w+/),
    'rst_cs_…': find(/rst_cs_\w{40,}/),
    'rst_ok_…': find(/rst_ok_\w{40,}/),
  };
  await runInRoster(api, commandsIn(example, SET_LOGOUT, values));
  const product = startCommand(commandsOf(example, values), {
    cwd: temporaryFolder(),
    env: { ...NPM_ENVIRONMENT, ...env },
  });
  await product.prints(prints(appUrl));
  // This process may not resolve the name, as the servers of products.
  return { appUrl, serverUrl: `http://127.0.0.1:${at}`, printed: product.printed };
}

/** Somebody who can sign in by a password. */
export async function withPassword(api: Api) {
  const account = await api.anAccount();
  await api.rows('update account set password_hash = $2 where id = $1', [account.id, await hashPassword(PASSWORD)]);
  return account;
}

export async function openPage(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(url);
  return page;
}

/** Signs in on the pages of Roster, and confirms, as in development. */
export async function signInAtRoster(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: `Continue as ${email}` }).click();
}

/** Records the requests of a page for other things than its files: documents as `GET product /path`, and calls by their names. */
export function recordRequests(page: Page, origins: Readonly<Record<string, string>>) {
  const documents: string[] = [];
  const calls = new Set<string>();
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url());
    const [name] = Object.entries(origins).find(([, one]) => one === origin) ?? [origin];
    const path = pathname.replaceAll(/\/[\w-]{20,}(?=\/|$)/g, '/…');
    if (request.resourceType() === 'document') documents.push(`${request.method()} ${name} ${path}`);
    if (['fetch', 'xhr'].includes(request.resourceType()))
      for (const call of path.replace(/^(?:\/roster)?\/trpc\//, '').split(',')) calls.add(call);
  });
  return { documents, calls };
}
