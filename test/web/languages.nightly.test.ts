import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { describeLanguage, type Language } from '../../src/messages/languages.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';
import { expectFaultless, settled } from './scenes/looks.ts';

/** The language with the longest words, and the one from right to left: the nightly run opens every page in all. */
const HARDEST = ['de', 'ar'] as const satisfies Language[];

const PAGES = [
  ...['', '/members', '/invitations', '/roles', '/api-keys', '/billing', '/audit', '/webhooks', '/settings'].map(
    (path) => `/teams/:team${path}`,
  ),
  // The navigation of a team is on its pages only.
  '/',
  '/account',
  '/api-keys',
  '/developer',
] as const;

async function aTeamOfAda(api: Api) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  await api.aMember(team, await aPerson(api, { firstName: 'משה', lastName: 'כהן' }), { role: 'member' });
  await api.anApiKey(ada, { team });
  return { ada, team };
}

/** Whether the first character of the address is left of its last one. */
const ADDRESS_EDGES = `(() => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && !texts.currentNode.data.includes('2001:db8:85a3::7348'));
  const { currentNode: text } = texts;
  const begin = text.data.indexOf('2001:db8');
  const leftOf = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  };
  return { isFirstAtLeft: leftOf(begin) < leftOf(begin + '2001:db8:85a3::734'.length) };
})()`;

/** Opens a page by its link in the navigation, from another page, and waits until nothing is being loaded. */
async function follow(page: Page, path: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  const title = page.getByRole('heading', { level: 1 });
  const before = await title.innerText();
  await page.locator(`nav a[href="${path}"]`).click();
  await expect.poll(() => title.innerText()).not.toBe(before);
  await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0);
}

describe.skipIf(!hasChromium)('the console', () => {
  test.for(HARDEST)(
    'in %s is readable on a phone, and on a desk if it is written from right to left',
    { timeout: 180_000 },
    async (language, { api, open }) => {
      const { ada, team } = await aTeamOfAda(api);
      const page = await open(`/teams/${team.slug}/settings`, { as: ada, locale: language });
      for (const path of PAGES) {
        await follow(page, path.replace(':team', team.slug));
        expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
          language,
          describeLanguage(language).direction,
        ]);
        for (const width of describeLanguage(language).direction === 'rtl' ? [360, 1280] : [360]) {
          await page.setViewportSize({ width, height: 800 });
          await settled(page);
          await expectFaultless(page, `${language}, ${path}, ${width}`);
        }
      }
    },
  );

  test('is in the language of the browser, then in that of the account', async ({ api, open }) => {
    const person = await aPerson(api, { firstName: 'Ada' });
    const page = await open('/sign-in', { locale: 'fr-CA' });
    await shows(page, 'Se connecter');
    await page.getByLabel('E-mail').fill(person.email);
    await api.rows(`update account set preferred_locale = 'de-AT' where id = $1`, [person.id]);
    await page.getByLabel('Mot de passe', { exact: true }).fill('correct horse battery staple');
    await page.keyboard.press('Enter');
    await shows(page, 'Ihre Teams');

    await page.goto('/account');
    await page.getByLabel('Sprache und Region').selectOption('en-GB');
    await page.getByRole('region', { name: 'Profil' }).getByRole('button', { name: 'Speichern' }).click();
    await shows(page, 'Your account');
    expect(await page.evaluate('document.documentElement.lang')).toBe('en');
  });

  // The digits that an IPv6 address begins with would be shown at its end.
  test('shows an IPv6 address from left to right in Arabic', async ({ api, open }) => {
    const { ada, team } = await aTeamOfAda(api);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, actor_id, address, request_id, details, count)
       values ('evt_zzz', now(), 'access.denied', 'session', $1, $2, '2001:db8:85a3::7348', 'r', '{}', 1)`,
      [team.id, ada.id],
    );
    for (const path of [`/teams/${team.slug}`, `/teams/${team.slug}/audit`]) {
      const page = await open(path, { as: ada, locale: 'ar' });
      await page.getByText('2001:db8:85a3::7348').first().waitFor();
      expect(await page.evaluate(ADDRESS_EDGES), path).toEqual({ isFirstAtLeft: true });
    }
  });

  // Its full stop would be shown at its beginning.
  test('shows the description of a team from left to right in Arabic', async ({ api, open }) => {
    const { ada, team } = await aTeamOfAda(api);
    await api.rows(`update team set description = 'Made of brass.' where id = $1`, [team.id]);
    for (const path of ['/', `/teams/${team.slug}`]) {
      const page = await open(path, { as: ada, locale: 'ar' });
      await page.locator('bdi').filter({ hasText: 'Made of brass.' }).waitFor();
    }
  });

  test('names built-in roles in its language: where they are given, and in the audit log', async ({ api, open }) => {
    const { ada, team } = await aTeamOfAda(api);
    const page = await open(`/teams/${team.slug}/invitations`, { as: ada, locale: 'de' });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Personen einladen' }).click();
    await dialog.getByRole('radio', { name: 'Mitglied', exact: true }).waitFor();
    await dialog.getByRole('radio', { name: 'Gast', exact: true }).waitFor();

    await page.goto(`/teams/${team.slug}/members`);
    await page.getByRole('checkbox', { name: 'משה כהן' }).check();
    await page.getByRole('button', { name: 'Rolle ändern…' }).click();
    await dialog.getByLabel('Rolle', { exact: true }).selectOption('Gast');
    await dialog.getByRole('button', { name: 'Rolle ändern' }).click();
    await dialog.getByText('1 erledigt').waitFor();

    await page.goto(`/teams/${team.slug}/audit`);
    await page.getByRole('link', { name: 'Gast', exact: true }).waitFor();
  });

  test('offers English with the dates of the region of the browser', async ({ api, open }) => {
    const page = await open('/account', { as: await aPerson(api), locale: 'nl-NL' });
    await page.getByLabel('Language and region').selectOption('English (Netherlands)');
    await page.getByRole('region', { name: 'Profile' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Profile saved.').waitFor();
  });

  test.for([
    // A browser in a language that the console does not have.
    { browser: 'nl-NL', account: null, shown: [/1\.234 requests/, /31 May 2020/] },
    { browser: 'en-US', account: 'de-CH', shown: [/1['’]234 Anfragen/, /31\.05\.2020/] },
    { browser: 'ar', account: 'ar-EG', shown: [/١٬٢٣٤/, /٢٠٢٠/] },
  ])(
    'writes dates and numbers as the region of the reader does, and words in one language: $browser, $account',
    async ({ browser, account, shown }, { api, open }) => {
      const person = await aPerson(api);
      await api.rows('update account set preferred_locale = $2 where id = $1', [person.id, account]);
      const key = await api.anApiKey(person);
      await api.rows(`update api_key set created_at = '2020-05-31T12:00:00Z' where id = $1`, [key.id]);
      await api.rows('insert into api_key_use (api_key_id, day, requests) values ($1, current_date, 1234)', [key.id]);
      const page = await open('/api-keys', { as: person, locale: browser });
      await page.locator('.data-actions button').click();
      await page.getByRole('menuitem').first().click();
      for (const text of shown) await page.getByText(text).first().waitFor();
    },
  );

  test('puts a refusal into words of its language', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in', { locale: 'de' });
    await page.getByLabel('E-Mail').fill(person.email);
    await page.getByLabel('Passwort', { exact: true }).fill('not the password of it');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Anmeldung fehlgeschlagen').waitFor();
  });
});
