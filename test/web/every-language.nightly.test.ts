import { describe, expect } from 'vitest';
import { LANGUAGES, type Language } from '../../src/messages/languages.ts';
import { hasChromium } from '../support/chromium.ts';
import { test } from './console.ts';
import { expectEveryDialog } from './scenes/every-dialog.ts';
import { expectEveryPage } from './scenes/every-page.ts';
import { LOOKS } from './scenes/looks.ts';

/** How many dialogs the buttons of the pages open at least: fewer are found if a page has not what opens them. */
const DIALOGS = 45;

describe.skipIf(!hasChromium)('every page, light, dark and in forced colors, on a phone and on a desk', () => {
  test.for(Object.keys(LANGUAGES) as Language[])(
    'in %s hardly moves while it loads, and is free of violations that axe can find',
    { timeout: 1_200_000 },
    async (language, { api, open }) => expectEveryPage(api, open, language, LOOKS),
  );

  // The language with the longest words, and the one from right to left.
  test.for(['de', 'ar'] as const)(
    'has no violation in any dialog in %s',
    { timeout: 1_200_000 },
    async (language, { api, open }) => {
      const titles = await expectEveryDialog(api, open, language, LOOKS);
      expect(titles.size, [...titles].join('\n')).toBeGreaterThan(DIALOGS);
    },
  );
});
