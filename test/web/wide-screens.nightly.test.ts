import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, heading, test } from './console.ts';

/** A line of a text or field that is still read at a glance. */
const READABLE = 736;

/** What is left free at most at the end of a table: the padding of the page. */
const EDGE = 48;

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error('The element is not visible.');
  return box;
}

/** The width of the widest text, whose padding can shorten its lines. */
const longestLine = (page: Page) =>
  page.evaluate<number>(`Math.max(...[...document.querySelectorAll('main p')].map((text) => {
    const { paddingLeft, paddingRight } = getComputedStyle(text);
    return text.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  }))`);

describe.skipIf(!hasChromium)('in a wide window', () => {
  test.for([1440, 1920])(
    'of %i px tables use its width, fields and texts keep a readable one, and headings stay where they are',
    async (width, { api, open }) => {
      const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
      await api.rows(`update account set role = 'admin' where id = $1`, [ada.id]);
      const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
      await api.anInvitation(team);
      await api.anApiKey(ada, { team });
      const { trpc } = await signedIn(api, ada);
      await trpc.updateTeam.mutate({ teamId: team.id, name: 'Difference Engine' });
      const page = await open('about:blank', { as: ada, viewport: { width, height: 900 } });
      const beginnings = new Set<number>();
      const at = `/teams/${team.slug}`;
      const tables = ['members', 'invitations', 'api-keys', 'audit'].map((name) => `${at}/${name}`);
      for (const path of [...tables, '/operator/accounts', '/operator/teams', '/operator/audit']) {
        await page.goto(path);
        const table = page.getByRole('table');
        await table.waitFor();
        const { x, width: taken } = await boxOf(table);
        expect(width - x - taken, path).toBeLessThanOrEqual(EDGE);
        beginnings.add((await boxOf(heading(page, /./))).x);
      }
      for (const path of ['/account', `${at}/settings`, '/developer']) {
        await page.goto(path);
        const title = heading(page, /./);
        await title.waitFor();
        beginnings.add((await boxOf(title)).x);
        for (const field of await page.getByRole('textbox').all())
          expect((await boxOf(field)).width, path).toBeLessThanOrEqual(READABLE);
        expect(await longestLine(page), path).toBeLessThanOrEqual(READABLE);
      }
      expect([...beginnings]).toHaveLength(1);
    },
  );
});
