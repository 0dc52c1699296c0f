import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { findViolations } from './axe.ts';
import { aPerson, test, chooseOf } from './console.ts';

const rowOf = (page: Page, key: string) =>
  page.getByRole('row').filter({ has: page.getByRole('heading', { name: key, exact: true }) });

/** A day in the form of a date field, so many days from now. */
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe.skipIf(!hasChromium)('an API key', () => {
  test('is created with a preset and a day of expiry, and renamed', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/api-keys', { as: person });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Create key' });
    await dialog.getByLabel('Name').fill('Reports');
    await dialog.getByRole('button', { name: 'Full access' }).click();
    expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(10);
    await dialog.getByRole('button', { name: 'Read only' }).click();
    expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(5);
    await dialog.getByLabel('Expires').selectOption('On a day…');
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel('Day').fill(inDays(400));
    await dialog.getByText('Choose a day between tomorrow and a year from now.').waitFor();
    await dialog.getByLabel('Day').fill(inDays(10));
    await submit.click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const [key] = await api.rows<{ days: number; scopes: string[] }>(
      `select expires_at::date - current_date as days, scopes from api_key where account_id = $1`,
      [person.id],
    );
    expect(key?.days).toBe(10);
    expect(key?.scopes.every((scope) => scope.endsWith(':read'))).toBe(true);
    await rowOf(page, 'Reports').getByText('Expires soon').waitFor();
    await page.getByRole('alert').getByText('1 key expires soon').waitFor();

    await chooseOf(page, 'Reports', 'Rename Reports');
    await dialog.getByLabel('Name').fill('  ');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Required.').waitFor();
    await dialog.getByLabel('Name').fill('תקציב');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, 'תקציב').waitFor();
    await rowOf(page, 'Reports').waitFor({ state: 'detached' });
  });

  test('shows its requests by day as a plot and a table, and the last address', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.rows(`update account set preferred_locale = 'en-GB' where id = $1`, [person.id]);
    const key = await api.anApiKey(person);
    await api.rows(
      `insert into api_key_use (api_key_id, day, requests, address)
       values ($1, current_date, 1234, '192.0.2.7'), ($1, current_date - 3, 2, null), ($1, current_date - 60, 9, null)`,
      [key.id],
    );
    const page = await open('/api-keys', { as: person });
    await chooseOf(page, 'A key', 'Usage of A key');
    const dialog = page.getByRole('dialog', { name: 'Usage of A key' });
    await dialog.getByText('1,236 requests in 30 days').waitFor();
    await dialog.getByText('The last request came from 192.0.2.7.').waitFor();
    expect(await dialog.getByRole('table').getByRole('cell').allInnerTexts()).toEqual(['2', '1,234']);
    expect(await findViolations(page)).toEqual([]);
  });
});

test.skipIf(!hasChromium)('a thousand keys are searched, filtered and revoked together', async ({ api, open }) => {
  const person = await aPerson(api);
  await api.rows(
    `insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at, expires_at)
     select $1 || n, $1, 'Key ' || n, '{teams:read}', 'rst_pk_', lpad(n::text, 4, '0'), now(),
       case when n <= 3 then now() - interval '1 day' end
     from generate_series(1, 999) n`,
    [person.id],
  );
  const page = await open('/api-keys?expires=expired', { as: person });
  await page.getByRole('status').getByText('3 of 999 keys').waitFor();
  expect(await page.getByRole('combobox', { name: 'Status' }).locator('option:checked').textContent()).toBe(
    'Status: Expired',
  );
  await page.getByRole('checkbox', { name: 'Select all 3 rows' }).check();
  await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Revoke…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke 3 keys' });
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await dialog.getByText('3 done').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('status').getByText('0 of 996 keys').waitFor();
  await page.getByRole('button', { name: 'Show all keys' }).click();
  await page.getByRole('searchbox').fill('0996');
  await page.getByRole('status').getByText('1 of 996 keys').waitFor();
});
