import { globSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { exchange, test } from './application.ts';
import { aPerson, authorizePath, shows, type Open } from './console.ts';
import { ACTIONS, NOTHING_KEPT } from './proof-actions.ts';
import { age, attempt, click, expectKept, mailLink, proofOn, proveByPassword } from './proof-attempt.ts';

describe.skipIf(!hasChromium)('a consent with an old session', () => {
  /** The page of a request, with the whole account and one of two scopes chosen, and the question for a proof. */
  async function ask(api: Api, app: { id: string; redirectUri: string }, open: Open) {
    const person = await aPerson(api);
    const page = await open(authorizePath({ ...app, clientSecret: null }, ['teams:read', 'profile:read']), {
      as: person,
    });
    await shows(page, '“Planner” asks for access');
    await age(api, person);
    await page.getByLabel('The whole account').check();
    await page.getByLabel('See your profile').uncheck();
    await page.getByRole('button', { name: 'Approve' }).click();
    await proofOn(page).waitFor();
    expect(await api.rows('select id from oauth_token_family where account_id = $1', [person.id])).toEqual([]);
    return { person, page };
  }

  const scopeGiven = async (
    api: Api,
    app: Parameters<typeof exchange>[1] & { arrivals: readonly { query: Record<string, string> }[] },
  ) => (await exchange(api, app, app.arrivals.at(-1)?.query['code'])).scope;

  test('asks for a proof, and gives what was ticked', async ({ api, app, open }) => {
    const { page } = await ask(api, app, open);
    await proveByPassword(page);

    await shows(page, 'Back in the application');
    expect(await scopeGiven(api, app)).toBe('teams:read');
  });

  test('goes on where it was once the emailed link was used in another tab', async ({ api, app, open }) => {
    const { person, page } = await ask(api, app, open);
    const link = await mailLink(api, page, person);
    const tab = await page.context().newPage();
    await tab.goto(link);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await shows(tab, 'You have confirmed that it is you');

    await shows(page, 'Back in the application');
    expect(await scopeGiven(api, app)).toBe('teams:read');
  });

  test('is shown again with what was ticked once the emailed link was used in its tab', async ({ api, app, open }) => {
    const { person, page } = await ask(api, app, open);
    await page.goto(await mailLink(api, page, person));
    await page.getByRole('button', { name: 'Sign in' }).click();

    await shows(page, '“Planner” asks for access');
    expect(await page.getByLabel('The whole account').isChecked()).toBe(true);
    expect(await page.getByLabel('See your profile').isChecked()).toBe(false);
    expect(await page.getByLabel('See teams').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Approve' }).click();
    await shows(page, 'Back in the application');
    expect(await scopeGiven(api, app)).toBe('teams:read');
  });

  test('is not given by somebody who only has the session', async ({ api, app, open }) => {
    const { person, page } = await ask(api, app, open);
    await proofOn(page).getByLabel('Password', { exact: true }).press('Escape');

    await page.getByRole('main').getByRole('alert').getByText('Confirm that it is you', { exact: true }).waitFor();
    expect(await page.getByLabel('The whole account').isChecked()).toBe(true);
    expect(await api.rows('select id from oauth_token_family where account_id = $1', [person.id])).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('the catalogue of permissions', () => {
  test('is previewed without a proof, and replaced with one', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.rows(`update account set role = 'admin' where id = $1`, [person.id]);
    const page = await open('/operator/permissions', { as: person });
    await click(page, 'Change catalogue');
    await age(api, person);
    const content = page.getByRole('dialog').getByLabel('Catalogue (JSON)');
    const { permissions } = JSON.parse(await content.inputValue());
    await content.fill(JSON.stringify({ permissions: [...permissions, { name: 'proofs:see', title: { en: 'See' } }] }));
    await click(page, 'Preview changes');
    await click(page, 'Apply changes');
    await proofOn(page).waitFor();
    const stored = () => api.rows(`select name from declared_permission where name = 'proofs:see'`);
    expect(await stored()).toEqual([]);

    await proveByPassword(page);
    await page.getByText(/^The catalogue has version \d+ now\.$/).waitFor();
    expect(await stored()).toHaveLength(1);
  });
});

type Procedure = { readonly _def: { readonly type: string; readonly meta?: Meta } };

test('every form of the console whose call needs a proof is tried', () => {
  const called = globSync('{src/web,clients/typescript/src/react}/**/*.{ts,tsx}').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/([\w.]+)\.mutate\b/g)].map(([, name = '']) => name),
  );
  const needing = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
    .filter(
      ([name, { _def }]) => !_def.meta?.access?.isOperatorApi && called.some((path) => `.${path}`.endsWith(`.${name}`)),
    )
    .filter(([, { _def }]) => !/^(?:none|.* by link)$/.test(_def.meta?.effect ?? 'none'))
    .map(([name]) => name);

  expect(needing.length).toBeGreaterThan(30);
  const tried = [...ACTIONS.flatMap(({ procedures }) => procedures), ...Object.keys(NOTHING_KEPT)];
  expect(tried.toSorted()).toEqual(needing.toSorted());
});

describe.skipIf(!hasChromium)('a session whose last proof is old', () => {
  // The dialog for the password lies over the page, whichever that is.
  test.for(ACTIONS.slice(0, 4))(
    'is asked for one before $title, and nothing entered is lost',
    async (action, { api, open }) => {
      const setting = await attempt(action, api, open);
      await proveByPassword(setting.page);

      await expect.poll(() => action.stored(setting)).toEqual(action.expected);
    },
  );

  // The nightly run tries all.
  test.for(ACTIONS.slice(4, 8))(
    'has what was entered again after the emailed link was opened in its tab: $title',
    async (action, { api, open }) => expectKept(action, api, open),
  );

  test('has what was entered into a form of the page again, but no password', async ({ api, open }) => {
    const owner = await aPerson(api);
    const page = await open('/account', { as: owner });
    await shows(page, 'Your account');
    await age(api, owner);
    await page.getByLabel('New password').fill('another long password');
    await page.getByLabel('New email').fill('new@example.com');
    await click(page, 'Change email');
    await page.goto(await mailLink(api, page, owner));
    await click(page, 'Sign in');

    await shows(page, 'Your account');
    expect(await page.getByLabel('New email').inputValue()).toBe('new@example.com');
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await click(page, 'Change email');
    await page.getByText('new@example.com', { exact: false }).first().waitFor();
    await expect.poll(() => page.getByLabel('New email').inputValue()).toBe('');
  });
});
