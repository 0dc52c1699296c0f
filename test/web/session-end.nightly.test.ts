import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { BLUE, halves, RED } from '../pictures/files.ts';
import { aPerson, shows, signInAs, test } from './console.ts';
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
import { plugIn } from './virtual-authenticator.ts';

const ADA = [{ first_name: 'Ada', last_name: 'Lovelace' }];

// Guarantees that a session that ends while a user fills a form loses nothing of what was entered.
describe.skipIf(!hasChromium)('a session that ended while a form was filled', () => {
  test('is replaced in a dialog over the form, which then is saved by itself', async ({ api, open }) => {
    const { person, page, save } = await aFilledForm(api, open);
    await save();
    await signInDialog(page).getByText(person.email).waitFor();
    await signInAgain(page, 'not the password');
    await signInDialog(page).getByRole('alert').getByText('The email or password is incorrect.').waitFor();
    expect(await namesOf(api, person)).toEqual([{ first_name: 'Before', last_name: 'Before' }]);

    await signInAgain(page);
    await page.getByText('Profile saved.').waitFor();
    await signInDialog(page).waitFor({ state: 'detached' });
    expect(await namesOf(api, person)).toEqual(ADA);
    expect(await profileOf(page).getByLabel('First name').inputValue()).toBe('Ada');
  });

  test('leaves a dialog open, which goes on with its calls', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    const page = await open(`/teams/${team.id}/invitations`, { as: owner });
    await page.getByRole('button', { name: 'Invite people' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite people' });
    await dialog.getByLabel('Email addresses').fill('one@example.com\ntwo@example.com\nthree@example.com');
    await endSessions(api, owner);
    await dialog.getByRole('button', { name: 'Send 3 invitations' }).click();

    await signInDialog(page).getByLabel('Password', { exact: true }).press('Escape');
    await signInAgain(page);
    await dialog.getByText('3 invited.').waitFor();
    await signInDialog(page).waitFor({ state: 'detached' });
    expect(await api.rows('select email from invitation where team_id = $1 order by email', [team.id])).toEqual(
      ['one', 'three', 'two'].map((name) => ({ email: `${name}@example.com` })),
    );
  });

  test('is said when a read finds it, and the form stays as it is', async ({ api, open }) => {
    const { person, page, save } = await aFilledForm(api, open);
    await readAgainUntil(signInDialog(page));
    await signInAgain(page);
    await signInDialog(page).waitFor({ state: 'detached' });
    expect(await profileOf(page).getByLabel('First name').inputValue()).toBe('Ada');
    await save();
    await page.getByText('Profile saved.').waitFor();
    expect(await namesOf(api, person)).toEqual(ADA);
  });

  test('is replaced by a sign-in in another tab', async ({ api, open }) => {
    const { person, page, save } = await aFilledForm(api, open);
    await save();
    const others = signInDialog(page).getByRole('link', { name: 'Other ways to sign in' });
    expect(await others.getAttribute('href')).toBe('/sign-in');
    expect(await others.getAttribute('target')).toBe('_blank');
    await signInElsewhere(page, person);
    await comeBack(page);
    await page.getByText('Profile saved.').waitFor();
    expect(await namesOf(api, person)).toEqual(ADA);
  });

  test('leads to the sign-in once the browser is signed in as someone else, and changes nothing', async ({
    api,
    open,
  }) => {
    const { person, page, save } = await aFilledForm(api, open);
    const second = await aPerson(api, { firstName: 'Second', lastName: 'Second' });
    await save();
    await signInDialog(page).waitFor();
    await signInElsewhere(page, second);
    await comeBack(page);
    await shows(page, 'Sign in');
    await page.getByText(`You are signed in as ${second.email}`).waitFor();
    expect(await namesOf(api, person)).toEqual([{ first_name: 'Before', last_name: 'Before' }]);
    expect(await namesOf(api, second)).toEqual([{ first_name: 'Second', last_name: 'Second' }]);
  });

  test('can be left for the sign-in page, which leads back', async ({ api, open }) => {
    const { person, page, save } = await aFilledForm(api, open);
    await api.rows('update account set disabled_at = now() where id = $1', [person.id]);
    await save();
    await signInAgain(page);
    await signInDialog(page).getByRole('alert').waitFor();
    await signInDialog(page).getByRole('button', { name: 'Leave this page' }).click();
    await shows(page, 'Sign in');
    await page.getByText('Your session has ended').waitFor();

    await api.rows('update account set disabled_at = null where id = $1', [person.id]);
    await signInAs(page, person.email);
    await shows(page, 'Your account');
    expect(await namesOf(api, person)).toEqual([{ first_name: 'Before', last_name: 'Before' }]);
  });

  test('is replaced with a passkey', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    await plugIn(page);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Laptop' }).waitFor();
    await profileOf(page).getByLabel('First name').fill('Ada');
    await profileOf(page).getByLabel('Last name').fill('Lovelace');
    await endSessions(api, person);
    await profileOf(page).getByRole('button', { name: 'Save' }).click();
    await signInDialog(page).getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Profile saved.').waitFor();
    expect(await namesOf(api, person)).toEqual(ADA);
  });

  test('is replaced before a picture is sent, and the names beside it stay', async ({ api, open }) => {
    const { page } = await aFilledForm(api, open);
    const buffer = await (await halves(RED, BLUE)).png().toBuffer();
    await page.locator('input[type="file"]').setInputFiles({ name: 'ada.png', mimeType: 'image/png', buffer });
    await signInDialog(page).waitFor();
    await signInAgain(page);
    await page.getByText('Picture saved.').waitFor();
    expect(await profileOf(page).getByLabel('First name').inputValue()).toBe('Ada');
  });
});
