import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, linkIn, PASSWORD, shows, test } from './console.ts';

const TEAM = 'Analytical Engine';
const STOPS_MAX = 80;

/** Moves the focus forward until it is visible on an element, as somebody without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const focused = target.and(page.locator(':focus-visible'));
  for (let stops = 0; stops < STOPS_MAX; stops += 1) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target.toString()}.`);
}

async function press(page: Page, target: Locator, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

async function type(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.type(text);
}

/** Returns the text of the option that a combobox names as the current one, which has to be the marked one. */
async function markedBy(combobox: Locator): Promise<string | null> {
  const id = await combobox.getAttribute('aria-activedescendant');
  if (id === null) return null;
  return combobox.page().locator(`[id="${id}"][data-combobox-selected]`).innerText();
}

const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });

/** Opens a menu, and presses the item of a name. */
async function choose(page: Page, menu: Locator, item: string): Promise<void> {
  // A dialog that is closing still holds the focus.
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await press(page, menu);
  const wanted = page.getByRole('menuitem', { name: item }).and(page.locator(':focus'));
  await page.getByRole('menuitem', { name: item }).waitFor();
  for (let steps = 0; (await wanted.count()) === 0; steps += 1) {
    expect(steps, `the arrow keys reach ${item}`).toBeLessThan(20);
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
}

/** Follows a link of the navigation. */
async function goTo(page: Page, name: string, title: string): Promise<void> {
  await press(page, page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name }));
  await shows(page, title);
}

async function signUp(api: Api, page: Page, email: string): Promise<void> {
  await type(page, page.getByLabel('Email'), email);
  await type(page, page.getByLabel('Password', { exact: true }), PASSWORD);
  await type(page, page.getByLabel('First name'), 'Ada');
  await page.keyboard.press('Enter');
  await shows(page, 'Check your email');
  await page.goto(linkIn(await api.mailTo(email, /verify/i)));
  await press(page, button(page, 'Verify email'));
  await press(page, page.getByRole('link', { name: 'Go to your teams' }));
  await shows(page, 'Your teams');
}

describe.skipIf(!hasChromium)('by the keyboard alone', () => {
  test('one signs up, creates a team, invites, changes a role, removes, creates and revokes a key, and signs out', async ({
    api,
    open,
  }) => {
    const page = await open('/sign-up');
    const dialog = page.getByRole('dialog');
    const email = `ada-${crypto.randomUUID()}@example.com`;
    await signUp(api, page, email);

    await press(page, button(page, 'Create team'));
    await type(page, dialog.getByLabel('Team name'), TEAM);
    await page.keyboard.press('Enter');
    await shows(page, 'Overview');

    await goTo(page, 'Invitations', 'Invitations');
    await press(page, button(page, 'Invite people').first());
    await type(page, dialog.getByLabel('Email addresses'), 'max@example.com');
    await tabTo(page, dialog.getByRole('radio', { checked: true }));
    await page.keyboard.press('ArrowDown');
    await press(page, button(dialog, 'Send invitation'));
    await dialog.getByText('1 invited.').waitFor();
    await press(page, button(dialog, 'Done'));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('max@example.com').waitFor();

    const max = await aPerson(api, { firstName: 'Max', lastName: 'Member' });
    const [team] = await api.rows<{ id: string }>(
      'select t.id from team t join membership m on m.team_id = t.id join account a on a.id = m.account_id where a.email = $1',
      [email],
    );
    await api.aMember({ id: team?.id ?? '' }, max, { role: 'member' });
    await goTo(page, 'Members', 'Members');
    const actions = page.getByRole('button', { name: 'Actions for Max Member' });
    await choose(page, actions, 'Change role…');
    await tabTo(page, dialog.getByRole('radio', { checked: true }));
    await page.keyboard.press('ArrowDown');
    await press(page, button(dialog, 'Change role'));
    await page.getByText('Role of “Max Member” changed').waitFor();
    await choose(page, actions, 'Remove…');
    await press(page, button(dialog, 'Remove member'));
    await page.getByText('“Max Member” removed.').waitFor();

    await goTo(page, 'API keys', 'Team API keys');
    await press(page, button(page, 'Create key'));
    await type(page, dialog.getByLabel('Name'), 'Deployment');
    await press(page, dialog.getByLabel('See teams and their details'), 'Space');
    await press(page, button(dialog, 'Create key'));
    await press(page, button(dialog, 'Done'));
    await choose(page, page.getByRole('button', { name: 'Actions for Deployment' }), 'Revoke Deployment');
    await press(page, button(dialog, 'Revoke'));
    await page.getByText('Key revoked.').waitFor();

    await choose(page, page.getByRole('button', { name: /^Your account and settings/ }), 'Sign out');
    await shows(page, 'Sign in');
  });

  // Guarantees that screen readers announce the option that Enter chooses.
  test('a list with a search names the marked option, also when typing follows the arrow keys', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner: ada, name: TEAM });
    await api.aTeam({ owner: ada, name: 'Difference Engine' });
    for (const firstName of ['Grace', 'Mary']) {
      await api.aMember(team, await api.anAccount({ firstName, lastName: 'Hopper' }), { role: 'member' });
    }
    const page = await open(`/teams/${team.slug}/audit`, { as: ada });
    await shows(page, 'Audit log');

    const user = page.getByRole('combobox', { name: 'User' });
    await type(page, user, 'hopper');
    await expect.poll(() => markedBy(user)).toMatch(/^Grace Hopper/);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => markedBy(user)).toMatch(/^Mary Hopper/);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('ada');
    await expect.poll(() => markedBy(user)).toMatch(/^Ada Lovelace/);
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('person')).toBe(ada.id);

    await page.keyboard.press('Control+k');
    const palette = page.getByRole('combobox', { name: 'Search pages and actions' });
    await palette.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => markedBy(palette)).not.toBe(null);
    await page.keyboard.type('difference');
    await expect.poll(() => markedBy(palette)).toBe('Open Difference Engine');
  });
});
