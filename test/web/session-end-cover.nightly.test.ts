import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { setLastProof } from '../support/sessions.ts';
import { aPerson, PASSWORD, shows, test, type Open } from './console.ts';
import {
  aFilledForm,
  comeBack,
  endSessions,
  namesOf,
  profileOf,
  readAgainUntil,
  signInAgain,
  signInDialog,
  signInElsewhere,
} from './ended-session.ts';

const BEFORE = [{ first_name: 'Before', last_name: 'Before' }];

/** A dialog that was opened after another page, and filled, and whose user's session has ended. */
async function aFilledDialog(api: Api, open: Open) {
  const owner = await aPerson(api);
  const team = await api.aTeam({ owner });
  const page = await open(`/teams/${team.id}/members`, { as: owner });
  await shows(page, 'Members');
  await page.getByRole('link', { name: 'Invitations' }).click();
  await page.getByRole('button', { name: 'Invite people' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite people' });
  await dialog.getByLabel('Email addresses').fill('one@example.com');
  await endSessions(api, owner);
  const invitations = () => api.rows('select email from invitation where team_id = $1', [team.id]);
  return { page, dialog, invitations };
}

/** Answers a sign-in as the service does, but late or without its cookie. */
const answerSignIn = (page: Page, answer: () => Promise<unknown>) =>
  page.route('**/trpc/auth.signIn', async (route) => {
    await answer();
    await route.fulfill({ json: { result: { data: { success: true } } } });
  });

// Guarantees that what lies below the dialog stays, and that nobody answers for the user of a page that was left.
describe.skipIf(!hasChromium)('the dialog over a page whose session has ended', () => {
  test('keeps a dialog below it open for Escape, wherever the focus is, and gives the focus back to it', async ({
    api,
    open,
  }) => {
    const { page, dialog } = await aFilledDialog(api, open);
    await readAgainUntil(signInDialog(page));
    await signInDialog(page).getByLabel('Password', { exact: true }).waitFor();
    await page.mouse.click(5, 5); // beside the dialog, which takes the focus away from it
    await page.keyboard.press('Escape');
    await signInAgain(page);
    await signInDialog(page).waitFor({ state: 'detached' });
    const field = dialog.getByLabel('Email addresses');
    expect(await field.inputValue()).toBe('one@example.com');
    await field.and(page.locator(':focus')).waitFor();
  });

  test('signs in again although another tab has signed in as someone else', async ({ api, open }) => {
    const { person, page, save } = await aFilledForm(api, open);
    const second = await aPerson(api, { firstName: 'Before', lastName: 'Before' });
    await save();
    await signInDialog(page).waitFor();
    await signInElsewhere(page, second);
    await signInAgain(page);
    await page.getByText('Profile saved.').waitFor();
    expect(await namesOf(api, person)).toEqual([{ first_name: 'Ada', last_name: 'Lovelace' }]);
    expect(await namesOf(api, second)).toEqual(BEFORE);
  });

  test('stays if the browser does not keep the new session', async ({ api, open }) => {
    const { page, save } = await aFilledForm(api, open);
    await save();
    await signInDialog(page).waitFor();
    await answerSignIn(page, () => Promise.resolve());
    await signInAgain(page);
    await signInDialog(page).getByRole('alert').waitFor();
    expect(await profileOf(page).getByLabel('First name').inputValue()).toBe('Ada');
  });

  test('ignores a late answer after a sign-in in another tab', async ({ api, open }) => {
    const { person, page, save } = await aFilledForm(api, open);
    await save();
    await signInDialog(page).waitFor();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await answerSignIn(page, () => answered);
    await signInAgain(page);
    await signInElsewhere(page, person);
    await comeBack(page);
    await page.getByText('Profile saved.').waitFor();

    await profileOf(page).getByLabel('First name').fill('Augusta');
    await endSessions(api, person);
    await save();
    await signInDialog(page).waitFor();
    answer();
    await signInDialog(page).getByLabel('Password', { exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await signInDialog(page).count()).toBe(1);
    expect(await profileOf(page).getByLabel('First name').inputValue()).toBe('Augusta');
  });

  test('closes with the back button, and what was submitted is not done', async ({ api, open }) => {
    const { page, dialog, invitations } = await aFilledDialog(api, open);
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await signInDialog(page).waitFor();
    await page.goBack();
    await shows(page, 'Sign in');
    expect(new URL(page.url()).searchParams.get('next')).toMatch(/\/members$/);
    await page.getByLabel('Password', { exact: true }).waitFor();
    expect(await signInDialog(page).count()).toBe(0);
    expect(await invitations()).toEqual([]);
  });

  test('closes a question for a proof when the page is left, so that nobody else answers it', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    await shows(page, 'Your account');
    await setLastProof(api, 11, person);
    await page.getByRole('button', { name: 'Delete account…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await proof.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await endSessions(api, person);
    await proof.getByRole('button', { name: 'Confirm', exact: true }).click();
    await signInDialog(page).getByRole('button', { name: 'Leave this page' }).click();
    await shows(page, 'Sign in');
    await proof.waitFor({ state: 'detached' });
    expect(await api.rows('select id from account where id = $1', [person.id])).toHaveLength(1);
  });
});
