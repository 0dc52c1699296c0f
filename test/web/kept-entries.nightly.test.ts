import { describe } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { test } from './console.ts';
import { ACTIONS } from './proof-actions.ts';
import { expectKept } from './proof-attempt.ts';

describe.skipIf(!hasChromium)('a session whose last proof is old', () => {
  test.for(ACTIONS)(
    'has what was entered again after the emailed link was opened in its tab: $title',
    async (action, { api, open }) => expectKept(action, api, open),
  );
});
