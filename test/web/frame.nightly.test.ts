import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, openUserMenu, shows, test } from './console.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search pages and actions' });

async function run(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await palette(page).getByRole('combobox').fill(words);
  await page.keyboard.press('Enter');
  await palette(page).waitFor({ state: 'detached' });
}

describe.skipIf(!hasChromium)('the command palette', () => {
  test('opens pages and other teams, creates a team and changes colors, by the keyboard alone', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const other = await api.aTeam({ owner: ada, name: 'Difference Engine' });
    const page = await open(`/teams/${team.id}`, { as: ada });
    await shows(page, 'Overview');

    await run(page, 'audit');
    await shows(page, 'Audit log');
    await run(page, 'open différ');
    await page.waitForURL(`**/teams/${other.slug}/audit`);
    await run(page, 'dark');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark');
    await run(page, 'create team');
    await page.getByRole('dialog').getByLabel('Team name').fill('Loom');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Team: Loom' }).waitFor();
    await shows(page, 'Overview');
    await run(page, 'sign out');
    await shows(page, 'Sign in');
  });

  // A page of a team has no heading until the team was read.
  test('moves the focus to the heading of the team that it opens or creates, also if that takes a while', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const other = await api.aTeam({ owner: ada, name: 'Difference Engine' });
    const page = await open(`/teams/${team.slug}/settings`, { as: ada });
    await shows(page, 'Settings');
    const held: (() => void)[] = [];
    await page.route(/\/trpc\//, async (route) => {
      if (route.request().method() === 'GET') await new Promise<void>((resume) => held.push(resume));
      await route.continue();
    });
    const release = async () => {
      await expect.poll(() => held.length).toBeGreaterThan(0);
      await page.getByRole('heading', { level: 1 }).waitFor({ state: 'detached' });
      await expect
        .poll(() => {
          for (const resume of held.splice(0)) resume();
          return page.evaluate('document.activeElement.tagName');
        })
        .toBe('H1');
    };

    await run(page, 'open différ');
    await page.waitForURL(`**/teams/${other.slug}/settings`);
    await release();
    await run(page, 'create team');
    await page.getByRole('dialog').getByLabel('Team name').fill('Loom');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => {
        for (const resume of held.splice(0)) resume();
        return page.evaluate('`${location.pathname} ${document.activeElement.tagName}`');
      })
      .toMatch(/^\/teams\/loom(?:-\d)? H1$/);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('opens the dialog of an action, on its own page or another, once', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open(`/teams/${team.slug}`, { as: ada });
    await shows(page, 'Overview');
    const dialog = page.getByRole('dialog');

    await run(page, 'invite');
    await dialog.getByLabel('Email addresses').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toMatch(/INPUT|TEXTAREA/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
    await run(page, 'invite');
    await dialog.getByLabel('Email addresses').waitFor();
    await page.reload();
    await shows(page, 'Invitations');
    expect(await dialog.count()).toBe(0);

    await run(page, 'create team key');
    await dialog.getByRole('button', { name: 'Create key' }).waitFor();
    await shows(page, 'Team API keys');
    await page.goto('/account');
    await shows(page, 'Your account');
    await run(page, 'create key');
    await dialog.getByRole('button', { name: 'Create key' }).waitFor();
    await shows(page, 'API keys');
  });

  // Guarantees that the palette offers no page that the user cannot see.
  test('offers what the role of the reader allows', async ({ api, open }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const guest = await aPerson(api);
    await api.aMember(team, guest, { role: 'guest' });
    const page = await open(`/teams/${team.id}`, { as: guest });
    await shows(page, 'Overview');
    await page.keyboard.press('Control+k');
    const options = palette(page).getByRole('option');
    await options.first().waitFor();
    const labels = await options.allInnerTexts();
    expect(labels).toContain('Settings');
    for (const label of ['Members', 'Invite people', 'Audit log', 'Operator']) expect(labels).not.toContain(label);
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
  });
});

