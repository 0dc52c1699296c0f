import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../../support/chromium.ts';
import { keepShot, test } from '../console.ts';
import type { Scene } from './scene.ts';

const LOOKS = [
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'dark', width: 1280 },
] as const;

/** Waits, within a bound, until nothing moves: half-transparent text has other colors. */
export const settled = async (page: Page) =>
  await expect
    .poll(() => page.evaluate("document.getAnimations().filter(({ playState }) => playState === 'running').length"), {
      timeout: 5000,
    })
    .toBe(0);

/** What hides a part of its content for being too narrow; what scrolls does not, a switch has no words, and what is hidden from sight is meant so. */
const CUT_OFF = `[...document.querySelectorAll('body *:not(input, .mantine-Switch-track)')]
  .filter((e) => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && /hidden|clip/.test(getComputedStyle(e).overflowX))
  .map((e) => e.outerHTML.slice(0, 120))`;

/** Expects a page without violations that axe can find, no wider than the window, and without text that is cut off. */
export async function expectFaultless(page: Page, look: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .options({ rules: { 'target-size': { enabled: true } } })
    .analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(found, look).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), look).toBeLessThanOrEqual(0);
  expect(await page.evaluate(CUT_OFF), `${look}: text that is cut off`).toEqual([]);
}

/** Tests each of the scenes in every look. */
export const looksWell = (scenes: readonly Scene[]) =>
  describe.skipIf(!hasChromium)('every page, light and dark, on a phone and on a desk', () => {
    test.for(scenes)(
      '%s is free of violations that axe can find, and is no wider than the window',
      async ([name, show], { api, open }) => {
        const page = await show(api, (path, as) => open(path, as === undefined ? {} : { as }));
        for (const { colorScheme, width } of LOOKS) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme });
          await expect
            .poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme'))
            .toBe(colorScheme);
          await settled(page);
          await keepShot(page, `${name}-${width}-${colorScheme}`);

          const look = `${name}, ${colorScheme}, ${width}`;
          await expectFaultless(page, look);
        }
      },
    );
  });
