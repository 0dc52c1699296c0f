import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, chooseOf, linkIn, PASSWORD, shows, signInAs, test } from './console.ts';

const focusedTag = (page: Page) => page.evaluate('document.activeElement.tagName');

describe.skipIf(!hasChromium)('what the console says is true', () => {
  test('offline is said, and a change is not shown as done before the service confirmed it', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const max = await aPerson(api, { firstName: 'Max', lastName: 'Member' });
    const team = await api.aTeam({ owner });
    await api.aMember(team, max, { role: 'member' });
    const page = await open(`/teams/${team.id}/members`, { as: owner });
    const row = page.getByRole('row').filter({ hasText: 'Max Member' });
    await row.waitFor();

    await page.context().setOffline(true);
    await page.getByText('You are offline', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Actions for Max Member' }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await page.getByRole('alert').getByText('“Max Member” was not changed.').waitFor();
    expect(await row.getByText('Active', { exact: true }).isVisible()).toBe(true);

    await page.context().setOffline(false);
    await page.getByText('You are offline', { exact: true }).waitFor({ state: 'detached' });
    await row.getByText('Active', { exact: true }).waitFor();
    const [membership] = await api.rows('select is_active from membership where account_id = $1', [max.id]);
    expect(membership).toEqual({ is_active: true });
  });

  test('a change counts as not made only if it was not sent, whether or not the browser is online later', async ({
    api,
    open,
  }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner, name: 'Before' });
    const page = await open(`/teams/${team.id}/settings`, { as: owner });
    const alert = page.getByRole('alert');
    const save = page.getByRole('button', { name: 'Save' }).first();
    await page.route('**/trpc/*', async (route) => {
      if (route.request().method() === 'GET') return route.continue();
      await page.context().setOffline(true);
      await route.abort();
    });
    await page.getByLabel('Team name').fill('After');
    await save.click();
    await alert.getByText('It is not known whether this was done.').waitFor();

    await save.click();
    await alert.getByText('Nothing was changed.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('You are offline', { exact: true }).waitFor({ state: 'detached' });
    await alert.getByText('Nothing was changed.').waitFor();
  });

  test('while a change of a member is being saved, its row says so and shows the old state', async ({ api, open }) => {
    const owner = await aPerson(api);
    const max = await aPerson(api, { firstName: 'Max', lastName: 'Member' });
    const team = await api.aTeam({ owner });
    await api.aMember(team, max, { role: 'member' });
    const page = await open(`/teams/${team.id}/members`, { as: owner });
    const row = page.getByRole('row').filter({ hasText: 'Max Member' });
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/trpc/members.deactivate*', (route) => promise.then(() => route.continue()));
    await row.getByRole('button', { name: 'Actions for Max Member' }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await row.getByRole('status', { name: 'Saving the change of “Max Member”…' }).waitFor();
    expect(await row.getAttribute('aria-busy')).toBe('true');
    expect(await row.getByText('Active', { exact: true }).isVisible()).toBe(true);
    resolve();
    await row.getByText('Inactive').waitFor();
  });

  test('a profile without a last name is saved, with its language', async ({ api, open }) => {
    const person = await aPerson(api, { firstName: 'Sukarno' });
    await api.rows('update account set last_name = null where id = $1', [person.id]);
    const page = await open('/account', { as: person });
    await page.getByLabel('Language and region').selectOption('en-IE');
    await page.getByRole('region', { name: 'Profile' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Profile saved.').waitFor();
    const [row] = await api.rows('select first_name, last_name, preferred_locale from account where id = $1', [
      person.id,
    ]);
    expect(row).toEqual({ first_name: 'Sukarno', last_name: null, preferred_locale: 'en-IE' });
  });

  test('a team whose name shows nothing can be opened', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner, name: '   ' });
    const page = await open('/', { as: owner });
    await page.getByRole('link', { name: 'Team without a name' }).click();
    await shows(page, 'Overview');
    expect(new URL(page.url()).pathname).toBe(`/teams/${team.slug}`);

    await page.goto('/');
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByLabel('Team name').fill('   ');
    await page.getByRole('dialog').getByRole('button', { name: 'Create team' }).click();
    await expect.poll(() => page.getByLabel('Team name').getAttribute('aria-invalid')).toBe('true');
  });

  test('a new key is not said to be unused before its uses have been written', async ({ api, open }) => {
    const owner = await aPerson(api);
    const key = await api.anApiKey(owner);
    expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
    const page = await open('/api-keys', { as: owner });
    await page.getByText('Uses appear within a minute').waitFor();
    expect(await page.getByRole('main').innerText()).not.toMatch(/never used/i);
  });

  test('a page whose file cannot be loaded reloads once, and then says so inside of the console', async ({
    api,
    open,
  }) => {
    const page = await open('/', { as: await aPerson(api) });
    await shows(page, 'Your teams');
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.route(/\/assets\/developer-.*\.js$/, (route) => route.abort());
    await page.getByRole('link', { name: 'Developer' }).click();
    await page.getByRole('alert').getByText('This part of the page could not be loaded').waitFor();
    expect(loads).toBe(1);
    expect(await page.getByRole('main').count(), 'no console inside of the console').toBe(1);
    expect(await page.getByRole('banner').count()).toBe(1);

    await page.unroute(/\/assets\/developer-.*\.js$/);
    await page.getByRole('button', { name: 'Reload' }).click();
    await shows(page, 'Developer');
  });

  test.for([
    ['its texts', /\/assets\/de-.*\.js$/],
    ['its first script', /\/assets\/index-.*\.js$/],
  ] as const)(
    'a page without %s reloads once, and then says so in the language of the reader',
    async ([, file], { open }) => {
      const page = await open('about:blank', { locale: 'de' });
      let loads = 0;
      page.on('request', (request) => (loads += Number(request.isNavigationRequest())));
      await page.route(file, (route) => route.abort());
      await page.goto('/sign-in').catch(() => undefined); // the reload interrupts it
      await page.getByRole('alert').getByText('Diese Seite konnte nicht geladen werden').waitFor();
      expect(loads).toBe(2);

      await page.unroute(file);
      await page.getByRole('button', { name: 'Neu laden' }).click();
      await shows(page, 'Anmelden');
    },
  );

  test('a dialog whose file cannot be loaded says so, and the page stays as it is', async ({ api, open }) => {
    const page = await open('/', { as: await aPerson(api) });
    await shows(page, 'Your teams');
    await page.route(/\/assets\/.*\.js$/, (route) => route.abort());
    for (const openDialog of [
      () => page.getByRole('button', { name: 'Create team' }).first().click(),
      () => page.keyboard.press('Control+k'),
      () => page.keyboard.press('?'),
    ]) {
      await openDialog();
      const alert = page.getByRole('alert').filter({ hasText: 'This part of the page could not be loaded' });
      await alert.getByRole('button', { name: 'Reload' }).waitFor();
      await shows(page, 'Your teams');
      await alert.getByRole('button', { name: 'Close' }).click();
      await alert.waitFor({ state: 'detached' });
    }
  });

  test('the focus returns to what opened a dialog, and to the heading if that is gone', async ({ api, open }) => {
    const owner = await aPerson(api);
    await api.anApiKey(owner);
    const page = await open('/api-keys', { as: owner });
    await chooseOf(page, /^Actions for/, /^Revoke /);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Actions for A key');

    await chooseOf(page, 'A key', 'Revoke A key');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('You have no API keys').waitFor();
    await expect.poll(() => focusedTag(page)).toBe('H1');

    // Through two dialogs: the secret is shown after the form.
    const create = page.getByRole('button', { name: 'Create key' });
    await create.click();
    await page.getByLabel('Name').fill('Deploy');
    await page.getByLabel('See teams and their details').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true);
  });

  test('names from right to left stand apart from the text around them', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'עדה', lastName: 'לאבלייס' });
    const max = await aPerson(api, { firstName: 'משה', lastName: 'כהן' });
    const team = await api.aTeam({ owner });
    await api.aMember(team, max, { role: 'member' });
    const page = await open(`/teams/${team.id}/members`, { as: owner });
    const row = page.getByRole('row').filter({ hasText: 'משה כהן' });
    expect(await row.locator('bdi', { hasText: 'משה' }).first().innerText()).toBe('משה כהן');
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await page.getByText('“\u2068משה כהן\u2069” deactivated.').waitFor();
  });

  test('what receivers of webhooks answer from right to left stands apart from the text around it', async ({
    api,
    open,
  }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    const { trpc } = await signedIn(api, owner);
    const url = 'https://example.com/hooks';
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId: team.id, url, types: [] });
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at, attempts, reason)
       values ($1, now(), $2, 'evt_1', 'team.updated', 'failed', now(), 1, 'שגיאה')`,
      [`whd_${endpoint.endpointId}`, endpoint.endpointId],
    );
    await api.rows(
      `insert into webhook_attempt (id, created_at, delivery_id, status, duration_ms, error, answer)
       values ($1, now(), $1, 500, 1, null, 'לא עובד')`,
      [`whd_${endpoint.endpointId}`],
    );
    const page = await open(`/teams/${team.id}/webhooks`, { as: owner });
    await page.locator('bdi', { hasText: url }).waitFor();
    await page.goto(`/teams/${team.id}/webhooks/${endpoint.endpointId}`);
    await page.locator('bdi', { hasText: 'שגיאה' }).waitFor();
    await page.getByText('1 attempt').click();
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.webhook-answer')).direction`)).toBe('rtl');
  });

  test('two clicks at once confirm once', async ({ api, open }) => {
    const owner = await aPerson(api);
    await api.anApiKey(owner);
    const page = await open('/api-keys', { as: owner });
    const calls: string[] = [];
    page.on('request', (request) => request.url().includes('revokeApiKey') && calls.push(request.url()));
    await chooseOf(page, /^Actions for/, /^Revoke /);
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Revoke' });
    await confirm.evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
    await page.getByText('Key revoked.').waitFor();
    expect(calls).toHaveLength(1);
  });

  test('two clicks at once on the page of a link use it once', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.visitor().trpc.auth.emailSignInLink.mutate({ email: person.email });
    const page = await open(linkIn(await api.mailTo(person.email, /sign-in link/)));
    const calls: string[] = [];
    page.on('request', (request) => request.url().includes('signInWithLink') && calls.push(request.url()));
    await page.getByRole('button', { name: 'Sign in' }).evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
    await shows(page, 'Your teams');
    expect(calls).toHaveLength(1);
  });

  test('inviting oneself or a member is warned of, and sends nothing', async ({ api, open }) => {
    const owner = await aPerson(api);
    const max = await aPerson(api, { firstName: 'Max', lastName: 'Member' });
    const team = await api.aTeam({ owner });
    await api.aMember(team, max, { role: 'member' });
    const page = await open(`/teams/${team.id}/invitations`, { as: owner });
    await page.getByRole('button', { name: 'Invite people' }).first().click();
    const field = page.getByLabel('Email addresses');
    await field.fill(`${owner.email.toUpperCase()}, ${max.email}`);
    await page.getByText('is your own email. You get no invitation').waitFor();
    await page.getByText(`Already members: ${max.email}.`).waitFor();
    await field.fill(`${max.email}, somebody-new@example.com`);
    await page.getByRole('button', { name: 'Send invitation', exact: true }).click();
    await page.getByText('1 invited').waitFor();
    expect(await api.rows('select email from invitation')).toEqual([{ email: 'somebody-new@example.com' }]);
  });
});

