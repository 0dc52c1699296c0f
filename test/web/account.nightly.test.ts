import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, chooseOf, linkIn, shows, signOut, signInAs, test } from './console.ts';
import { plugIn } from './virtual-authenticator.ts';

const NEW_PASSWORD = 'a rather long new sentence';

const section = (page: Page, name: string) => page.getByRole('region', { name });

describe.skipIf(!hasChromium)('the account page', () => {
  test('a session that is revoked from another browser is out at its next step', async ({ api, open }) => {
    const person = await aPerson(api);
    const here = await open('/sign-in');
    await signInAs(here, person.email);
    await shows(here, 'Your teams');
    const there = await open('/sign-in', {
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
    });
    await signInAs(there, person.email);
    await shows(there, 'Your teams');

    await here.getByRole('link', { name: 'Account' }).click();
    const sessions = section(here, 'Sessions').getByRole('listitem');
    await sessions.nth(1).waitFor();
    expect(await sessions.filter({ hasText: 'This session' }).innerText()).toMatch(/Chrome/);
    await sessions.filter({ hasText: 'Firefox' }).getByRole('button').click();
    await here.getByText('Session signed out.').waitFor();
    expect(await sessions.count()).toBe(1);

    await there.getByRole('link', { name: 'Account' }).click();
    await shows(there, 'Sign in');
    // After signing in again it goes on where it was interrupted.
    await signInAs(there, person.email);
    await shows(there, 'Your account');
  });

  test('each session shows its last use and the address it came from', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.aSession(person, { browser: 'Firefox' });
    const { id } = await api.aSession(person, { browser: 'Safari' });
    await api.rows(
      `update session set last_used_at = '2026-01-02T03:04:05Z', last_address = '2001:db8::7' where id = $1`,
      [id],
    );
    const page = await open('/account', { as: person });
    const sessions = section(page, 'Sessions').getByRole('listitem');
    const used = sessions.filter({ hasText: 'Safari' });
    await used.getByText('last used 2 Jan 2026, 03:04 · 2001:db8::7').waitFor();
    expect(await sessions.filter({ hasText: 'Firefox' }).innerText()).not.toMatch(/use/i);
    expect(await sessions.count()).toBe(3);

    await api.usage.flush();
    await page.reload();
    await sessions
      .filter({ hasText: 'This session' })
      .getByText(/last used .* · 127\.0\.0\.1/)
      .waitFor();
  });

  test('each session shows how its user signed in and proved who they are', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.aSession(person, { browser: 'Firefox' });
    const { id } = await api.aSession(person, { browser: 'Safari' });
    const proofs = { password: '2026-01-01T00:00:00Z', passkey: '2026-01-03T00:00:00Z', link: '2026-01-02T00:00:00Z' };
    await api.rows('update session set proofs = $2 where id = $1', [id, JSON.stringify(proofs)]);
    const page = await open('/account', { as: person });
    const sessions = section(page, 'Sessions').getByRole('listitem');

    await sessions.filter({ hasText: 'Safari' }).getByText('Signed in with: passkey, sign-in link, password').waitFor();
    await sessions.filter({ hasText: 'Firefox' }).getByText('Signed in with: password', { exact: true }).waitFor();
  });

  test('all other sessions are signed out immediately', async ({ api, open }) => {
    const person = await aPerson(api);
    const there = await open('/', { as: person });
    await shows(there, 'Your teams');
    const here = await open('/account', { as: person });

    await here.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await here.getByText('1 session signed out.').waitFor();

    await there.reload();
    await shows(there, 'Sign in');
    await here.reload();
    await shows(here, 'Your account');
  });

  test('a forgotten password is reset by email, which signs out everywhere', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.anApiKey(person, { scopes: ['profile:read'] });
    const elsewhere = await open('/', { as: person });
    await shows(elsewhere, 'Your teams');
    const page = await open('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('Email').fill(person.email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await shows(page, 'Check your email');

    await page.goto(linkIn(await api.mailTo(person.email, /reset/i)));
    await page.getByLabel('New password').fill('password');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('This password is too common. Choose another.').waitFor();
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await shows(page, 'Password changed');
    const access = page.getByRole('list', { name: 'Still has access' }).getByRole('listitem');
    expect(await access.allInnerTexts()).toEqual([expect.stringContaining('A key')]);
    await page.getByRole('button', { name: 'Revoke all' }).click();
    await page
      .getByText('All passkeys, API keys and connected apps were revoked, and your other sessions were signed out.')
      .waitFor();
    expect(await api.rows('select 1 from api_key where account_id = $1 and revoked_at is null', [person.id])).toEqual(
      [],
    );

    await page.getByRole('link', { name: 'Go to sign-in' }).click();
    await signInAs(page, person.email, NEW_PASSWORD);
    await shows(page, 'Your teams');
    await elsewhere.reload();
    await shows(elsewhere, 'Sign in');
  });

  test('the address changes once its new mailbox has confirmed', async ({ api, open }) => {
    const person = await aPerson(api);
    const newEmail = `new-${crypto.randomUUID()}@example.com`;
    const page = await open('/account', { as: person });
    const email = section(page, 'Email');
    await email.getByLabel('New email').fill(newEmail);
    await email.getByRole('button', { name: 'Change email' }).click();
    await page.getByText(`Open the link sent to ${newEmail}`).waitFor();

    await page.goto(linkIn(await api.mailTo(newEmail)));
    await shows(page, 'Confirm your new email address');
    await page.getByRole('button', { name: 'Confirm email' }).click();
    await shows(page, 'Email address changed');

    expect(await api.rows('select email from account where id = $1', [person.id])).toEqual([{ email: newEmail }]);
  });

  test('a new password keeps this session', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    const password = section(page, 'Password');
    await password.getByLabel('New password').fill(NEW_PASSWORD);
    await password.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed.').waitFor();

    await page.reload();
    await shows(page, 'Your account');
    await signOut(page);
    await shows(page, 'Sign in');
    await signInAs(page, person.email, NEW_PASSWORD);
    await shows(page, 'Your teams');
  });

  test('names are kept, and dates are written as the chosen language writes them', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    const profile = section(page, 'Profile');
    await profile.getByLabel('First name').fill('Ada');
    await profile.getByLabel('Last name').fill('Lovelace');
    await profile.getByLabel('Language and region').selectOption('en-CA');
    await profile.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Profile saved.').waitFor();

    await page.reload();
    await shows(page, 'Your account');
    expect(await profile.getByLabel('First name').inputValue()).toBe('Ada');
    const today = new Intl.DateTimeFormat('en-CA', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date());
    await section(page, 'Sessions').getByText(today).first().waitFor();
  });

  test('a passkey is added, renamed, signs in, and is removed', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    await plugIn(page);
    const passkeys = section(page, 'Passkeys');
    await addPasskey(page, 'Laptop');
    await chooseOf(page, 'Laptop', 'Rename the passkey Laptop');
    await page.getByRole('dialog').getByLabel('Name').fill('Work laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await passkeys.getByRole('listitem').filter({ hasText: 'Work laptop' }).waitFor();

    // The authenticator consents to everything immediately, so the page must not offer passkeys by itself here.
    await page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false)');
    await signOut(page);
    await shows(page, 'Sign in');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await shows(page, 'Your teams');

    await page.getByRole('link', { name: 'Account' }).click();
    await chooseOf(page, 'Work laptop', 'Remove the passkey Work laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await passkeys.getByText('You have no passkeys.').waitFor();
    expect(await api.rows('select id from passkey where account_id = $1', [person.id])).toEqual([]);
  });

  test('a passkey signs in from the suggestions for the address, without the button', async ({ api, open }) => {
    const page = await open('/account', { as: await aPerson(api) });
    await plugIn(page);
    await addPasskey(page, 'Laptop');

    await signOut(page);
    await shows(page, 'Your teams');
  });

  test('one’s own activity is listed in pages, and all that is stored is downloaded', async ({ api, open }) => {
    const person = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner: person });
    const { trpc } = await signedIn(api, person);
    for (let index = 0; index < 9; index += 1) await trpc.updateTeam.mutate({ teamId: team.id, name: `Name ${index}` });
    await trpc.account.updateProfile.mutate({ firstName: 'Ada', lastName: 'King' });
    const page = await open('/account', { as: person });
    const activity = section(page, 'Activity');
    const newest = activity.getByRole('listitem').first();
    await newest.getByText('Profile changed').waitFor();
    await activity.getByText('“Ada King” renamed the team').first().waitFor();
    expect(await newest.innerText()).toContain('from 127.0.0.1');
    expect(await activity.getByRole('listitem').count()).toBe(8);
    await activity.getByRole('button', { name: 'Older' }).press('Enter');
    await expect.poll(() => newest.innerText()).toContain('renamed the team');
    expect(await activity.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    await activity.getByRole('button', { name: 'Newer' }).press('Enter');
    await newest.getByText('Profile changed').waitFor();

    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download my data' }).press('Enter'),
    ]);
    await page.getByText('Data downloaded.').waitFor();
    expect(saved.suggestedFilename()).toBe('account.json');
    const file = JSON.parse(await readFile(await saved.path(), 'utf8')) as { account: object; events: object[] };
    expect(file.account).toMatchObject({ id: person.id, lastName: 'King' });
    expect(file.events).toHaveLength(10);
  });

  // Guarantees that a section can be linked to, and that the keyboard and screen readers begin there.
  test('a link, or the URL, leads to a section, which has the focus; Back leads to the one before', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const page = await open('/account#sessions', { as: person });
    const focused = (name: string) => section(page, name).and(page.locator(':focus')).waitFor();
    const isAtTop = async (name: string) => {
      await expect.poll(async () => (await section(page, name).boundingBox())?.y).toBeLessThan(100);
    };
    await focused('Sessions');
    await isAtTop('Sessions');
    const list = page.getByRole('navigation', { name: 'On this page' });
    const marked = list.locator('[aria-current="location"]');
    await expect.poll(() => marked.innerText()).toBe('Sessions');
    expect(await list.getByRole('link').count()).toBe(await page.locator('main section').count());

    await list.getByRole('link', { name: 'Passkeys' }).press('Enter');
    await focused('Passkeys');
    await isAtTop('Passkeys');
    expect(new URL(page.url()).hash).toBe('#passkeys');
    await page.keyboard.press('Tab');
    await section(page, 'Passkeys').getByRole('button').and(page.locator(':focus')).waitFor();
    await page.goBack();
    await focused('Sessions');

    for (const link of await list.getByRole('link').all()) {
      await link.click();
      await focused(await link.innerText());
    }
    await list.getByRole('link', { name: 'Profile' }).click();
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await list.getByRole('link', { name: 'Profile' }).click();
    await isAtTop('Profile');
  });

  test('the account is deleted after a confirmation', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    await page.getByRole('button', { name: 'Delete account…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await shows(page, 'Sign in');
    await page.getByText('Account deleted.').waitFor();
    expect(await api.rows('select 1 from account where id = $1', [person.id])).toEqual([]);
  });
});

async function addPasskey(page: Page, name: string): Promise<void> {
  await section(page, 'Passkeys').getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click();
  await section(page, 'Passkeys').getByRole('listitem').filter({ hasText: name }).waitFor();
}
