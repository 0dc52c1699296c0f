import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { setLastProof } from '../support/sessions.ts';
import { aPerson, PASSWORD, shows, signInAs, test, type Open } from './console.ts';
import { plugIn } from './virtual-authenticator.ts';

const CONFIRM = 'Confirm that it is you';

/** The account page of somebody whose sign-in is no longer recent. */
async function openStale(api: Api, open: Open) {
  const person = await aPerson(api);
  const page = await open('/account', { as: person });
  await shows(page, 'Your account');
  await setLastProof(api, 11, person);
  return { person, page };
}

async function deleteAccount(page: Page) {
  await page.getByRole('button', { name: 'Delete account…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click();
  return page.getByRole('dialog', { name: CONFIRM });
}

const accounts = (api: Api, { id }: { id: string }) => api.rows('select id from account where id = $1', [id]);

describe.skipIf(!hasChromium)('an action that needs a recent sign-in', () => {
  test('asks for the password, then goes on by itself', async ({ api, open }) => {
    const { person, page } = await openStale(api, open);
    const dialog = await deleteAccount(page);
    await dialog.getByLabel('Password', { exact: true }).fill('not the password');
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    await dialog.getByText('Incorrect password.').waitFor();
    expect(await accounts(api, person)).toHaveLength(1);

    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();

    await shows(page, 'Sign in');
    await page.getByText('Account deleted.').waitFor();
    expect(await accounts(api, person)).toEqual([]);
  });

  test('is not done when the user cancels, and can be tried again', async ({ api, open }) => {
    const { person, page } = await openStale(api, open);
    const dialog = await deleteAccount(page);
    await dialog.getByLabel('Password', { exact: true }).press('Escape');

    const question = page.getByRole('dialog', { name: 'Delete your account?' });
    await question.getByRole('alert').getByText(CONFIRM, { exact: true }).waitFor();
    expect(await accounts(api, person)).toHaveLength(1);

    await question.getByRole('button', { name: 'Delete account' }).click();
    await dialog.getByLabel('Password', { exact: true }).waitFor();
  });

  test('goes on after a new sign-in with an emailed link in the same browser', async ({ api, open }) => {
    const { person, page } = await openStale(api, open);
    const dialog = await deleteAccount(page);
    await dialog.getByRole('button', { name: 'Email me a sign-in link' }).click();
    await dialog.getByText('Open the link that was emailed to you').waitFor();
    const token = /token=(\S+)/.exec((await api.mailTo(person.email, /sign-in link/)).text)?.[1] ?? '';

    // As the page of the link does, in another tab.
    const tab = await page.context().newPage();
    await tab.goto('/sign-in');
    await tab.evaluate(
      (given) =>
        fetch('/trpc/auth.signInWithLink', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ token: given }),
        }),
      token,
    );

    await shows(page, 'Sign in');
    expect(await accounts(api, person)).toEqual([]);
  });

  test('takes a passkey instead of the password', async ({ api, open }) => {
    const { person, page } = await openStale(api, open);
    await setLastProof(api, 0, person);
    await plugIn(page);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Laptop' }).waitFor();
    await setLastProof(api, 60, person);

    const dialog = await deleteAccount(page);
    await dialog.getByRole('button', { name: 'Confirm with a passkey' }).click();

    await shows(page, 'Sign in');
    expect(await accounts(api, person)).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('a tab that was left open', () => {
  // Guarantees that nothing of one person is written into the account of another.
  test('does not save into the account that another tab signed in to, and offers to reload', async ({ api, open }) => {
    const [first, second] = [await aPerson(api), await aPerson(api)];
    const stale = await open('/account', { as: first });
    await shows(stale, 'Your account');
    const profile = stale.getByRole('region', { name: 'Profile' });
    await profile.getByLabel('First name').fill('Ada');
    await profile.getByLabel('Last name').fill('Lovelace');

    const other = await stale.context().newPage();
    await other.goto('/sign-in');
    await signInAs(other, second.email);
    await shows(other, 'Your teams');

    await profile.getByRole('button', { name: 'Save' }).click();
    const dialog = stale.getByRole('dialog', { name: 'Signed in as a different user' });
    await dialog.waitFor();
    expect(await api.rows('select id from account where first_name = $1', ['Ada'])).toEqual([]);

    await dialog.getByRole('button', { name: 'Reload' }).click();
    await stale.getByRole('main').getByText(second.email).waitFor();
  });
});
