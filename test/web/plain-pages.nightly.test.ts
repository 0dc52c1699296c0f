import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { findViolations } from './axe.ts';
import { aPerson, openUserMenu, PASSWORD, shows, test } from './console.ts';

const EMAIL = '2026-11-22T10-00-00.000Z-0a1b2c3d.eml';

/** The pages outside of the console, and the link of their header that is marked. */
const PAGES = [
  ['/docs', 'API reference'],
  ['/docs/operator', 'API reference'],
  ['/docs/procedures', 'Procedures'],
  ['/docs/events', 'Events'],
  ['/problems', 'Error codes'],
  ['/problems/rate-limited', 'Error codes'],
  ['/dev/mail', 'Emails'],
  [`/dev/mail/${EMAIL}`, 'Emails'],
  ['/dev/webhooks', 'Webhooks'],
] as const;

const background = (page: Page) => page.evaluate('getComputedStyle(document.querySelector("header")).backgroundColor');
const LIGHT = 'rgb(241, 239, 234)';
const DARK = 'rgb(13, 16, 14)';

/** The words of tables that are broken into several lines; a code can be broken after each `_`. */
const BROKEN_WORDS = `[...document.querySelectorAll('table :is(th, td)')].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    for (const { 0: word, index } of walker.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  }
  return broken;
})`;

/** What can be clicked below the header, is seen, no link within a text, and lower or narrower than 24 pixels. */
const SMALL_TARGETS = `[...document.querySelectorAll('#reference :is(a, button, summary, [tabindex="0"])')]
  .map((target) => ({ target, style: getComputedStyle(target), box: target.getBoundingClientRect() }))
  .filter(({ style, box }) => style.display !== 'inline' && style.visibility === 'visible' && box.width > 1)
  .filter(({ box }) => box.width < 23.5 || box.height < 23.5)
  .map(({ target, box }) => [target.className, target.textContent.trim(), box.width, box.height].join(' '))`;

/** Whether all below the header is Scalar’s. */
const isReference = (path: string): boolean => path === '/docs' || path === '/docs/operator';

describe.skipIf(!hasChromium)('a page outside of the console', () => {
  test.for(PAGES)(
    '%s has its header, its colors, the way back and no violations, light and dark, on a phone and on a desk',
    async ([path, present], { api, open }) => {
      const mail = join(api.services.config.dataDir, 'mail');
      await mkdir(mail, { recursive: true });
      await writeFile(join(mail, EMAIL), 'Subject: A link\r\nTo: ada@example.com\r\n\r\nA text\r\n');
      const page = await open(path, { colorScheme: 'dark' });
      const header = page.getByRole('banner');
      expect(await header.locator('[aria-current]').innerText()).toBe(present);
      const colors = header.getByRole('combobox', { name: 'Colors' });
      if (isReference(path)) await page.locator('.scalar-app').first().waitFor();
      for (const [choice, color] of [
        ['auto', DARK],
        ['light', LIGHT],
        ['dark', DARK],
      ] as const) {
        await colors.selectOption(choice);
        await expect.poll(() => background(page)).toBe(color);
      }
      await page.reload();
      expect(await colors.inputValue()).toBe('dark');
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        for (const choice of ['light', 'dark']) {
          await colors.selectOption(choice);
          expect(await findViolations(page, isReference(path) ? 'header' : 'html'), `${width} ${choice}`).toEqual([]);
        }
        await expect.poll(() => page.evaluate(SMALL_TARGETS), { message: `${width}` }).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      }
      await header.getByRole('link', { name: 'Back to the console' }).click();
      await shows(page, 'Sign in');
    },
  );

  test('with the error codes has no broken words in windows of 320 px', async ({ open }) => {
    const page = await open('/problems', { viewport: { width: 320, height: 800 } });
    await page.getByRole('link', { name: 'invitation_for_another' }).waitFor();
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
  });

  test('has the colors that were chosen in the console, and the reverse, also in a tab that is open', async ({
    api,
    open,
  }) => {
    const page = await open('/account', { as: await aPerson(api), colorScheme: 'light' });
    const docs = await page.context().newPage();
    await docs.goto('/docs');
    await docs.locator('body.light-mode .scalar-app').first().waitFor();
    await openUserMenu(page);
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await expect.poll(() => background(docs)).toBe(DARK);
    await docs.locator('body.dark-mode').waitFor();
    await docs.getByRole('combobox', { name: 'Colors' }).selectOption('light');
    await docs.locator('body.light-mode').waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('light');
  });

  test('with the emails is linked after the sign-up in development', async ({ open }) => {
    const page = await open('/sign-up');
    await page.getByLabel('Email').fill(`dev-${crypto.randomUUID()}@example.com`);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('main').locator('a[href="/dev/mail"]').click();
    await shows(page, 'Emails');
  });
});
