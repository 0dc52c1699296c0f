import { expect } from 'vitest';
import { describeLanguage, type Language } from '../../../src/messages/languages.ts';
import type { Api } from '../../support/api.ts';
import type { Open } from '../console.ts';
import { expectStable, observeLayoutShift } from '../layout-shift.ts';
import { expectFaultless, settled } from './looks.ts';
import { createWorld } from './world.ts';

const SHIFT_MAX = 0.02;

export type Look = {
  readonly colorScheme: 'light' | 'dark';
  readonly forcedColors: 'none' | 'active';
  readonly width: number;
};

/** Opens every page in a language, and expects that it hardly moves while it loads and has no fault in any look. */
export async function expectEveryPage(api: Api, open: Open, language: Language, looks: readonly Look[]): Promise<void> {
  for (const { name, path, as } of await createWorld(api)) {
    const page = await open('about:blank', { locale: language, ...(as !== undefined && { as }) });
    await observeLayoutShift(page);
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0);
    await expectStable(page, name, SHIFT_MAX);
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
      language,
      describeLanguage(language).direction,
    ]);
    for (const { width, ...media } of looks) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia(media);
      await expect
        .poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme'))
        .toBe(media.colorScheme);
      await settled(page);
      await expectFaultless(page, `${language}, ${name}, ${width}, ${JSON.stringify(media)}`);
    }
    await page.context().close();
  }
}
