import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';

async function anOperator(api: Api) {
  const account = await aPerson(api, { firstName: 'Olga', lastName: 'Operator' });
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

const withdraw = (api: Api, { id }: { id: string }) => api.rows(`update account set role = 'user' where id = $1`, [id]);

/** The views of customers’ data that the log tells of. */
const viewsBy = (api: Api, { id }: { id: string }) =>
  api.lines.filter(({ audit, accountId }) => typeof audit === 'string' && accountId === id).map(({ audit }) => audit);

const isDisabled = async (api: Api, { id }: { id: string }) =>
  (
    await api.rows<{ disabled: boolean }>('select disabled_at is not null as disabled from account where id = $1', [id])
  )[0]?.disabled;

async function search(page: Page, text: string): Promise<void> {
  await page.getByRole('searchbox').fill(text);
  await page.keyboard.press('Enter');
}

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** What is called so in a list of values. */
const valueOf = (page: Page, label: string) =>
  page
    .locator('dl > div', { has: page.locator('dt').getByText(label, { exact: true }) })
    .locator('dd')
    .innerText();

/** As when somebody comes back from another tab. */
const comeBack = (page: Page) =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");

describe.skipIf(!hasChromium)('the operator’s area', () => {
  test('an operator finds an account, then one of its teams, and its owner', async ({ api, open }) => {
    const ada = await api.anAccount({ email: 'Ada@operated.example', firstName: 'Ada', lastName: 'Lovelace' });
    const adam = await api.anAccount({ email: 'adam@operated.example' });
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    await api.aMember(team, adam, { active: false });
    await api.anInvitation(team);
    await api.anApiKey(ada);
    const page = await open('/', { as: await anOperator(api) });
    await page.getByRole('link', { name: 'Operator', exact: true }).click();
    await shows(page, 'Operator');

    await search(page, ' ada');
    await region(page, 'Accounts').waitFor();
    expect(await region(page, 'Accounts').getByRole('link').allInnerTexts()).toEqual(['Ada Lovelace', adam.email]);
    expect(await region(page, 'Teams').count()).toBe(0);
    // Otherwise the results would move it.
    expect(await region(page, 'Health').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('?find=ada');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');

    await page.getByRole('link', { name: 'Ada Lovelace' }).click();
    await shows(page, 'Ada Lovelace');
    expect(await valueOf(page, 'Email')).toMatch(/^Ada@operated\.example\s+Verified on /);
    expect(await valueOf(page, 'API keys')).toBe('1');
    expect(await region(page, 'Teams').getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Analytical Engine\s+Owner$/),
    ]);

    await page.getByRole('link', { name: 'Analytical Engine' }).click();
    await shows(page, 'Analytical Engine');
    expect(await valueOf(page, 'Slug')).toBe(team.slug);
    expect(await valueOf(page, 'Plan')).toBe('Free');
    await page.getByText('The team never had a subscription.').waitFor();
    expect(await valueOf(page, 'Members')).toBe('2');
    await page.getByText('Seats: 2 of 5 used').waitFor();
    await page.getByRole('link', { name: 'Ada Lovelace' }).click();
    await shows(page, 'Ada Lovelace');

    await page.getByRole('link', { name: 'Back to search' }).click();
    await search(page, 'nothing begins so');
    await page.getByText('No email, name or slug starts with “nothing begins so”').waitFor();
    await page.goBack();
    await region(page, 'Accounts').waitFor({ state: 'detached' });
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  test('an account is disabled after a warning of what stops, and enabled again', async ({ api, open }) => {
    const operator = await anOperator(api);
    const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const key = await api.anApiKey(ada, { scopes: ['teams:read'] });
    await api.aSession(ada);
    await api.aSession(ada);
    await api.aGrant(ada);
    const page = await open(`/operator/accounts/${ada.id}`, { as: operator });
    await page.getByText('Signed in with: password', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Disable account…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Disable “Ada Lovelace”?' });
    expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([
      '2 sessions, permanently',
      '1 API key',
      'the access of 1 connected app',
    ]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await isDisabled(api, ada)).toBe(false);

    await page.getByRole('button', { name: 'Disable account…' }).click();
    await dialog.getByRole('button', { name: 'Disable account' }).click();
    await page.getByText('“Ada Lovelace” disabled').waitFor();
    expect(await api.as(key).get('/api/v1/teams')).toBeProblem('credential_invalid');
    expect(await valueOf(page, 'Sessions')).toBe('0');
    await page.getByText(/^Disabled on /).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Enable account');

    await search(await opened('/operator'), ada.email);
    await page.getByText('Disabled', { exact: true }).waitFor();
    await opened(`/operator/accounts/${ada.id}`);
    await page.getByRole('button', { name: 'Enable account' }).click();
    await page.getByText('“Ada Lovelace” enabled').waitFor();
    expect((await api.as(key).get('/api/v1/teams')).status).toBe(200);
    await page.getByRole('button', { name: 'Disable account…' }).waitFor();

    async function opened(path: string): Promise<Page> {
      await page.goto(path);
      return page;
    }
  });

  test('an operator’s own account is not offered to be disabled', async ({ api, open }) => {
    const operator = await anOperator(api);
    const page = await open(`/operator/accounts/${operator.id}`, { as: operator });
    await page.getByText('You cannot disable your own account').waitFor();

    expect(await page.getByRole('button', { name: /able the account/ }).count()).toBe(0);
  });

  // Guarantees that a page never shows the result of a failed request.
  test('a failed action is reported, and the page shows the present state', async ({ api, open }) => {
    const [ada, bob] = [await api.anAccount({ firstName: 'Ada' }), await api.anAccount({ firstName: 'Bob' })];
    await api.rows('update account set disabled_at = now() where id = $1', [bob.id]);
    const page = await open(`/operator/accounts/${ada.id}`, { as: await anOperator(api) });
    const dialog = page.getByRole('dialog');
    await page.route(/operator\.(?:dis|en)ableAccount/, (route) => route.fulfill({ status: 404, body: 'no service' }));
    await page.getByRole('button', { name: 'Disable account…' }).click();
    await dialog.getByRole('button', { name: 'Disable account' }).click();
    await dialog.getByText('The service could not be reached').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The account is enabled.').waitFor();

    await page.goto(`/operator/accounts/${bob.id}`);
    await page.getByRole('button', { name: 'Enable account' }).click();
    await page.getByText('The service could not be reached').waitFor();
    await page.getByText(/^Disabled on /).waitFor();
    expect(await page.getByRole('button', { name: 'Enable account' }).isEnabled()).toBe(true);

    await page.unroute(/operator\.(?:dis|en)ableAccount/);
    await api.rows('delete from account where id = $1', [bob.id]);
    await page.getByRole('button', { name: 'Enable account' }).click();
    await page.getByRole('alert').getByText('Account not found').waitFor();
    await shows(page, 'Account');
    expect(await page.getByText('Bob', { exact: true }).count()).toBe(0);
  });

  test.for([
    ['/operator/accounts/acc_nobody', 'Account not found'],
    ['/operator/teams/team_none', 'Team not found'],
  ] as const)('%s says that there is none, and leads back to the search', async ([path, words], { api, open }) => {
    const page = await open(path, { as: await anOperator(api) });
    await page.getByRole('alert').getByText(words).waitFor();
    await page.getByRole('link', { name: 'Back to search' }).click();

    await shows(page, 'Operator');
  });

  test('health and queue are shown, and kept up to date', async ({ api, open }) => {
    const page = await open('/operator', { as: await anOperator(api) });
    await region(page, 'Health').getByText('PostgreSQL').waitFor();
    expect(await valueOf(page, 'Redis')).toContain('Not configured');
    const before = Number(await valueOf(page, 'Retrying'));

    await api.rows(`select graphile_worker.add_job('nobodyDoesThis', run_at := now() + interval '1 day')`);
    await api.rows(
      `update graphile_worker._private_jobs set attempts = 3, last_error = 'The mail server is away' where run_at > now() + interval '1 hour'`,
    );
    await comeBack(page);

    await region(page, 'Queue').getByText('The mail server is away').waitFor();
    expect(Number(await valueOf(page, 'Retrying'))).toBe(before + 1);
    expect(await region(page, 'Queue').getByRole('listitem').innerText()).toContain('Attempt 3 of 25');
  });
});

describe.skipIf(!hasChromium)('the log of the operator’s area', () => {
  // Guarantees that a line of the log is a person who looked: neither a tab that came to the front nor a letter typed.
  test('has a line for each view of a person, and none for what the page does by itself', async ({ api, open }) => {
    const operator = await anOperator(api);
    const ada = await api.anAccount({ firstName: 'Ada' });
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const page = await open('/operator', { as: operator });
    await page.getByRole('searchbox').pressSequentially(ada.id);
    expect(viewsBy(api, operator)).toEqual([]);
    await page.keyboard.press('Enter');
    await region(page, 'Accounts').waitFor();
    await comeBack(page);
    await page.getByRole('link', { name: 'Ada' }).hover();
    await page.getByRole('link', { name: 'Ada' }).click();
    await shows(page, 'Ada');
    await comeBack(page);
    await page.getByRole('link', { name: team.name }).click();
    await shows(page, team.name);
    await comeBack(page);
    await page.getByRole('link', { name: 'Ada' }).click();
    await shows(page, 'Ada');

    expect(viewsBy(api, operator)).toEqual([
      'operator.searched',
      'operator.account_viewed',
      'operator.team_viewed',
      'operator.account_viewed',
    ]);
  });

  // Guarantees that going back to what was seen a moment ago is in the log too, and not shown from memory.
  test('has a line for what is looked at again', async ({ api, open }) => {
    const operator = await anOperator(api);
    const ada = await api.anAccount({ firstName: 'Ada' });
    const page = await open(`/operator?find=${ada.id}`, { as: operator });
    await page.getByRole('link', { name: 'Ada' }).click();
    await shows(page, 'Ada');
    await page.goBack();
    await region(page, 'Accounts').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => viewsBy(api, operator)).toHaveLength(4);
    await page.goForward();
    await shows(page, 'Ada');

    expect(viewsBy(api, operator)).toEqual([
      'operator.searched',
      'operator.account_viewed',
      'operator.searched',
      'operator.searched',
      'operator.account_viewed',
    ]);
  });
});

describe.skipIf(!hasChromium)('for everybody else the operator’s area', () => {
  test.for(['/operator', '/operator/accounts/acc_1', '/operator/teams/team_1'])(
    '%s is a page that says whom it is for, and nothing is asked of the service',
    async (path, { api, open }) => {
      const page = await open('/', { as: await aPerson(api) });
      await shows(page, 'Your teams');
      expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(path);
      await shows(page, 'This page is for operators');

      expect(asked.filter((url) => url.includes('/trpc/operator'))).toEqual([]);
      await page.getByRole('link', { name: 'Go to your teams' }).click();
      await shows(page, 'Your teams');
    },
  );

  test('leads a signed-out user to the sign-in page and back', async ({ open }) => {
    const page = await open('/operator/teams/team_1');
    await shows(page, 'Sign in');

    expect(new URL(page.url()).searchParams.get('next')).toBe('/operator/teams/team_1');
  });

  // Guarantees that a former operator keeps neither the data nor the links to it on the screen.
  test('ends with the role, on the page that is open', async ({ api, open }) => {
    const operator = await anOperator(api);
    const ada = await api.anAccount({ firstName: 'Ada' });
    const page = await open(`/operator/accounts/${ada.id}`, { as: operator });
    await page.getByRole('button', { name: 'Disable account…' }).click();
    await withdraw(api, operator);
    await page.getByRole('dialog').getByRole('button', { name: 'Disable account' }).click();
    await shows(page, 'This page is for operators');

    expect(await page.getByText('Ada', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0);
    expect(await isDisabled(api, ada)).toBe(false);
  });
});