describe.skipIf(!hasChromium)('the frame', () => {
  test('has its navigation in a drawer in narrow windows, which closes when a page opens or the window is widened', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const page = await open(`/teams/${team.id}`, { as: ada, viewport: { width: 390, height: 844 } });
    await shows(page, 'Overview');
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    const drawer = page.getByRole('dialog', { name: 'Navigation' });
    await drawer.getByRole('combobox', { name: 'Team: Analytical Engine' }).waitFor();
    await drawer.getByRole('link', { name: 'Members' }).click();
    await shows(page, 'Members');
    await drawer.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Open navigation' }).click();
    await drawer.waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await drawer.waitFor({ state: 'detached' });
    expect(await page.getByRole('navigation', { name: 'Team' }).count()).toBe(1);
  });

  test('tells who is signed in, and leads to the account and the documentation', async ({ api, open }) => {
    const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const page = await open('/', { as: ada });
    await shows(page, 'Your teams');
    await openUserMenu(page);
    await page.getByRole('menuitemradio', { name: 'System' }).and(page.locator('[aria-checked="true"]')).waitFor();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await shows(page, 'Your account');
    expect(await page.getByRole('banner').innerText()).toContain('Ada Lovelace');
    expect(await page.getByRole('banner').innerText()).toContain(ada.email);
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.console-header > .side .user-button-name')].filter((e) => e.scrollHeight > e.clientHeight + 1).length`,
      ),
      'a name of twelve letters is cut off',
    ).toBe(0);
    expect(await page.getByRole('banner').getByRole('link', { name: 'Your API keys', exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('menuitem', { name: 'Error codes' }).click();
    await shows(page, 'Error codes');
    await page.getByRole('link', { name: 'Console' }).click();
    await shows(page, 'Your teams');
  });
});

describe.skipIf(!hasChromium)('the URL of a team', () => {
  test('has the slug, which a rename keeps, and links with the id lead there with their search', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const page = await open(`/teams/${team.id}/members?q=ada#content`, { as: ada });
    await page.waitForURL(`**/teams/${team.slug}/members?q=ada#content`);
    await shows(page, 'Members');
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Settings' }).click();
    await page.waitForURL(`**/teams/${team.slug}/settings`);
    await page.getByLabel('Team name').fill('Difference Engine');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByRole('combobox', { name: 'Team: Difference Engine' }).waitFor();
    await page.reload();
    await page.getByRole('combobox', { name: 'Team: Difference Engine' }).waitFor();

    await page.getByRole('link', { name: 'Teams', exact: true }).click();
    await page.getByRole('main').getByRole('link', { name: 'Difference Engine' }).click();
    await page.waitForURL(`**/teams/${team.slug}`);
    await page.goBack();
    await shows(page, 'Your teams');
  });

  test('of a team that the user cannot see says so, whether the team exists or not', async ({ api, open }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const page = await open(`/teams/${team.slug}/members`, { as: await aPerson(api) });
    await shows(page, 'You cannot see this team');
    const text = await page.getByRole('main').innerText();
    await page.goto('/teams/no-such-team/members');
    await shows(page, 'You cannot see this team');
    const withoutRequestId = (words: string) => words.replace(/Request .*/g, '');
    expect(withoutRequestId(await page.getByRole('main').innerText())).toBe(withoutRequestId(text));
  });
});

/** So many more teams of an account, `Team 1` and so on. */
const addTeams = (api: Api, { id }: { readonly id: string }, count: number) =>
  api.rows(
    `with made as (
       insert into team (id, name, slug, created_at, updated_at)
       select $1 || '-' || n, 'Team ' || n, 'of-' || lower($1) || '-' || n, now(), now() from generate_series(1, $2::int) n
       returning id
     )
     insert into membership (id, team_id, account_id, role_id, is_active, joined_at, created_at)
     select 'mem_' || id, id, $1, 'guest', true, now(), now() from made`,
    [id, count],
  );

describe.skipIf(!hasChromium)('somebody in two thousand teams', () => {
  test('has the closest 50 in the switcher and in the palette, and reaches each by the keyboard', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    await addTeams(api, ada, 2000);
    const page = await open(`/teams/${team.slug}`, { as: ada });
    await shows(page, 'Overview');
    const switcher = page.getByRole('combobox', { name: 'Team: Analytical Engine' });
    const options = page.getByRole('option', { name: /^Team / });
    await switcher.press('Enter');
    await page.getByText('The first 50 of 2,001 are shown. Type to find others.').waitFor();
    expect(await page.getByRole('option').count()).toBe(51);
    // Whose name is what was typed comes first, although hundreds begin with it.
    await page.keyboard.type('team 2');
    await expect.poll(() => options.first().locator('.team-switcher-name').innerText()).toBe('Team 2');
    expect(await options.count()).toBe(50);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1999');
    await expect.poll(() => options.locator('.team-switcher-name').allInnerTexts()).toEqual(['Team 1999']);
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Team: Team 1999' }).waitFor();

    await page.keyboard.press('Control+k');
    await palette(page).getByText('The first 50 of 2,000 are shown. Type to find others.').waitFor();
    expect(await palette(page).getByRole('option').count()).toBeLessThan(100);
    await page.keyboard.type('team 1777');
    await expect.poll(() => palette(page).getByRole('option').allInnerTexts()).toEqual(['Open Team 1777']);
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Team: Team 1777' }).waitFor();
  });
});
