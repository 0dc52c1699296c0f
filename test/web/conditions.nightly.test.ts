import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, PASSWORD, shows, signInAs, signOut, test } from './console.ts';

describe.skipIf(!hasChromium)('over a slow connection', () => {
  test('a page says at once that it is loading, and shows its content when it arrives', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner, name: 'Analytical Engine' });
    const page = await open(`/teams/${team.slug}/settings`, { as: owner });
    await shows(page, 'Settings');
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/trpc/**', (route) => promise.then(() => route.continue()));
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Members' }).click();
    await shows(page, 'Members');
    await page.getByRole('status', { name: 'Loading…' }).first().waitFor();
    expect(await page.getByRole('alert').count(), 'waiting is no error').toBe(0);
    resolve();
    await page.getByRole('rowheader', { name: /Ada Lovelace/ }).waitFor();
    expect(await page.getByRole('status', { name: 'Loading…' }).count()).toBe(0);
  });

  test('a form that waits for its answer says so, and is sent once', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in');
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    await page.route('**/trpc/auth.signIn*', (route) => {
      calls += 1;
      return promise.then(() => route.continue());
    });
    await signInAs(page, person.email, PASSWORD);
    await expect
      .poll(() => page.getByRole('button', { name: 'Sign in', exact: true }).getAttribute('data-loading'))
      .toBe('true');
    await page.getByLabel('Password', { exact: true }).press('Enter');
    resolve();
    await shows(page, 'Your teams');
    expect(calls).toBe(1);
  });
});

describe.skipIf(!hasChromium)('without a connection', () => {
  test('a page that cannot be read says so, and is shown when the connection is back', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner, name: 'Engines' });
    const page = await open(`/teams/${team.id}`, { as: owner });
    await page.getByRole('heading', { name: 'Members over time' }).waitFor();
    await page.waitForLoadState('networkidle');
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByRole('alert').getByText('No connection').waitFor();
    await page.context().setOffline(false);
    await shows(page, 'Billing');
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });
});

describe.skipIf(!hasChromium)('in two tabs', () => {
  test('a sign-out in one ends the other at its next call, which leads to the sign-in and back', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const first = await open('/', { as: person });
    await shows(first, 'Your teams');
    await first.waitForLoadState('networkidle');
    const second = await first.context().newPage();
    await second.goto('/account');
    await shows(second, 'Your account');

    await signOut(second);
    await shows(second, 'Sign in');
    await first.getByRole('link', { name: 'API keys' }).click();
    await first.getByText('Your session has ended').waitFor();
    await signInAs(first, person.email);
    await shows(first, 'API keys');
  });

  test('a change of what the other has removed says so, and the other is shown as it is now', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    await api.aMember(team, await aPerson(api, { firstName: 'Max', lastName: 'Member' }), { role: 'member' });
    const first = await open(`/teams/${team.slug}/members`, { as: owner });
    const actions = { name: 'Actions for Max Member' };
    await first.getByRole('button', actions).waitFor();
    const second = await first.context().newPage();
    await second.goto(`/teams/${team.slug}/members`);
    await second.getByRole('button', actions).click();
    await second.getByRole('menuitem', { name: 'Remove…' }).click();
    await second.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click();
    await second.getByText('“Max Member” removed.').waitFor();

    await first.getByRole('button', actions).click();
    await first.getByRole('menuitem', { name: 'Deactivate' }).click();
    await first.getByRole('alert').first().waitFor();
    await first.getByRole('button', actions).waitFor({ state: 'detached' });
  });
});
