import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { LANGUAGES, describeLanguage, type Language } from '../../src/messages/languages.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';
import { expectFaultless, settled } from './scenes/looks.ts';

const TRANSLATED = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== 'en'); // the keys of the type

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

/** Opens a page by its link in the navigation, from another page, and waits until nothing is being loaded. */
async function follow(page: Page, path: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  const title = page.getByRole('heading', { level: 1 });
  const before = await title.innerText();
  await page.locator(`nav a[href="${path}"]`).click();
  await expect.poll(() => title.innerText(), { timeout: 15_000 }).not.toBe(before);
  await expect.poll(() => page.locator('.mantine-Skeleton-root').count(), { timeout: 15_000 }).toBe(0);
}

describe.skipIf(!hasChromium)('the console', () => {
  test.for(TRANSLATED)(
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

  test('puts a refusal into words of its language', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in', { locale: 'de' });
    await page.getByLabel('E-Mail').fill(person.email);
    await page.getByLabel('Passwort', { exact: true }).fill('not the password of it');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Anmeldung fehlgeschlagen').waitFor();
  });
});
