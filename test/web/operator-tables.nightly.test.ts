import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { aFailedJob } from '../events/operator-mutations.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { membershipOf } from '../trpc/console.ts';
import { aPerson, test } from './console.ts';

async function anOperator(api: Api) {
  const account = await aPerson(api, { firstName: 'Olga', lastName: 'Operator' });
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

const names = (page: Page) => page.getByRole('table').getByRole('rowheader');
const status = (page: Page, text: string) => page.getByRole('status').getByText(text);
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search this list' });

async function saved(page: Page): Promise<readonly string[]> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).first().click(),
  ]);
  const text = await readFile(await file.path(), 'utf8');
  expect(text.at(0)).toBe('\ufeff');
  return text.slice(1).trimEnd().split('\r\n');
}

/** Applies an action to the selected rows, and waits until all are done. */
async function applyToSelected(page: Page, action: string, count: number): Promise<void> {
  await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: action }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: action.replace('…', ''), exact: true }).click();
  await dialog.getByText(`${count} done`).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

describe.skipIf(!hasChromium)('a list of the operator', () => {
  test('of members is searched, filtered, sorted and exported as a whole, in the URL, and changed row by row', async ({
    api,
    open,
  }) => {
    const team = await api.aTeam({ owner: await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' }) });
    for (let i = 0; i < 120; i += 1) {
      const firstName = `Guest n-${String(i).padStart(3, '0')}`;
      await api.aMember(team, await api.anAccount({ firstName }), { role: 'guest' });
    }
    const bob = await api.anAccount({ firstName: 'Bob', lastName: 'Byron' });
    await api.aMember(team, bob, { role: 'member' });
    const page = await open(`/operator/teams/${team.id}/members`, { as: await anOperator(api) });
    await status(page, '122 entries').waitFor();
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    await names(page).first().getByText('Ada Lovelace').waitFor();
    await page.getByLabel('Role').selectOption('Role: Guest');
    await search(page).fill('n-01');
    await status(page, '10 of 122 entries').waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=member&role=guest&q=n-01');
    await page.reload();
    await status(page, '10 of 122 entries').waitFor();
    expect((await saved(page)).length).toBe(11);

    await search(page).fill(bob.id);
    await page.getByLabel('Role').selectOption('Role: all');
    await names(page).getByText('Bob Byron').waitFor();
    await page.getByRole('checkbox', { name: 'Select Bob Byron' }).check();
    await applyToSelected(page, 'Deactivate', 1);
    expect(await membershipOf(api, team, bob)).toMatchObject({ is_active: false });
    await page.getByRole('checkbox', { name: 'Select Bob Byron' }).check();
    await applyToSelected(page, 'Remove…', 1);
    await page.getByText('Nothing found').waitFor();
    expect(await membershipOf(api, team, bob)).toBeUndefined();
  });

  test('of its keys is searched by address and scope, and several are revoked at once', async ({ api, open }) => {
    const operator = await anOperator(api);
    for (const name of ['Billing', 'Support', 'Warehouse'])
      await api.anOperatorKey({ name, ...(name === 'Support' && { addresses: ['203.0.113.7/32'] }) });
    const page = await open('/operator/keys', { as: operator });
    await names(page).getByText('Warehouse').waitFor();
    await search(page).fill('203.0.113.7');
    await expect.poll(() => names(page).count()).toBe(1);
    await names(page).getByText('Support').waitFor();
    expect((await saved(page)).at(-1)).toMatch(/^Support,\S+,203\.0\.113\.7/);
    await search(page).fill('');
    await page.getByRole('checkbox', { name: 'Select Billing' }).check();
    await page.getByRole('checkbox', { name: 'Select Support' }).check();
    await applyToSelected(page, 'Revoke…', 2);
    await names(page).getByText('Billing', { exact: true }).waitFor({ state: 'detached' });
    await names(page).getByText('Warehouse').waitFor();
  });

  test('of jobs is searched by reason, and several failed ones are retried at once', async ({ api, open }) => {
    const reason = `Greylisted ${crypto.randomUUID()}`;
    const jobs = [await aFailedJob(api, `${reason} 1`), await aFailedJob(api, `${reason} 2`)];
    const page = await open('/operator/jobs', { as: await anOperator(api) });
    await search(page).fill(reason);
    await expect.poll(() => names(page).count()).toBe(2);
    for (const box of await page.getByRole('checkbox', { name: /^Select (?!all)/ }).all()) await box.check();
    await applyToSelected(page, 'Retry…', 2);
    const failed = await api.rows('select 1 from graphile_worker._private_jobs where id = any($1) and run_at > now()', [
      jobs,
    ]);
    expect(failed).toEqual([]);
  });

  test('that is longer than a page is sorted by the service, in the URL, by what it is searched by', async ({
    api,
    open,
  }) => {
    const mark = crypto.randomUUID().slice(0, 8);
    for (let i = 10; i < 61; i += 1) await api.anAccount({ email: `${mark}-${i}@list.example` });
    const operator = await anOperator(api);
    const page = await open(`/operator/accounts?by=email&text=${mark}`, { as: operator });
    const header = page.getByRole('columnheader', { name: 'Email' });
    const next = page.getByRole('button', { name: 'Next page' });
    await next.waitFor();
    expect(await page.getByRole('columnheader').getByRole('button').count()).toBe(1);
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    await header.getByRole('button').click();
    await names(page).first().getByText(`${mark}-60@`).waitFor();
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-email');
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    await next.click();
    await names(page).first().getByText(`${mark}-10@`).waitFor();
    await page.reload();
    await names(page).first().getByText(`${mark}-10@`).waitFor();
    // A page whose cursor is of another order says so, and leads back.
    const address = new URL(page.url());
    address.searchParams.delete('sort');
    await page.goto(address.href);
    await page.getByRole('alert').waitFor();
    expect(await names(page).count()).toBe(0);
    await page.getByRole('button', { name: 'First page' }).click();
    await names(page).first().getByText(`${mark}-10@`).waitFor();

    await page.goto(`/operator/accounts?by=email&text=${mark}-1`);
    await page.getByRole('columnheader').getByRole('button', { name: 'Email' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('email');
    await page.reload();
    await names(page).first().getByText(`${mark}-10@`).waitFor();
  });

  test('is exported as a whole in its order, once for a double click, and is not saved if it is cut off', async ({
    api,
    open,
  }) => {
    const operator = await anOperator(api);
    const owner = await api.anAccount();
    for (let i = 10; i < 70; i += 1) await api.aTeam({ owner, name: `Team ${i}` });
    const page = await open('/operator/teams', { as: operator });
    await page.getByRole('button', { name: 'Next page' }).waitFor();
    const sortable = page.getByRole('columnheader').getByRole('button');
    expect((await sortable.allInnerTexts()).map((title) => title.replace(/\s*[↑↓]$/, ''))).toEqual([
      'Name',
      'Slug',
      'Created',
    ]);
    await sortable.getByText('Name').click();
    await sortable.getByText('Name').click();
    await names(page).first().getByText('Team 69').waitFor();
    const files: string[] = [];
    page.on('download', (file) => files.push(file.suggestedFilename()));
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).dblclick(),
    ]);
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^\ufeffid,externalId,name,/);
    const made = lines.map((line) => line.split(',')[2]).filter((name) => name?.startsWith('Team '));
    expect(made).toEqual(Array.from({ length: 60 }, (_, i) => `Team ${69 - i}`));

    await page.route('**/exports/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Export CSV' }).click();
    await page.getByRole('alert').waitFor();
    expect(files).toEqual(['teams.csv']);
    const events = await api.rows(
      `select 1 from audit_event where event = 'operator.list_exported' and actor_id = $1`,
      [operator.id],
    );
    expect(events).toHaveLength(1);
  });
});
