import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { expect, test as base, vi } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { launchBrowser } from '../support/chromium.ts';
import { startApi, type Api } from '../support/api.ts';
import { createTestDatabase } from '../support/database.ts';
import { NOW, startSequence } from './seeded.ts';

const LOOKS = [
  ['light', { width: 1280, colorScheme: 'light', forcedColors: 'none' }],
  ['dark', { width: 360, colorScheme: 'dark', forcedColors: 'none' }],
  ['forced', { width: 1280, colorScheme: 'dark', forcedColors: 'active' }],
] as const;

const FOLDER = process.env['SCREENSHOTS'] ?? 'screenshots/pictures';

/** A service and a browser of their own, in which nothing depends on the time or on chance. */
type Stage = {
  readonly api: Api;
  readonly open: (path: string, as?: { id: string }, language?: string) => Promise<Page>;
};

export const test = base.extend<{ stage: Stage }>({
  stage: async ({ task }, use) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW });
    startSequence(task.name);
    const database = await createTestDatabase();
    await fixTime(database.url);
    const api = await startApi({}, { databaseUrl: database.url });
    api.allowStrayEvents();
    const { baseUrl } = api.services.config;
    const browser = await launchBrowser({ baseUrl, port: api.port });
    await use({ api, open: (path, as, language = 'en-GB') => openPage(browser, api, path, as, language) });
    await browser.close();
    await api.close();
    await database.drop();
    vi.useRealTimers();
  },
});

/** Makes `now()` of a database return the time of the pictures. */
async function fixTime(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `create schema fixed;
     create function fixed.now() returns timestamptz language sql stable parallel safe
       as $$ select timestamptz '${NOW.toISOString()}' $$;
     alter database ${new URL(url).pathname.slice(1)} set search_path = fixed, pg_catalog, public;`,
  );
  await client.end();
}

async function openPage(browser: Browser, api: Api, path: string, as: { id: string } | undefined, locale: string) {
  const { baseUrl } = api.services.config;
  const context = await browser.newContext({
    baseURL: baseUrl,
    locale,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    // Playwright hides carets and ends animations with a style element.
    bypassCSP: true,
  });
  context.setDefaultTimeout(30_000);
  if (as !== undefined) {
    const { cookies } = await signedIn(api, as);
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: baseUrl })));
  }
  // Written at any time after the use.
  await api.usage.flush();
  api.usage.note = () => undefined;
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  await page.goto(path);
  // Where a scene scrolls to depends on what has been loaded.
  await settle(page);
  return page;
}

/** Takes the pictures of a page as it is, one for each look. */
export async function takePictures(page: Page, name: string, maxWidth = Infinity): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const [look, { width, ...media }] of LOOKS.filter(([, { width }]) => width <= maxWidth)) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia(media);
    await settle(page, media.colorScheme);
    await page.evaluate(HIDE_CARET);
    const fullPage = (await page.getByRole('dialog').count()) === 0;
    await page.screenshot({ path: join(FOLDER, `${name}-${look}.png`), fullPage, animations: 'disabled' });
  }
}

const IS_SETTLED = `(colorScheme) => document.fonts.status === 'loaded'
  && (colorScheme === undefined || document.documentElement.dataset.mantineColorScheme === colorScheme)
  && document.querySelector('.mantine-Skeleton-root, .mantine-Loader-root') === null
  && [...document.images].every((image) => image.complete)
  && document.getAnimations().every(({ playState }) => playState !== 'running')`;

// Forced colors show the caret.
const HIDE_CARET = `if ('readOnly' in document.activeElement) document.activeElement.readOnly = true`;

async function settle(page: Page, colorScheme?: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await expect.poll(() => page.evaluate(`(${IS_SETTLED})(${JSON.stringify(colorScheme) ?? 'undefined'})`)).toBe(true);
}
