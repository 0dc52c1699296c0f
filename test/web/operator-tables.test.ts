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
  return (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
}

/** Applies an action to the selected rows, and waits until all are done. */
async function applyToSelected(page: Page, action: string, count: number): Promise<void> {
  await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: action }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: action }).click();
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

  test('that is one part of a longer one is not sorted by itself', async ({ api, open }) => {
    const mark = crypto.randomUUID().slice(0, 8);
    for (let i = 0; i < 51; i += 1) await api.anAccount({ email: `${mark}-${i}@list.example` });
    const operator = await anOperator(api);
    const page = await open(`/operator/accounts?by=email&text=${mark}`, { as: operator });
    await page.getByRole('button', { name: 'Next page' }).waitFor();
    expect(await page.getByRole('columnheader').getByRole('button').count()).toBe(0);
    await page.goto(`/operator/accounts?by=email&text=${mark}-1`);
    await page.getByRole('columnheader').getByRole('button', { name: 'Email' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('email');
    await page.reload();
    await names(page).first().getByText(`${mark}-1@`).waitFor();
  });
});
