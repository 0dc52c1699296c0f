import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Language } from '../../../src/messages/languages.ts';
import type { Api } from '../../support/api.ts';
import type { Open } from '../console.ts';
import type { Look } from './every-page.ts';
import { expectFaultless, settled } from './looks.ts';
import { createWorld } from './world.ts';

const DESK = { width: 1280, height: 800 };

/** Dialogs, and the popovers that are some. */
const dialogOf = (page: Page) => page.locator('[role="dialog"]:visible');

const menuItemsOf = (page: Page) => page.locator('main [role="menuitem"]:visible:not([data-disabled])');

/** Lets React render what a click has changed: no dialog of a page is loaded on demand. */
const rendered = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))');

/** Clicks each button of each page whose text is new there, and tests the dialog or menu that it opens. @returns the titles */
export async function expectEveryDialog(
  api: Api,
  open: Open,
  language: Language,
  looks: readonly Look[],
): Promise<ReadonlySet<string>> {
  const titles = new Set<string>();
  for (const { name, path, as } of await createWorld(api)) {
    if (as === undefined) continue;
    const page = await open('about:blank', { locale: language, as, viewport: DESK });
    // Nothing is changed, so that every page shows the same to the end.
    await page.route('**/trpc/**', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0);
    // The actions on selected rows are buttons once there are some.
    const selection = page.locator('thead .data-select input');
    if ((await selection.count()) > 0) await selection.check();
    const test = () => expectDialog(page, `${language}, ${name}`, looks, titles);
    for (const text of new Set(await readOpeners(page))) {
      if (!(await clickOpener(page, text, test))) continue;
      const items = await menuItemsOf(page).count();
      await test();
      for (let index = 0; index < items; index += 1) {
        if (index > 0) await clickOpener(page, text, test);
        await menuItemsOf(page).nth(index).click();
        await rendered(page);
        await test();
      }
    }
    await test();
    await page.context().close();
  }
  return titles;
}

const openersOf = (page: Page) => page.locator('main button:visible:not([disabled], [type="submit"])');

/** Returns the text of each button that can open something: of those with the same, which rows repeat, one is enough. */
const readOpeners = (page: Page): Promise<readonly string[]> =>
  openersOf(page).evaluateAll((all) =>
    all.map((button) => `${button.textContent}${button.getAttribute('aria-haspopup') ?? ''}`),
  );

/** Clicks the last button with a text, which is not in the row of an owner. @returns false if none is left */
async function clickOpener(page: Page, text: string, test: () => Promise<void>): Promise<boolean> {
  const index = (await readOpeners(page)).lastIndexOf(text);
  if (index === -1) return false;
  const opener = openersOf(page).nth(index);
  await opener.click({ timeout: 3000 }).catch(async (error: unknown) => {
    // On a slow machine the dialog of the click before is in front of it only now.
    if ((await dialogOf(page).count()) === 0) throw error;
    await test();
    await opener.click();
  });
  await rendered(page);
  return true;
}

async function expectDialog(page: Page, at: string, looks: readonly Look[], titles: Set<string>): Promise<void> {
  if ((await dialogOf(page).count()) === 0) return;
  const title = await dialogOf(page)
    .first()
    .evaluate((dialog) => dialog.querySelector('h2')?.textContent ?? 'popover');
  if (!titles.has(title)) {
    titles.add(title);
    for (const { width, ...media } of looks) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia(media);
      await expect
        .poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme'))
        .toBe(media.colorScheme);
      await settled(page);
      await expectFaultless(page, `${at}, ${title}, ${width}, ${JSON.stringify(media)}`, '[role="dialog"]');
    }
    await page.setViewportSize(DESK);
  }
  await page.keyboard.press('Escape');
  await expect.poll(() => dialogOf(page).count()).toBe(0);
}
