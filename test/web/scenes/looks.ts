import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../../support/chromium.ts';
import { findViolations } from '../axe.ts';
import { test } from '../console.ts';
import type { Scene } from './scene.ts';
import { expectPrintable } from './print.ts';
import { findSmallTargets } from './targets.ts';

export const LOOKS = [
  { colorScheme: 'light', forcedColors: 'none', width: 320 },
  { colorScheme: 'light', forcedColors: 'none', width: 1280 },
  { colorScheme: 'dark', forcedColors: 'none', width: 360 },
  { colorScheme: 'dark', forcedColors: 'none', width: 1920 },
  { colorScheme: 'dark', forcedColors: 'active', width: 1280 },
  { colorScheme: 'light', forcedColors: 'active', width: 360 },
] as const;

/** Each palette once, on a phone and on desks: the nightly run takes every look in every language. */
const FIRST_LOOKS = LOOKS.filter((_, index) => [0, 3, 4].includes(index));

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

/** Expects a page without violations that axe can find, no wider than the window, without text that is cut off, and with targets of 24 px. */
export async function expectFaultless(page: Page, look: string, part?: string): Promise<void> {
  expect.soft(await findViolations(page, part), look).toEqual([]);
  expect
    .soft(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), look)
    .toBeLessThanOrEqual(0);
  expect.soft(await page.evaluate(CUT_OFF), `${look}: text that is cut off`).toEqual([]);
  expect.soft(await findSmallTargets(page), `${look}: targets smaller than 24 px`).toEqual([]);
}

/** Tests each of the scenes in each palette. */
export const looksWell = (scenes: readonly Scene[]) =>
  describe.skipIf(!hasChromium)('every page, light, dark and in forced colors, on a phone and on a desk', () => {
    test.for(scenes)(
      '%s is free of violations that axe can find, is no wider than the window, and has targets of 24 px',
      async ([name, show, maxWidth = Infinity], { api, open }) => {
        const page = await show(api, (path, as) => open(path, as === undefined ? {} : { as }));
        for (const { width, ...media } of FIRST_LOOKS.filter(({ width }) => width <= maxWidth)) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia(media);
          await expect
            .poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme'))
            .toBe(media.colorScheme);
          await settled(page);
          const look = `${name}-${width}-${media.forcedColors === 'active' ? 'forced' : media.colorScheme}`;
          await expectFaultless(page, look);
        }
        await expectPrintable(page, name);
      },
    );
  });
