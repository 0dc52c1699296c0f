import { createHash } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { hashPassword } from '../../src/crypto/password-hash.ts';
import type { Scope } from '../../src/entities/index.ts';
import type { Mail } from '../../src/email/mailer.ts';
import { test as base, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { launchBrowser } from '../support/chromium.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import { PATIENCE_MS } from '../support/patience.ts';

export const PASSWORD = 'correct horse battery staple';

type Options = BrowserContextOptions & { readonly as?: { id: string } };

/** What tests provoke: rejected calls, and calls and files that a test aborts or cuts off. */
const PROVOKED =
  /^(Failed to load resource: (.* 4\d\d |net::ERR_(FAILED|INTERNET_DISCONNECTED))|TypeError: Failed to fetch dynamically|Error: offline\b)/;

/** Opens a browser window of its own, signed in as an account where one is named. */
export type Open = (path: string, options?: Options) => Promise<Page>;

/** `test` with the service, a Chromium, and windows that must have nothing to complain about. */
export const test = base.extend<{ browser: Browser; open: Open }>({
  browser: [
    async ({ api }, use) => {
      const browser = await launchBrowser({ baseUrl: api.services.config.baseUrl, port: api.port });
      await use(browser);
      await browser.close();
    },
    { scope: 'file' },
  ],
  open: async ({ api, browser }, use) => {
    const complaints: string[] = [];
    const contexts: { close(): Promise<void> }[] = [];
    await use(async (path, { as, ...options } = {}) => {
      const { baseUrl } = api.services.config;
      const context = await browser.newContext({ baseURL: baseUrl, locale: 'en-GB', timezoneId: 'UTC', ...options });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      if (as !== undefined) await context.addCookies(await cookiesFor(api, as, baseUrl));
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        // The browser logs a call that was rejected, or aborted by a test, whatever the page does about it.
        if (message.type() === 'error' && !PROVOKED.test(message.text())) complaints.push(message.text());
      });
      await page.goto(path);
      return page;
    });
    for (const context of contexts) await context.close();
    expect(complaints, 'the console of the browser').toEqual([]);
  },
});

async function cookiesFor(api: Api, account: { id: string }, url: string) {
  const { cookies } = await signedIn(api, account);
  return [...cookies].map(([name, value]) => ({ name, value, url }));
}

/** An account that signs in with PASSWORD. */
export async function aPerson(api: Api, fields: { firstName?: string; lastName?: string } = {}): Promise<AnAccount> {
  const account = await api.anAccount(fields);
  await api.rows('update account set password_hash = $2 where id = $1', [account.id, await hashPassword(PASSWORD)]);
  return account;
}

/** The path that the link of a mail leads to. */
export function linkIn({ text }: Mail): string {
  const link = /https?:\/\/[^\s/]+(\/\S+\?token=\S+)/.exec(text)?.[1];
  if (link === undefined) throw new Error(`No link in: ${text}`);
  return link;
}

export const VERIFIER = 'dBjftJeZ4CVP-mBCnUiL3jTtjPDvcWqk3ls9kuzqJWQ';

/** Where an application sends somebody for a code, which VERIFIER redeems. */
export function authorizePath({ id, redirectUri }: AClient, scopes: readonly Scope[]): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: 'a state',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return `/oauth/authorize?${query.toString()}`;
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

/** Waits until the page shows what it is about. */
export const shows = (page: Page, name: string | RegExp) => heading(page, name).waitFor();

/** Fills in the sign-in page and submits it. */
export async function signInAs(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Opens the menu of a row, of the first one that the name fits. */
export const openMenuOf = (page: Page, row: string | RegExp): Promise<void> =>
  page
    .getByRole('button', { name: typeof row === 'string' ? `Actions for ${row}` : row })
    .first()
    .click();

/** Chooses an action in the menu of a row. */
export async function chooseOf(page: Page, row: string | RegExp, action: string | RegExp): Promise<void> {
  await openMenuOf(page, row);
  await page.getByRole('menuitem', { name: action }).click();
}

/** The menu of the user at the side. */
export const openUserMenu = (page: Page) => page.getByRole('button', { name: /^Your account and settings/ }).click();

export async function signOut(page: Page): Promise<void> {
  await openUserMenu(page);
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}
