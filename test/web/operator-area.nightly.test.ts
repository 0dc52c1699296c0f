import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { createOperatorClientInput } from '../../src/resources/oauth-clients/operator-clients.schema.ts';
import { aFailedJob } from '../events/operator-mutations.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { setLastProof } from '../support/sessions.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { aPerson, PASSWORD, shows, test } from './console.ts';

async function anOperator(api: Api) {
  const account = await aPerson(api, { firstName: 'Olga', lastName: 'Operator' });
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

const rows = (page: Page, name: string) =>
  page
    .getByRole('table', { name, exact: true })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') });
/** Chooses an action from the menu of a row. */
async function act(page: Page, row: string, action: string): Promise<void> {
  await button(page, `Actions for ${row}`).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}
const dialog = (page: Page) => page.getByRole('dialog');
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const inDialog = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true });

describe.skipIf(!hasChromium)('the lists of the operator’s area', () => {
  test('accounts are searched, filtered and read in pages, all of which is in the URL', async ({ api, open }) => {
    const mark = crypto.randomUUID().slice(0, 8);
    for (let i = 0; i < 51; i += 1)
      await api.anAccount({ email: `${mark}-${String(i).padStart(2, '0')}@list.example` });
    const [off] = await api.rows<{ id: string }>(
      'update account set disabled_at = now() where email = $1 returning id',
      [`${mark}-07@list.example`],
    );
    const page = await open('/operator', { as: await anOperator(api) });
    await page.getByRole('navigation', { name: 'Operator pages' }).getByRole('link', { name: 'Accounts' }).click();
    await shows(page, 'Accounts');
    await page.getByLabel('Starts with').fill(mark);
    await page.keyboard.press('Enter');
    await rows(page, 'Accounts').getByText(`${mark}-00@`).waitFor();
    await page.getByRole('status').getByText('50 entries on this page').waitFor();
    await button(page, 'Next page').click();
    await rows(page, 'Accounts').getByText(`${mark}-50@`).waitFor();
    await page.getByRole('status').getByText('1 entry on this page').waitFor();
    expect(new URL(page.url()).searchParams.get('text')).toBe(mark);

    await page.reload();
    await rows(page, 'Accounts').getByText(`${mark}-50@`).waitFor();
    await page.goBack();
    await rows(page, 'Accounts').getByText(`${mark}-00@`).waitFor();

    await page.getByLabel('Show').selectOption('Disabled accounts');
    await rows(page, 'Accounts').getByText(`${mark}-07@`).waitFor();
    expect(new URL(page.url()).search).toBe('?show=disabled');
    await rows(page, 'Accounts')
      .getByRole('link', { name: `${mark}-07@list.example` })
      .click();
    await button(page, 'Enable account').waitFor();
    expect(page.url()).toContain(off?.id);
  });

  test('an empty search says what was searched, and is left by one button', async ({ api, open }) => {
    const page = await open('/operator/teams?by=slug&text=nothing-begins-so', { as: await anOperator(api) });
    await page.getByText('Nothing starts with “nothing-begins-so”').waitFor();
    expect(await page.getByLabel('Search by').inputValue()).toBe('slug');
    await button(page, 'Show all').click();
    await shows(page, 'Teams');
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test('accounts are searched by last name, and teams filtered by plan, also one that is no longer configured', async ({
    api,
    open,
  }) => {
    const mark = crypto.randomUUID().slice(0, 8);
    await api.anAccount({ firstName: 'Ada', lastName: `${mark} Lovelace`, email: `${mark}@list.example` });
    const [pro, old] = [await api.aTeam({ name: `Pro ${mark}` }), await api.aTeam({ name: `Old ${mark}` })];
    await api.rows('insert into subscription (team_id, plan_id) values ($1, $3), ($2, $4)', [
      pro.id,
      old.id,
      'pro',
      `plan-${mark}`,
    ]);
    const page = await open('/operator/accounts', { as: await anOperator(api) });
    await page.getByLabel('Search by').selectOption('Last name');
    await page.getByLabel('Starts with').fill(mark.toUpperCase());
    await page.keyboard.press('Enter');
    await rows(page, 'Accounts').getByText(`Ada ${mark} Lovelace`).waitFor();
    expect(new URL(page.url()).searchParams.get('by')).toBe('lastName');

    await page.getByRole('navigation', { name: 'Operator pages' }).getByRole('link', { name: 'Teams' }).click();
    await page.getByRole('combobox', { name: 'Plan' }).selectOption('Pro');
    await rows(page, 'Teams').getByText(`Pro ${mark}`).waitFor();
    expect(await rows(page, 'Teams').getByText(`Old ${mark}`).count()).toBe(0);
    expect(new URL(page.url()).search).toBe('?show=pro');

    await page.goto(new URL(`/operator/teams?show=plan-${mark}`, page.url()).href);
    await rows(page, 'Teams').getByText(`Old ${mark}`).waitFor();
    expect(await rows(page, 'Teams').count()).toBe(1);
    expect(await page.getByRole('combobox', { name: 'Plan' }).inputValue()).toBe(`plan-${mark}`);
    await page.getByRole('combobox', { name: 'Plan' }).selectOption('All plans');
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test.for(['/operator/accounts?cursor=nonsense', '/operator/audit?cursor=nonsense'])(
    '%s says that the position is wrong',
    async (path, { api, open }) => {
      const page = await open(path, { as: await anOperator(api) });
      await page.getByRole('alert').waitFor();
    },
  );
});

describe.skipIf(!hasChromium)('an operator', () => {
  test('creates an account, changes it, sends a link, ends its sessions and deletes it', async ({ api, open }) => {
    const email = `new-${crypto.randomUUID()}@area.example`;
    const page = await open('/operator/accounts', { as: await anOperator(api) });
    await button(page, 'Create account').click();
    await dialog(page).getByLabel('Email', { exact: true }).fill('no address');
    await inDialog(page, 'Create account').click();
    await dialog(page).locator('[aria-invalid=true]').waitFor();
    await dialog(page).getByLabel('Email', { exact: true }).fill(email);
    await dialog(page).getByLabel('First name').fill('Ada');
    await dialog(page)
      .getByLabel(/^I know/)
      .check();
    await inDialog(page, 'Create account').dblclick();
    await shows(page, 'Ada');

    await button(page, 'Edit account').click();
    // On a slow machine the dialog takes the focus after the first field could be filled in.
    await dialog(page).locator(':focus').waitFor();
    await dialog(page).getByLabel('External ID').fill('customer-1');
    await dialog(page).getByLabel('Last name').fill('Lovelace');
    await inDialog(page, 'Save').click();
    await shows(page, 'Ada Lovelace');
    await page.getByText('customer-1').waitFor();

    await button(page, 'Send a link…').click();
    await inDialog(page, 'Send link').click();
    await page.getByText('Link sent.').waitFor();
    expect((await api.mailTo(email, /sign-in link/)).text).toContain('/sign-in-link');

    const [account] = await api.rows<{ id: string }>('select id from account where email = $1', [email]);
    await api.aSession(account!);
    await button(page, 'End sessions…').click();
    await inDialog(page, 'End sessions').click();
    await page.getByText('1 session ended.').waitFor();

    await button(page, 'Delete account…').click();
    await inDialog(page, 'Delete account').click();
    await page.getByText('“Ada Lovelace” deleted.').waitFor();
    await shows(page, 'Accounts');
    expect(await api.rows('select 1 from account where email = $1', [email])).toEqual([]);
  });

  test('creates a team, changes its members and its owner, and deletes it', async ({ api, open }) => {
    const [ada, bob] = [await api.anAccount({ firstName: 'Ada' }), await api.anAccount({ firstName: 'Bob' })];
    const page = await open('/operator/teams', { as: await anOperator(api) });
    await button(page, 'Create team').click();
    await dialog(page).getByLabel('Name', { exact: false }).first().fill('Engines');
    await dialog(page).getByLabel('Owner').fill('nobody@area.example');
    await inDialog(page, 'Create team').click();
    await dialog(page).locator('[aria-invalid=true]').waitFor();
    await dialog(page).getByLabel('Owner').fill(ada.email);
    await inDialog(page, 'Create team').click();
    await shows(page, 'Engines');

    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await shows(page, 'Members');
    await button(page, 'Add member').click();
    await dialog(page).getByLabel('Account').fill(bob.id);
    await inDialog(page, 'Add member').click();
    await rows(page, 'Members').getByText('Bob', { exact: true }).waitFor();
    await act(page, 'Bob', 'Change');
    expect(await dialog(page).getByLabel('Role').inputValue()).toBe('member');
    await dialog(page).getByLabel('Role').selectOption('Guest');
    await inDialog(page, 'Save').click();
    await rows(page, 'Members').getByText('Guest').waitFor();
    await act(page, 'Bob', 'Remove');
    await inDialog(page, 'Remove').click();
    await page.getByText('“Bob” removed.').waitFor();
    await rows(page, 'Members').getByText('Bob', { exact: true }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Back to the team' }).click();
    await button(page, 'Transfer ownership…').click();
    await dialog(page).getByLabel('Owner').fill(bob.email);
    await inDialog(page, 'Transfer ownership').click();
    await page.getByText('Ownership transferred.').waitFor();
    await page.getByRole('link', { name: 'Bob' }).waitFor();
    await button(page, 'Delete team…').click();
    await inDialog(page, 'Delete team').click();
    await shows(page, 'Teams');
    await page.getByText('“Engines” deleted.').waitFor();
  });

  // Guarantees that of two tabs neither replaces what the other has set without knowing it.
  test('is told that another tab changed the subscription, and decides again from the present one', async ({
    api,
    open,
  }) => {
    const team = await api.aTeam({ owner: await api.anAccount(), name: 'Engines' });
    const operator = await anOperator(api);
    const [first, second] = [
      await open(`/operator/teams/${team.id}`, { as: operator }),
      await open(`/operator/teams/${team.id}`, { as: operator }),
    ];
    for (const page of [first, second]) await button(page, 'Change subscription…').click();
    await dialog(first).getByLabel('Plan').selectOption('pro');
    await dialog(first).getByLabel('Status').selectOption('Active');
    await dialog(first).getByLabel('Add-ons').fill('seats: 3');
    await inDialog(first, 'Save').click();
    await first.getByText('Subscription changed.').waitFor();

    await dialog(second).getByLabel('Status').selectOption('Canceled');
    await inDialog(second, 'Save').click();
    await dialog(second)
      .getByText('Nothing was saved. Someone else, or your billing, set it to Pro (version 1)')
      .waitFor();
    expect(await inDialog(second, 'Save').isDisabled()).toBe(true);
    await inDialog(second, 'Use the present values').click();
    expect(await dialog(second).getByLabel('Plan').inputValue()).toBe('pro');
    expect(await dialog(second).getByLabel('Add-ons').inputValue()).toBe('seats: 3');
    await dialog(second).getByLabel('Ends instead of renewing').check();
    await inDialog(second, 'Save').click();
    await second.getByText('Subscription changed.').waitFor();

    expect(
      await api.rows(
        'select plan_id, status, addons, cancel_at_period_end, version from subscription where team_id = $1',
        [team.id],
      ),
    ).toEqual([{ plan_id: 'pro', status: 'active', addons: { seats: 3 }, cancel_at_period_end: true, version: 2 }]);
  });

  test('is told which add-on is wrong', async ({ api, open }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const page = await open(`/operator/teams/${team.id}`, { as: await anOperator(api) });
    await button(page, 'Change subscription…').click();
    await dialog(page).getByLabel('Add-ons').fill('seats: many');
    await inDialog(page, 'Save').click();
    await dialog(page).locator('textarea[aria-invalid=true]').waitFor();
    expect(await api.rows('select 1 from subscription where team_id = $1', [team.id])).toEqual([]);
  });

  test('disables several accounts at once, but not their own, and enables them again', async ({ api, open }) => {
    const mark = `1e${Math.random().toString().slice(2, 10)}`; // text, though JSON has it for a number
    const operator = await anOperator(api);
    await api.rows('update account set email = $2 where id = $1', [operator.id, `${mark}-z@bulk.example`]);
    for (const name of ['a', 'b', 'c']) await api.anAccount({ email: `${mark}-${name}@bulk.example`, firstName: name });
    const page = await open(`/operator/accounts?by=email&text=${mark}`, { as: operator });
    await page.getByRole('checkbox', { name: 'Select all 4 rows' }).check();
    await button(page, 'Disable…').click();
    await dialog(page).getByText('Not possible for: Olga Operator.').waitFor();
    await inDialog(page, 'Disable').click();
    await dialog(page).getByText('3 done').waitFor();
    await dialog(page).getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => rows(page, 'Accounts').getByText('Disabled', { exact: true }).count()).toBe(3);
    const off = `select id from account where email like $1 and disabled_at is not null`;
    expect(await api.rows(off, [`${mark}-%`])).toHaveLength(3);

    // Without a recent proof the first call asks for one, for all of them.
    await setLastProof(api, 60, operator);
    await page.getByRole('checkbox', { name: /^Select all/ }).check();
    await button(page, 'Enable…').click();
    await inDialog(page, 'Enable').click();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('3 done').waitFor();
    expect(await api.rows(off, [`${mark}-%`])).toEqual([]);
  });

  test('revokes a key of an account', async ({ api, open }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account);
    const page = await open(`/operator/accounts/${account.id}`, { as: await anOperator(api) });
    await page.getByRole('main').getByRole('link', { name: 'API keys', exact: true }).click();
    await shows(page, 'API keys of the account');
    await act(page, 'A key', 'Revoke A key');
    await inDialog(page, 'Revoke').click();
    await page.getByText('Key revoked.').waitFor();
    await page.getByText('There are no entries.').waitFor();
    expect(await api.as(key).get('/api/v1/teams')).toBeProblem('credential_invalid');
  });

  test('creates an operator key that is shown once, rotates and revokes it', async ({ api, open }) => {
    const page = await open('/operator/keys', { as: await anOperator(api) });
    await button(page, 'Create operator key').click();
    await dialog(page).getByLabel('Name').fill('Billing backend');
    await dialog(page).getByLabel('teams:read').check();
    await dialog(page)
      .getByLabel(/^Allowed IP/)
      .fill('nonsense');
    await inDialog(page, 'Create operator key').click();
    await dialog(page).locator('textarea[aria-invalid=true]').waitFor();
    await dialog(page)
      .getByLabel(/^Allowed IP/)
      .fill('127.0.0.0/8\n::/0');
    await inDialog(page, 'Create operator key').click();
    await dialog(page).getByText('Copy the secret now').waitFor();
    const secret = await dialog(page).locator('code').innerText();
    expect((await api.as(secret).get('/operator/v1/teams')).status).toBe(200);
    await inDialog(page, 'Done').click();
    await rows(page, 'Operator keys').getByText('127.0.0.0/8').waitFor();
    expect(await page.content()).not.toContain(secret);

    await act(page, 'Billing backend', 'Rotate secret of Billing backend');
    await dialog(page).getByLabel('Current secret stays valid').selectOption('Not at all');
    await inDialog(page, 'Rotate secret').click();
    const rotated = await dialog(page).locator('code').innerText();
    await inDialog(page, 'Done').click();
    expect((await api.as(secret).get('/operator/v1/teams')).status).toBe(401);
    expect((await api.as(rotated).get('/operator/v1/teams')).status).toBe(200);
    await act(page, 'Billing backend', 'Revoke Billing backend');
    await inDialog(page, 'Revoke').click();
    await page.getByText('Key revoked.').waitFor();
    expect((await api.as(rotated).get('/operator/v1/teams')).status).toBe(401);
  });

  test('creates an application of its own, whose secret is shown once, changes and deletes it', async ({
    api,
    open,
  }) => {
    const page = await open('/operator/clients', { as: await anOperator(api) });
    await button(page, 'Register application').click();
    await dialog(page).getByLabel('Name').fill('Front desk');
    await dialog(page).getByLabel('members:read').check();
    await dialog(page).getByLabel('Redirect URIs').fill('https://app.example/cb');
    await dialog(page).getByLabel('Home page').fill('javascript:1');
    await inDialog(page, 'Register').click();
    await dialog(page).locator('input[aria-invalid=true]').waitFor();
    await dialog(page).getByLabel('Home page').fill('https://app.example/');
    await inDialog(page, 'Register').click();
    await dialog(page).getByText('Copy the secret now').waitFor();
    const codes = await dialog(page).locator('code').allInnerTexts();
    await inDialog(page, 'Done').click();
    await rows(page, 'OAuth clients').getByText('own application').waitFor();
    expect(await page.content()).not.toContain(codes.at(-1));
    expect(
      await api.rows('select is_first_party, scopes, home_url from oauth_client where id = $1', [codes[0]]),
    ).toEqual([
      {
        is_first_party: true,
        scopes: ['profile:read', 'teams:read', 'members:read'],
        home_url: 'https://app.example/',
      },
    ]);
    await act(page, 'Front desk', 'Edit Front desk');
    await dialog(page).getByLabel('teams:read').uncheck();
    await inDialog(page, 'Save').click();
    await page.getByText('Application changed.').waitFor();
    expect(await api.rows('select scopes from oauth_client where id = $1', [codes[0]])).toEqual([
      { scopes: ['profile:read', 'members:read'] },
    ]);
    await act(page, 'Front desk', 'Delete Front desk');
    await inDialog(page, 'Delete').click();
    await page.getByText('Application deleted.').waitFor();
    expect(await api.rows('select 1 from oauth_client where id = $1', [codes[0]])).toEqual([]);
  });

  test('sets every field of an application that the operator API has, and takes them away again', async ({
    api,
    open,
  }) => {
    await declarePermissions(api, [{ name: 'invoices:read', title: { en: 'Read invoices' } }]);
    const address = 'https://app.example';
    const addresses = {
      redirectUris: [`${address}/cb`, `${address}/cb2`],
      homeUrl: `${address}/`,
      initiateLoginUri: `${address}/sign-in`,
      postLogoutRedirectUris: [`${address}/out`, `${address}/out2`],
    };
    const own = {
      ...addresses,
      name: 'Own product',
      isConfidential: true,
      isDevelopment: false,
      scopes: ['profile:read', 'teams:read', 'members:read'],
      backchannelLogoutUri: `${address}/ended`,
      sessionDays: 90,
      hasTokenLimit: true,
    };
    const other = {
      ...addresses,
      name: 'Partner',
      isNative: true,
      isDevelopment: true,
      openidScopes: ['openid', 'email'],
      permissions: ['invoices:read'],
    };
    expect(Object.keys({ ...own, ...other }).sort()).toEqual(Object.keys(createOperatorClientInput.shape).sort());
    const backend = api.as(await api.anOperatorKey());
    const read = async (sought: string) => {
      const { body } = await backend.get('/operator/v1/clients');
      return (body as { clients: { name: string }[] }).clients.find(({ name }) => name === sought);
    };

    const page = await open('/operator/clients', { as: await anOperator(api) });
    const fill = async (name: string) => {
      await button(page, 'Register application').click();
      await dialog(page).getByLabel('Name').fill(name);
      await dialog(page).getByLabel('Redirect URIs').fill(addresses.redirectUris.join('\n'));
      await dialog(page).getByLabel('Home page').fill(addresses.homeUrl);
      await dialog(page).getByLabel('Sign-in page').fill(addresses.initiateLoginUri);
      await dialog(page).getByLabel('Pages after sign-out').fill(addresses.postLogoutRedirectUris.join('\n'));
    };
    const register = async () => {
      await inDialog(page, 'Register').click();
      await inDialog(page, 'Done').click();
    };
    await fill(own.name);
    await dialog(page).getByLabel('members:read').check();
    await dialog(page).getByLabel('Back-channel logout URI').fill('http://app.example/ended');
    await inDialog(page, 'Register').click();
    await dialog(page).locator('input[aria-invalid=true]').waitFor();
    await dialog(page).getByLabel('Back-channel logout URI').fill(own.backchannelLogoutUri);
    await dialog(page).getByLabel('Days of a session').fill('many');
    await inDialog(page, 'Register').click();
    await dialog(page).locator('input[aria-invalid=true]').waitFor();
    await dialog(page).getByLabel('Days of a session').fill('90');
    await dialog(page).getByLabel('Limit requests for tokens').check();
    await register();
    expect(await read(own.name)).toMatchObject(own);

    await fill(other.name);
    await dialog(page).getByLabel('On users’ devices').check();
    await dialog(page).getByLabel('It is an application of our own').uncheck();
    await dialog(page).getByLabel('For development').check();
    await dialog(page).getByLabel('email').check();
    await dialog(page).getByLabel('Read invoices').check();
    await register();
    expect(await read(other.name)).toMatchObject(other);

    await act(page, other.name, `Edit ${other.name}`);
    await dialog(page).getByRole('checkbox', { name: 'openid' }).uncheck();
    await dialog(page).getByLabel('Read invoices').uncheck();
    await dialog(page).getByLabel('Home page').fill('');
    await dialog(page).getByLabel('Pages after sign-out').fill('');
    await inDialog(page, 'Save').click();
    await page.getByText('Application changed.').waitFor();
    const cleared = { homeUrl: null, postLogoutRedirectUris: [], openidScopes: null, permissions: [] };
    expect(await read(other.name)).toMatchObject({ ...other, ...cleared });
    await act(page, own.name, `Edit ${own.name}`);
    await dialog(page).getByLabel('Back-channel logout URI').fill('');
    await inDialog(page, 'Save').click();
    await expect.poll(() => read(own.name)).toMatchObject({ ...own, backchannelLogoutUri: null });
  });

  test('retries a failed job', async ({ api, open }) => {
    const job = await aFailedJob(api, 'The mail server was away');
    const page = await open('/operator/jobs', { as: await anOperator(api) });
    await page.getByLabel('Show').selectOption('Failed');
    await page.getByRole('searchbox', { name: 'Search this list' }).fill(job);
    await expect.poll(() => rows(page, 'Queue').count()).toBe(1);
    await rows(page, 'Queue')
      .getByRole('button', { name: /^Actions for/ })
      .click();
    await page.getByRole('menuitem', { name: `Retry job ${job}` }).click();
    await page.getByText('1 job runs now.').waitFor();
  });

  test('filters the whole audit log, and follows it to a team', async ({ api, open }) => {
    const operator = await anOperator(api);
    const team = await api.aTeam({ owner: await api.anAccount(), name: 'Engines' });
    const page = await open(`/operator/teams/${team.id}`, { as: operator });
    await button(page, 'Edit team').click();
    await dialog(page).getByLabel('Description').fill('A description');
    await inDialog(page, 'Save').click();
    await page.getByText('Team changed.').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Audit log', exact: true }).last().click();
    await shows(page, 'Audit log');
    await rows(page, 'Audit log').getByText('team.updated').waitFor();
    expect(await page.getByLabel('Team (ID)').inputValue()).toBe(team.id);
    await page.getByLabel('Action').selectOption('team.updated');
    await page.getByLabel('Actor (account ID)').fill(operator.id);
    await button(page, 'Filter').click();
    await expect.poll(() => rows(page, 'Audit log').count()).toBe(1);
    await expect.poll(() => new URL(page.url()).searchParams.get('event')).toBe('team.updated');
    await page.reload();
    await rows(page, 'Audit log').getByRole('link', { name: 'team “Engines”' }).click();
    await shows(page, 'Engines');
  });
});

describe.skipIf(!hasChromium)('for everybody else', () => {
  test.for(['accounts', 'teams', 'keys', 'jobs', 'audit', 'teams/team_1/members', 'accounts/acc_1/keys'])(
    '/operator/%s says whom it is for, and asks the service nothing',
    async (path, { api, open }) => {
      const page = await open('about:blank', { as: await aPerson(api) });
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`${api.services.config.baseUrl}/operator/${path}`);
      await shows(page, 'This page is for operators');
      expect(asked.filter((url) => url.includes('operator.'))).toEqual([]);
      expect(await page.getByRole('navigation', { name: 'Operator pages' }).count()).toBe(0);
    },
  );

  test('a session that ended while a dialog was open changes nothing until its user has signed in again', async ({
    api,
    open,
  }) => {
    const operator = await anOperator(api);
    const team = await api.aTeam({ owner: await api.anAccount(), name: 'Engines' });
    const page = await open(`/operator/teams/${team.id}`, { as: operator });
    await button(page, 'Edit team').click();
    await dialog(page).getByLabel('Description').fill('In time');
    await api.rows('update session set revoked_at = now() where account_id = $1', [operator.id]);
    await inDialog(page, 'Save').click();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    expect(await api.rows('select description from team where id = $1', [team.id])).toEqual([{ description: null }]);
    await page.keyboard.press('Enter');
    await expect.poll(() => dialog(page).count()).toBe(0);
    expect(await api.rows('select description from team where id = $1', [team.id])).toEqual([
      { description: 'In time' },
    ]);
  });

  test('a dialog with a lasting change asks for a proof, and goes on with it', async ({ api, open }) => {
    const operator = await anOperator(api);
    const team = await api.aTeam({ owner: await api.anAccount(), name: 'Engines' });
    const page = await open(`/operator/teams/${team.id}`, { as: operator });
    await setLastProof(api, 60, operator);
    await button(page, 'Delete team…').click();
    await inDialog(page, 'Delete team').click();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    expect(await api.rows('select id from team where id = $1', [team.id])).toHaveLength(1);
    await page.keyboard.press('Enter');
    await shows(page, 'Teams');
    expect(await api.rows('select id from team where id = $1', [team.id])).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('the catalogue of the product’s permissions', () => {
  test('is shown with its holders, and replaced after a preview and a decision about what is held', async ({
    api,
    open,
  }) => {
    await declarePermissions(api, [
      { name: 'invoices:read', title: { en: 'Read invoices' }, roles: ['member'], keys: true },
      { name: 'invoices:edit', title: { en: 'Edit invoices' }, sensitive: true },
    ]);
    const role = await api.aRole(await api.aTeam({ owner: await api.anAccount() }), []);
    await api.rows(`update role set product_permissions = '{invoices:edit}' where id = $1`, [role.id]);
    const page = await open('/operator/permissions', { as: await anOperator(api) });
    const table = rows(page, 'Permissions of your product');
    const edit = table.filter({ hasText: 'invoices:edit' });
    await edit.getByText('1 role, 0 API keys, 0 OAuth clients').waitFor();
    await edit.getByText('Sensitive').waitFor();
    await table.filter({ hasText: 'Read invoices' }).getByText('Owner, Member').waitFor();

    await button(page, 'Change catalogue').click();
    const content = dialog(page).getByLabel('Catalogue (JSON)');
    expect(JSON.parse(await content.inputValue())).toMatchObject({ permissions: [{ name: 'invoices:read' }, {}] });
    await content.fill('{ "permissions": [');
    await inDialog(page, 'Preview changes').click();
    await dialog(page).getByText('This is not JSON').waitFor();
    const next = (name: string) =>
      JSON.stringify({
        permissions: [
          { name, title: { en: 'Read' } },
          { name: 'invoices:write', title: { en: 'Write' } },
        ],
      });
    await content.fill(next('Not a name'));
    await inDialog(page, 'Preview changes').click();
    await dialog(page).getByRole('alert').getByText('/permissions/0/name').waitFor();
    await dialog(page)
      .locator('input[type=file]')
      .setInputFiles({
        name: 'permissions.json',
        mimeType: 'application/json',
        buffer: Buffer.from(next('invoices:read')),
      });
    await expect.poll(() => content.inputValue()).toBe(next('invoices:read'));
    await inDialog(page, 'Preview changes').click();
    await dialog(page).getByText('Changed: title, roles, keys').waitFor();
    await dialog(page).getByText('Removed (1 role, 0 API keys, 0 OAuth clients)').waitFor();
    expect(await inDialog(page, 'Apply changes').isDisabled()).toBe(true);
    expect(await api.rows('select name from declared_permission order by name')).toHaveLength(2);
    await dialog(page).getByLabel('What happens to “invoices:edit”').selectOption('invoices:write');
    await inDialog(page, 'Apply changes').click();
    await page.getByText(/^The catalogue has version \d+ now\.$/).waitFor();
    await table.filter({ hasText: 'invoices:write' }).getByText('1 role, 0 API keys, 0 OAuth clients').waitFor();
    expect(await api.rows('select product_permissions as names from role where id = $1', [role.id])).toEqual([
      { names: ['invoices:write'] },
    ]);
  });
});
