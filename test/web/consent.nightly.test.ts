import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { isAccountOnly, isReadScope } from '../../src/auth/scopes.ts';
import { SCOPES } from '../../src/entities/index.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import type { AnAccount } from '../support/factories.ts';
import { exchange, test } from './application.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { approveButton, asks, boxes, consentsOf, isBack, isOver } from './consents.ts';
import { aPerson, authorizePath, shows, signInAs, VERIFIER, type Open } from './console.ts';
import { proveByPassword } from './proof-attempt.ts';

describe.skipIf(!hasChromium)('the consent page', () => {
  test('gives one team nothing that concerns the whole account', async ({ api, app, open }) => {
    const person = await aPerson(api);
    const team = await api.aTeam({ owner: person, name: 'Analytical Engine' });
    await api.aMember(await api.aTeam({ name: 'Difference Engine' }), person, { role: 'member' });
    await api.aMember(await api.aTeam({ name: 'Left long ago' }), person, { active: false });
    const page = await open(authorizePath(app, SCOPES), { as: person });
    await asks(page);
    await page.getByLabel('Only one team').check();
    await page.getByText('Disabled permissions apply to the whole account').waitFor();
    expect(await boxes(page)).toEqual(
      [...SCOPES.filter(isReadScope), ...SCOPES.filter((scope) => !isReadScope(scope))].map((scope) => ({
        scope,
        isOff: isAccountOnly(scope),
        isTicked: !isAccountOnly(scope),
      })),
    );
    await page.getByText('To approve, choose a team.').waitFor();
    expect(await approveButton(page).isDisabled()).toBe(true);
    expect(await page.getByLabel('Team', { exact: true }).locator('option').allInnerTexts()).toEqual([
      'Choose a team',
      'Analytical Engine (Owner)',
      'Difference Engine (Member)',
    ]);
    await page.getByLabel('Team', { exact: true }).selectOption('Analytical Engine (Owner)');
    await approveButton(page).click();
    await isBack(page);

    const [grant] = await consentsOf(api, person);
    expect(grant).toEqual({ team_id: team.id, scopes: SCOPES.filter((scope) => !isAccountOnly(scope)) });
    const { access_token: secret } = await exchange(api, app, app.arrivals.at(-1)?.query['code']);
    expect((await api.as({ secret }).get('/api/v1/credential')).body).toMatchObject({
      audience: 'team',
      scopes: grant?.scopes,
    });
  });

  test('gives one team nothing at all where everything concerns the whole account', async ({ api, app, open }) => {
    const person = await aPerson(api);
    await api.aTeam({ owner: person, name: 'Analytical Engine' });
    const page = await open(authorizePath(app, ['profile:read', 'api-keys:read']), { as: person });
    await page.getByLabel('Only the team “Analytical Engine”').check();
    await page.getByText('None can be granted for one team').waitFor();
    expect(await approveButton(page).isDisabled()).toBe(true);

    // What was ticked is so again.
    await page.getByLabel('The whole account').check();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(2);
    expect(await approveButton(page).isEnabled()).toBe(true);
  });

  test('names what the application can do in the product in the language of the reader, and gives that alone', async ({
    api,
    app,
    open,
  }) => {
    await declarePermissions(api, [
      { name: 'invoices:write', title: { en: 'Write invoices', de: 'Rechnungen schreiben' } },
      { name: 'books:close', title: { en: 'Close the books' } },
    ]);
    const ask = (names: string[]) =>
      api.rows('update oauth_client set product_permissions = $2 where id = $1', [app.id, names]);
    await ask(['invoices:write']);
    const person = await aPerson(api);
    const page = await open(authorizePath(app, ['teams:read']), { as: person, locale: 'de-CH' });
    await page.getByRole('listitem').filter({ hasText: 'Rechnungen schreiben' }).waitFor();
    expect(await page.getByText('Close the books').count()).toBe(0);
    await ask(['books:close', 'invoices:write']);
    await page.getByRole('radio').first().check();
    await page.locator('button[type=submit]').click();
    await isBack(page);
    expect(
      await api.rows('select product_permissions as names from oauth_token_family where account_id = $1', [person.id]),
    ).toEqual([{ names: ['invoices:write'] }]);
    await ask([]);
  });

  test('denies with an error for the application, and gives nothing', async ({ api, app, open }) => {
    const person = await aPerson(api);
    const page = await open(authorizePath(app, ['teams:read']), { as: person });
    await asks(page);
    await page.getByRole('button', { name: 'Deny' }).click();
    await isBack(page);

    expect(app.arrivals.at(-1)?.query).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: 'a state',
      iss: api.services.config.baseUrl,
    });
    expect(await consentsOf(api, person)).toEqual([]);
    await page.goBack();
    await isOver(page);
  });

  test('is read again where the back button brings it back as it was left', async ({ api, app, open }) => {
    const page = await open(authorizePath(app, ['teams:read']), { as: await aPerson(api) });
    await asks(page);
    // An answer without content leaves a browser where it is: about to go.
    await page.route('**/oauth/authorize/*', (route) => route.fulfill({ status: 204 }));
    const left = page.waitForRequest('**/oauth/authorize/*');
    await page.getByRole('button', { name: 'Deny' }).click();
    await left;
    await asks(page);
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await isOver(page);
  });

  test('says who made the application and since when, and sets reading apart from changing', async ({ api, open }) => {
    const person = await aPerson(api);
    const maker = await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' });
    const nameless = await aPerson(api, { firstName: '', lastName: '' });
    const clients = [
      [await api.anOAuthClient({ owner: maker }), 'Registered by “Grace Hopper” on 4 Mar 2024.'],
      [await api.anOAuthClient({ owner: nameless }), 'Registered by a user without a name on 4 Mar 2024.'],
      [await api.anOAuthClient(), 'Set up by the operator of this service on 4 Mar 2024.'],
    ] as const;
    await api.rows(`update oauth_client set created_at = '2024-03-04T12:00:00Z'`);
    for (const [client, words] of clients) {
      const page = await open(authorizePath(client, ['members:write', 'teams:read']), { as: person });
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await page.getByText(words).waitFor();
      expect(await page.getByRole('main').innerText()).not.toContain(maker.email);
      const inGroup = (name: string) => page.getByRole('group', { name, exact: true }).getByRole('checkbox');
      expect(await inGroup('Read').count()).toBe(1);
      await inGroup('Read').and(page.getByLabel('See teams')).waitFor();
      expect(await inGroup('Change').count()).toBe(1);
      await inGroup('Change').and(page.getByLabel('Change and remove members')).waitFor();
    }
    // One that only reads has nothing under “Change”.
    const page = await open(authorizePath(clients[0][0], ['teams:read']), { as: person });
    await page.getByRole('group', { name: 'Read', exact: true }).waitFor();
    expect(await page.getByRole('group', { name: 'Change', exact: true }).count()).toBe(0);
  });

  test('shows in forced colors what is ticked', async ({ api, app, open }) => {
    const page = await open(authorizePath(app, ['teams:read']), { as: await aPerson(api) });
    await asks(page);
    await page.emulateMedia({ forcedColors: 'active' });
    const box = page.getByRole('checkbox');
    const fill = () =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('input[type=checkbox]')).backgroundColor`);
    const filled = await fill();
    await box.uncheck();
    await expect.poll(fill).not.toBe(filled);
  });

  // Guarantees that no user approves what another user was shown and selected.
  test('notices that another account has signed in in another tab', async ({ api, app, open }) => {
    const person = await aPerson(api);
    const other = await aPerson(api);
    const team = await api.aTeam({ owner: other, name: 'Of the other' });
    const page = await open(authorizePath(app, ['teams:read']), { as: person });
    await page.getByLabel('The whole account').check();
    const { cookies } = await signedIn(api, other);
    await page
      .context()
      .addCookies([...cookies].map(([name, value]) => ({ name, value, url: api.services.config.baseUrl })));
    await approveButton(page).click();
    await page.getByRole('alert').getByText('Signed in as a different user').waitFor();

    const main = page.getByRole('main');
    await main.getByText(other.email).first().waitFor();
    expect(await main.innerText()).not.toContain(person.email);
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    expect(await consentsOf(api, person)).toEqual([]);
    expect(await consentsOf(api, other)).toEqual([]);

    // Nor does anything else of the one before stay.
    await page.getByRole('link', { name: 'Roster' }).click();
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('region', { name: 'Email' }).getByText(other.email).waitFor();
    await page.goBack();
    await page.goBack();
    await asks(page);
    await page.getByLabel('Only the team “Of the other”').check();
    await approveButton(page).click();
    await isBack(page);
    expect(await consentsOf(api, other)).toEqual([{ team_id: team.id, scopes: ['teams:read'] }]);
  });

  test('is left for another account, and comes back to it', async ({ api, app, open }) => {
    const other = await aPerson(api);
    const page = await open(authorizePath(app, ['teams:read']), { as: await aPerson(api) });
    await asks(page);
    await page.getByRole('button', { name: 'Use another account' }).click();
    await shows(page, 'Sign in');
    await signInAs(page, other.email);
    await asks(page);
    expect(await page.getByRole('main').innerText()).toContain(other.email);

    await page.getByLabel('The whole account').check();
    await approveButton(page).click();
    await isBack(page);
    expect(await consentsOf(api, other)).toEqual([{ team_id: null, scopes: ['teams:read'] }]);
  });

  test('needs nothing but the keyboard, and names what the operator has verified', async ({ api, open, app }) => {
    const person = await aPerson(api);
    const verified = await api.anOAuthClient({ name: 'Planner', native: true, redirectUri: app.redirectUri });
    const page = await open(authorizePath(verified, ['teams:read', 'members:read']), { as: person });
    await asks(page);
    await page.getByText('Verified by the operator', { exact: true }).waitFor();
    await press(page, 'The whole account', 'Space');
    await press(page, 'See the members', 'Space');
    await press(page, 'Approve', 'Enter');
    await isBack(page);
    expect(await consentsOf(api, person)).toEqual([{ team_id: null, scopes: ['teams:read'] }]);
  });

  test('ticks only what reads for an application that names no scope', async ({ api, app, open }) => {
    const path = authorizePath(app, []).replace(/([?&])scope=[^&]*&?/, '$1');
    const page = await open(path, { as: await aPerson(api) });
    await asks(page);

    const shown = await boxes(page);

    expect(shown).toHaveLength(SCOPES.length);
    for (const { scope, isTicked } of shown) expect([scope, isTicked]).toEqual([scope, scope.endsWith(':read')]);
  });

  // Guarantees that a link to a request is of use in the browser alone that the request began in.
  test('is shown only in the browser that started it; an unknown request is not shown at all', async ({
    api,
    app,
    open,
  }) => {
    const page = await open(authorizePath(app, ['teams:read']), { as: await aPerson(api) });
    await asks(page);

    const elsewhere = await open(new URL(page.url()).pathname, { as: await aPerson(api) });
    await isOver(elsewhere);
    await elsewhere.getByText('Start again from the application.').waitFor();
    expect(await elsewhere.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await elsewhere.goto('/oauth/consent/no-such-request');
    await isOver(elsewhere);
  });

  // Guarantees that other sites can neither read nor frame the page.
  test('loads nothing from elsewhere', async ({ api, app, open }) => {
    const page = await open('about:blank', { as: await aPerson(api) });
    const origins = new Set<string>();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await page.goto(authorizePath(app, ['teams:read']));
    await asks(page);
    await page.getByLabel('The whole account').check();
    await page.waitForLoadState('networkidle');

    expect([...origins]).toEqual([api.services.config.baseUrl]);
  });
});

/** Presses Tab until something has the focus, then a key. */
async function press(page: Page, stop: string, key: string): Promise<void> {
  const focused = () =>
    page.evaluate<string>(
      `(() => { const e = document.activeElement; return (e === document.body ? '' : e.labels?.[0]?.textContent || e.textContent).trim(); })()`,
    );
  for (let i = 0; i < 20 && !(await focused()).startsWith(stop); i++) await page.keyboard.press('Tab');
  expect(await focused(), 'what Tab reaches').toMatch(new RegExp(`^${stop}`));
  await page.keyboard.press(key);
}

/** Waits until the page goes to an application, which does not exist. @returns the address with its query */
async function leaves(page: Page, redirectUri: string): Promise<URL> {
  const request = await page.waitForEvent('requestfailed', (failed) => failed.url().startsWith(redirectUri));
  await page.waitForURL('chrome-error://**');
  return new URL(request.url());
}

describe.skipIf(!hasChromium)('the page of a first-party client', () => {
  const QUERY = {
    response_type: 'code',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
  };

  test('asks on the way to a device, as whom to continue', async ({ api, open }) => {
    const person = await aPerson(api);
    const redirectUri = 'http://127.0.0.1:9/callback';
    const client = await api.anOAuthClient({ name: 'Desk', native: true, redirectUri, firstParty: ['teams:read'] });
    const query = new URLSearchParams({ ...QUERY, client_id: client.id, redirect_uri: redirectUri });
    const page = await open(`/oauth/authorize?${query.toString()}`);
    await page.getByText('Sign in to continue to “Desk”.').waitFor();
    await signInAs(page, person.email);
    await shows(page, 'Continue to “Desk”');
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('main').innerText()).toContain('You will be sent to 127.0.0.1:9');
    const left = leaves(page, redirectUri);
    await page.getByRole('button', { name: `Continue as ${person.email}` }).click();
    await left;
  });

  test('is passed through after the sign-in, and not shown at all to who is signed in', async ({ api, open }) => {
    const person = await aPerson(api);
    const client = await api.anOAuthClient({ name: 'Web app', confidential: true, firstParty: ['teams:read'] });
    const query = new URLSearchParams({ ...QUERY, client_id: client.id, redirect_uri: client.redirectUri });
    const page = await open(`/oauth/authorize?${query.toString()}`);
    await shows(page, 'Sign in');
    const left = leaves(page, client.redirectUri);
    await signInAs(page, person.email);
    expect((await left).searchParams.get('code')).toEqual(expect.any(String));
    const pages: string[] = [];
    page.on('request', (request) => {
      if (request.isNavigationRequest()) pages.push(new URL(request.url()).pathname.replace(/[\w-]{43}/, ':id'));
    });
    // Redirects are not intercepted, and the host does not exist.
    await page.goto(`/oauth/authorize?${query.toString()}`).catch(() => undefined);
    expect(pages).toEqual(['/oauth/authorize', '/oauth/authorize/:id', '/callback']);
  });

  /** The application asks in which team the user works, and notes the teams of its codes. */
  async function askForTeam(
    { api, open }: { readonly api: Api; readonly open: Open },
    person: AnAccount,
    more: Record<string, string> = {},
  ) {
    const client = await api.anOAuthClient({ name: 'Web app', confidential: true, firstParty: ['teams:write'] });
    const { id, redirectUri } = client;
    const query = new URLSearchParams({ ...QUERY, client_id: id, redirect_uri: redirectUri, team: 'choose', ...more });
    const path = `/oauth/authorize?${query.toString()}`;
    const page = await open('about:blank', { as: person });
    // A redirect to the application, which does not exist, is an error of the navigation.
    const ask = () => page.goto(path).catch(() => undefined);
    const teams = async () => {
      const rows = await api.rows<{ id: string }>(
        'select active_team_id as id from oauth_token_family where client_id = $1 order by created_at',
        [id],
      );
      return rows.map((row) => row.id);
    };
    const back = () => leaves(page, redirectUri);
    return { page, ask, back, teams, go: page.getByRole('button', { name: `Continue as ${person.email}` }) };
  }

  test('asks “Which team?” of who is in two, with the keyboard alone, and nothing of who is in one', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const alpha = await api.aTeam({ owner: person, name: 'Alpha' });
    const beta = await api.aTeam({ name: 'Beta' });
    await api.aMember(beta, person, { role: 'member' });
    const { page, ask, back, teams, go } = await askForTeam({ api, open }, person);
    await ask();
    await shows(page, 'Continue to “Web app”');
    await page.getByRole('radiogroup', { name: 'Which team?' }).waitFor();
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    expect(await go.isDisabled()).toBe(true);
    await press(page, 'Alpha', 'Space');
    await page.keyboard.press('ArrowDown');
    const left = back();
    await press(page, 'Continue as', 'Enter');
    await left;
    expect(await teams()).toEqual([beta.id]);

    await api.rows('delete from membership where team_id = $1 and account_id = $2', [beta.id, person.id]);
    await ask();
    expect(await teams()).toEqual([beta.id, alpha.id]);
  });

  test('goes on in a team that is created there, also in the first one', async ({ api, open }) => {
    const person = await aPerson(api);
    const { page, ask, back, teams, go } = await askForTeam({ api, open }, person);
    const create = async (name: string) => {
      await page.getByRole('button', { name: 'Create team' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill(name);
      await page.keyboard.press('Enter');
    };
    await ask();
    await page.getByText('You are not in a team yet. Create one to continue.').waitFor();
    expect(await go.isDisabled()).toBe(true);
    const first = back();
    await create('First');
    await first;

    await api.aTeam({ owner: person, name: 'Second' });
    await ask();
    await create('Third');
    await page.getByRole('radio', { name: 'Third', checked: true }).waitFor();
    const third = back();
    await go.click();
    await third;
    expect(await api.rows('select name from team where id = any($1) order by name', [await teams()])).toEqual([
      { name: 'First' },
      { name: 'Third' },
    ]);
  });

  test('asks for the team and for a recent proof together', async ({ api, open }) => {
    const person = await aPerson(api);
    const [, second] = [
      await api.aTeam({ owner: person, name: 'One' }),
      await api.aTeam({ owner: person, name: 'Two' }),
    ];
    const { page, ask, back, teams, go } = await askForTeam({ api, open }, person, { max_age: '0' });
    await ask();
    await page.getByRole('radio', { name: 'Two' }).check();
    await go.click();
    const left = back();
    await proveByPassword(page);
    await left;
    expect(await teams()).toEqual([second.id]);
  });
});