describe.skipIf(!hasChromium)('what is said after something went wrong', () => {
  test('a page that is opened again shows what happened meanwhile, however short', async ({ api, open }) => {
    const person = await aPerson(api);
    const team = await api.aTeam({ owner: person });
    const page = await open(`/teams/${team.id}/members`, { as: person });
    await page.getByRole('status').getByText('1 member').waitFor();
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Team name').waitFor();
    await api.aMember(team, await api.anAccount());
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Members' }).click();
    await page.getByRole('status').getByText('2 members').waitFor();
  });

  test('an ended session is said at the sign-in, which leads back', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/', { as: person });
    await shows(page, 'Your teams');
    await page.waitForLoadState('networkidle');
    await api.rows('delete from session where account_id = $1', [person.id]);
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('Your session has ended').waitFor();
    await signInAs(page, person.email);
    await shows(page, 'API keys');
  });

  test('back from home does not lead to the form again, and the sign-in says who is signed in', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const page = await open('/forgot-password');
    await page.getByRole('link', { name: 'Back to sign-in' }).click();
    await shows(page, 'Sign in');
    await signInAs(page, person.email);
    await shows(page, 'Your teams');
    await page.goBack();
    await shows(page, 'Reset your password');

    await page.goto('/sign-in');
    await page.getByText(`You are signed in as ${person.email}`).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await shows(page, 'Your teams');
  });

  test('a wrong password is said, and the password can be typed again at once', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in');
    await signInAs(page, person.email, 'not the password');
    await page.getByRole('alert').getByText('The email or password is incorrect.').waitFor();
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await shows(page, 'Your teams');
  });

  test('too many requests are said with the time to wait', async ({ api, open }) => {
    const page = await open('/', { as: await aPerson(api) });
    await shows(page, 'Your teams');
    const problem = {
      title: 'Too many requests',
      status: 429,
      code: 'rate_limited',
      detail: '',
      requestId: 'r',
      retryAfter: 32,
    };
    await page.route('**/trpc/createTeam*', (route) =>
      route.fulfill({
        status: 429,
        json: { error: { message: '', code: -32029, data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429, problem } } },
      }),
    );
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByLabel('Team name').fill('Analytical Engine');
    await page.getByRole('dialog').getByRole('button', { name: 'Create team' }).click();
    await page.getByRole('alert').getByText('Try again in 32 seconds.').waitFor();
  });

  test.for([
    ['/reset-password?token=wrong', 'Request another link'],
    ['/verify-email?token=wrong', 'Sign in to request another link'],
    ['/sign-in-link?token=wrong', 'Request another link'],
    ['/confirm-email?token=wrong', 'Change the email again in your account'],
  ] as const)(
    'a bad link at %s says so before anything is filled in, and leads to another',
    async ([path, next], { open }) => {
      const page = await open(path);
      await page.getByRole('alert').getByText('Invalid or expired link').waitFor();
      await page.getByRole('link', { name: next }).waitFor();
      expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0);
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    },
  );

  test('a link that is used while its form is filled says so when it is submitted', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email: person.email });
    const page = await open(linkIn(await api.mailTo(person.email, /reset/i)));
    await page.getByLabel('New password').fill('another long password');
    await api.rows('delete from account_token where account_id = $1', [person.id]);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('alert').getByText('Invalid or expired link').waitFor();
    await page.getByRole('link', { name: 'Request another link' }).waitFor();
  });

  test('a bad invitation says whom to ask', async ({ open }) => {
    const page = await open('/invitation?token=wrong');
    await page.getByText('Ask the person who invited you').waitFor();
  });
});
