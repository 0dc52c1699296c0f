import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { aPerson, PASSWORD, shows, signInAs, type Open } from './console.ts';
import { PATIENCE_MS } from '../support/patience.ts';

export const endSessions = (api: Api, { id }: { id: string }) =>
  api.rows('update session set revoked_at = now() where account_id = $1', [id]);

export const signInDialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' });

export async function signInAgain(page: Page, password = PASSWORD): Promise<void> {
  await signInDialog(page).getByLabel('Password', { exact: true }).fill(password);
  await signInDialog(page).getByRole('button', { name: 'Sign in', exact: true }).click();
}

export const profileOf = (page: Page) => page.getByRole('region', { name: 'Profile' });

export const namesOf = (api: Api, { id }: { id: string }) =>
  api.rows('select first_name, last_name from account where id = $1', [id]);

/** A page with a form that its user has filled, whose session has ended. */
export async function aFilledForm(api: Api, open: Open) {
  const person = await aPerson(api, { firstName: 'Before', lastName: 'Before' });
  const page = await open('/account', { as: person });
  await shows(page, 'Your account');
  await page.waitForLoadState('networkidle');
  await profileOf(page).getByLabel('First name').fill('Ada');
  await profileOf(page).getByLabel('Last name').fill('Lovelace');
  await endSessions(api, person);
  const save = () => profileOf(page).getByRole('button', { name: 'Save' }).click();
  return { person, page, save };
}

/** What happens when the user comes back to the tab, which browsers of tests never leave. */
export const comeBack = (page: Page) => page.evaluate(`window.dispatchEvent(new Event('focus'))`);

/** Signs in in another tab of the same browser. */
export async function signInElsewhere(page: Page, { email }: { email: string }): Promise<void> {
  const tab = await page.context().newPage();
  await tab.goto('/sign-in');
  await signInAs(tab, email);
  await shows(tab, 'Your teams');
}

/** Lets the page read again, as it does when its user comes back to the tab, unless it has just read. */
export async function readAgainUntil(shown: Locator): Promise<void> {
  await expect
    .poll(
      async () => {
        await shown.page().evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
        return shown.count();
      },
      { timeout: PATIENCE_MS },
    )
    .toBe(1);
}
