import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';

async function press(page: Page, keys: string): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

async function aTeamOfOne(api: Api) {
  const ada = await aPerson(api);
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  return { ada, team, path: `/teams/${team.slug}` };
}

describe.skipIf(!hasChromium)('the keys that work everywhere', () => {
  // Guarantees that the list under `?` is complete and true.
  test('every sequence of the list opens the page that the list names', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfOne(api);
    const page = await open(path, { as: ada });
    await shows(page, 'Overview');
    await press(page, '?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.waitFor();
    const keys = await dialog.getByRole('term').allInnerTexts();
    const listed = keys.map((text) => text.replaceAll(/\s/g, ''));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const places = {
      gt: '/',
      gk: '/api-keys',
      ga: '/account',
      gd: '/developer',
      go: path,
      gm: `${path}/members`,
      gi: `${path}/invitations`,
      gr: `${path}/roles`,
      gs: `${path}/settings`,
    };
    expect(listed).toEqual(['?', '/', 'Ctrlk', ...Object.keys(places)]);
    for (const [sequence, place] of Object.entries(places)) {
      await page.goto(`/teams/${team.id}/billing`);
      await shows(page, 'Billing');
      await press(page, sequence);
      await page.waitForURL((url) => url.pathname === place);
    }
  });

  test('belong to a field that is being filled in, and to an open dialog', async ({ api, open }) => {
    const { ada, path } = await aTeamOfOne(api);
    const page = await open(`${path}/settings`, { as: ada });
    const name = page.getByLabel('Team name');
    await name.fill('');
    await press(page, 'ga?');
    expect(await name.inputValue()).toBe('ga?');
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.getByRole('button', { name: 'Delete team…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).focus();
    await press(page, 'ga');
    expect(new URL(page.url()).pathname).toBe(`${path}/settings`);
  });

  test('outside a team, those of a team do nothing', async ({ api, open }) => {
    const { ada } = await aTeamOfOne(api);
    const page = await open('/account', { as: ada });
    await shows(page, 'Your account');
    await press(page, 'gm');
    await press(page, 'gt');
    await shows(page, 'Your teams');
  });

  test('a slash goes to the search of the page', async ({ api, open }) => {
    const { ada, path } = await aTeamOfOne(api);
    const page = await open(`${path}/members`, { as: ada });
    const search = page.getByRole('searchbox');
    await search.waitFor();
    await press(page, '/');
    await search.and(page.locator(':focus')).waitFor();
    expect(await search.inputValue()).toBe('');
  });

  test('can be switched off for good, all but the list itself', async ({ api, open }) => {
    const { ada } = await aTeamOfOne(api);
    const page = await open('/', { as: ada });
    await shows(page, 'Your teams');
    await press(page, '?');
    const toggle = page.getByRole('dialog').getByRole('switch', { name: 'Use keyboard shortcuts' });
    await toggle.uncheck();
    await page.keyboard.press('Escape');
    await page.reload();
    await shows(page, 'Your teams');
    await press(page, 'ga');
    await press(page, '?');
    expect(await toggle.isChecked()).toBe(false);
    expect(new URL(page.url()).pathname).toBe('/');

    await toggle.check();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press(page, 'ga');
    await shows(page, 'Your account');
  });
});
