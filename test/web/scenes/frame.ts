import type { Page } from 'playwright-core';
import type { Api } from '../../support/api.ts';
import { aPerson, openUserMenu } from '../console.ts';
import { LONG_NAME, shown, type Scene } from './scene.ts';

const NARROW = 360;

const opened = (name: string, open: (page: Page) => Promise<void>, maxWidth?: number): Scene => [
  name,
  async (api, visit) => {
    const { ada, path } = await aTeamOfAda(api);
    const page = await shown(await visit(path, ada), 'Overview');
    await open(page);
    return page;
  },
  maxWidth,
];

/** What the frame opens over a page. */
export const frame: readonly Scene[] = [
  opened('command-palette', async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
  }),
  opened('command-palette-none', async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('nothing has this name');
    await page.getByText('Nothing found').waitFor();
  }),
  opened('user-menu', async (page) => {
    await openUserMenu(page);
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  }),
  opened('help-menu', async (page) => {
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('menuitem', { name: 'Error codes' }).waitFor();
  }),
  [
    'notices',
    async (api, visit) => {
      const { ada, path } = await aTeamOfAda(api, new Date(Date.now() + 86_400_000));
      const page = await shown(await visit(path, ada), 'Overview');
      await page.getByRole('button', { name: '1 notice' }).click();
      await page.getByRole('menuitem', { name: /expires soon$/ }).waitFor();
      return page;
    },
  ],
  opened('team-switcher', async (page) => {
    await page.getByRole('combobox', { name: /^Team: / }).click();
    await page.getByRole('option', { name: 'Analytical Engine' }).waitFor();
  }),
  opened('drawer', openDrawer, NARROW),
  opened(
    'drawer-user-menu',
    async (page) => {
      await openDrawer(page);
      await openUserMenu(page);
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    },
    NARROW,
  ),
];

async function openDrawer(page: Page): Promise<void> {
  await page.setViewportSize({ width: NARROW, height: 800 });
  await page.getByRole('button', { name: 'Open navigation' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Members' }).waitFor();
}

/** Somebody in two teams, one of them with a long name, and a key if its end is given. */
async function aTeamOfAda(api: Api, expiresAt?: Date) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: LONG_NAME });
  await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  const team = await api.aTeam({ owner: ada, name: LONG_NAME });
  if (expiresAt !== undefined) await api.anApiKey(ada, { team, expiresAt });
  return { ada, path: `/teams/${team.id}` };
}
