import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { onTestFinished, test as base } from 'vitest';
import { startApiAtItsAddress, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { launchBrowser } from '../support/chromium.ts';

type Account = { readonly id: string };

/** `test` with a service at its own address, where clients register themselves, and a browser. */
export const test = base.extend<{ api: Api; browser: Browser }>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const api = await startApiAtItsAddress({ OAUTH_REGISTRATION: 'on' });
      await use(api);
      await api.close();
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
});

/** The page of a client that the browser is sent back to. @returns its URL */
export async function aRedirectUri(): Promise<string> {
  const server = createServer((_req, res) => res.end('Back in the application')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`; // listening on TCP
}

/**
 * Opens an authorization URL as somebody who is signed in, and approves.
 * @param selection which scopes to approve: all that are offered, or those that are selected already
 * @returns the page it leads to
 */
export async function consentInBrowser(
  { api, browser, account }: { api: Api; browser: Browser; account: Account },
  url: string,
  selection: 'all' | 'preselected',
): Promise<Page> {
  const { cookies } = await signedIn(api, account);
  const { baseUrl } = api.services.config;
  const context = await browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(20_000);
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: baseUrl })));
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel('The whole account').check();
  if (selection === 'all') for (const box of await page.getByRole('checkbox').all()) await box.check();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL((at) => at.origin !== baseUrl);
  return page;
}
