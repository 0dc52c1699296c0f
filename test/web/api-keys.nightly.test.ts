import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import type { Api } from '../support/api.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { aPerson, chooseOf, openMenuOf, shows, test } from './console.ts';

const rowOf = (page: Page, key: string) =>
  page.getByRole('row').filter({ has: page.getByRole('heading', { name: key, exact: true }) });

/** What a label of a list of values stands for. */
const valueOf = (page: Page, label: string) =>
  page
    .getByRole('dialog')
    .locator('dl > div', { has: page.locator('dt', { hasText: label }) })
    .locator('code')
    .innerText();

const credentialOf = (api: Api, secret: string) => api.as({ secret }).get('/api/v1/credential');

const keysOf = (api: Api, { id }: { id: string }) =>
  api.rows<{ id: string }>(
    `select id, name, scopes, team_id, revoked_at is not null as is_revoked,
       round(extract(epoch from expires_at - now()) / 86400)::int as days
     from api_key where account_id = $1 order by created_at`,
    [id],
  );

async function aNamedKey(
  api: Api,
  account: { id: string },
  name: string,
  options: Parameters<Api['anApiKey']>[1] = {},
) {
  const key = await api.anApiKey(account, options);
  await api.rows('update api_key set name = $2 where id = $1', [key.id, name]);
  return key;
}

/** A team of a person's with a key that a member made. */
async function aTeamWithKey(api: Api) {
  const person = await aPerson(api);
  const team = await api.aTeam({ owner: person });
  const maker = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
  await api.aMember(team, maker);
  const key = await aNamedKey(api, maker, 'Deployment', { team });
  return { person, team, maker, key };
}

describe.skipIf(!hasChromium)('the page of personal keys', () => {
  // Guarantees that the secret is seen once: afterwards the page does not know it.
  test('a key is created with the selected scopes; its secret works and is shown once', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/', { as: person });
    await page.getByRole('link', { name: 'API keys' }).click();
    await shows(page, 'API keys');
    await page.getByText('You have no API keys').waitFor();

    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Create key' });
    expect(await dialog.getByRole('checkbox').count()).toBe(10);
    expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(5);
    for (const box of await dialog.getByRole('checkbox').all()) await box.uncheck();
    await dialog.getByText('Select at least one scope').waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel('See teams and their details').check();
    await dialog.getByLabel('See your profile').check();
    await submit.click();
    await dialog.getByText('Required.').waitFor();
    await dialog.getByLabel('Name').fill('Backup');
    await dialog.getByLabel('Expires').selectOption('In 30 days');
    await submit.click();
    await page.getByRole('dialog', { name: '“Backup” created' }).waitFor();

    const secret = await valueOf(page, 'Secret');
    expect(await keysOf(api, person)).toMatchObject([
      { name: 'Backup', scopes: ['profile:read', 'teams:read'], team_id: null, days: 30 },
    ]);
    expect((await credentialOf(api, secret)).body).toMatchObject({ scopes: ['profile:read', 'teams:read'] });
    const { origin } = new URL(page.url());
    expect(await valueOf(page, 'Try it')).toBe(`curl -H 'Authorization: Bearer ${secret}' ${origin}/api/v1/credential`);

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.getByRole('button', { name: 'Copy: Secret' }).click();
    await dialog.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Done' }).click();

    await rowOf(page, 'Backup').waitFor();
    expect(await rowOf(page, 'Backup').innerText()).toContain(`${secret.slice(0, 13)}…${secret.slice(-4)}`);
    expect(await page.content()).not.toContain(secret);
  });

  test('the buttons of a dialog that is higher than the window are in sight from the start', async ({ api, open }) => {
    const page = await open('/api-keys', { as: await aPerson(api) });
    await page.setViewportSize({ width: 1280, height: 640 });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Create key' });
    await submit.waitFor();
    expect(await dialog.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
    const box = await submit.boundingBox();
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(640);
    // What has the focus is never below them.
    const last = dialog.getByRole('checkbox').last();
    await last.focus();
    expect(
      await last.evaluate(
        (element) =>
          element.getBoundingClientRect().bottom <=
          (element.closest('[role=dialog]')?.querySelector('.dialog-footer')?.getBoundingClientRect().top ?? 0),
      ),
    ).toBe(true);
  });

  test('a key that is never to expire does not', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/api-keys', { as: person });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Backup');
    await dialog.getByLabel('Expires').selectOption('Never');
    await dialog.getByLabel('See teams and their details').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();

    await rowOf(page, 'Backup').getByText('does not expire').waitFor();
    expect(await keysOf(api, person)).toMatchObject([{ name: 'Backup', days: null }]);
  });

  test('each shows its scopes, its last use, and whether it has expired', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.rows(`update account set preferred_locale = 'en-GB' where id = $1`, [person.id]);
    await aNamedKey(api, person, 'Old', { expiresAt: new Date('2026-01-02T12:00:00Z') });
    const used = await aNamedKey(api, person, 'Used', { scopes: ['teams:read', 'members:read'] });
    await api.rows(`update api_key set last_used_at = '2026-11-03T10:20:00Z' where id = $1`, [used.id]);
    await aNamedKey(api, person, 'Of a team', { team: await api.aTeam({ owner: person }) });
    const page = await open('/api-keys', { as: person });
    await rowOf(page, 'Used').waitFor();

    expect(
      await page
        .getByRole('row')
        .filter({ has: page.getByRole('heading') })
        .count(),
    ).toBe(2);
    const old = await rowOf(page, 'Old').innerText();
    expect(old).toContain('Expired');
    expect(old).toMatch(/no use recorded yet\s+expired 2 Jan 2026/i);
    expect(await rowOf(page, 'Used').getByRole('button').count()).toBe(1);
    await openMenuOf(page, 'Old');
    await page.getByRole('menuitem', { name: 'Change scopes of Old' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Rotate secret of Old' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await rowOf(page, 'Used').innerText()).toMatch(/last used 3 Nov 2026, 10:20\s+does not expire/i);
    await rowOf(page, 'Used').getByText('2 scopes').click();
    expect(await page.getByRole('list', { name: 'Scopes of Used' }).getByRole('listitem').allInnerTexts()).toEqual([
      'See teams and their details teams:read',
      'See the members, roles and invitations of teams members:read',
    ]);
  });

  test('the scopes are replaced, and count from the next request on', async ({ api, open }) => {
    const person = await aPerson(api);
    const key = await aNamedKey(api, person, 'Backup');
    const page = await open('/api-keys', { as: person });
    await chooseOf(page, 'Backup', 'Change scopes of Backup');
    const dialog = page.getByRole('dialog', { name: 'Scopes of Backup' });
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('See teams and their details').uncheck();
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('See the plan').check();
    await save.click();
    await page.getByText('Scopes changed.').waitFor();

    expect((await credentialOf(api, key.secret)).body).toMatchObject({ scopes: ['billing:read'] });
  });

  test('a new secret is created: the previous one works for the chosen time, or stops immediately', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const { secret: original } = await aNamedKey(api, person, 'Backup');
    const page = await open('/api-keys', { as: person });

    const second = await rotate('For 7 days');
    expect((await credentialOf(api, original)).status).toBe(200);
    expect((await credentialOf(api, second)).status).toBe(200);
    const row = await rowOf(page, 'Backup').innerText();
    expect(row).toContain(`…${second.slice(-4)}`);
    expect(row).toContain('The previous secret works until');

    const third = await rotate('Not at all');
    expect(await credentialOf(api, original)).toBeProblem('credential_invalid');
    expect(await credentialOf(api, second)).toBeProblem('credential_invalid');
    expect((await credentialOf(api, third)).status).toBe(200);
    expect(await rowOf(page, 'Backup').innerText()).not.toContain('works until');

    async function rotate(overlap: string): Promise<string> {
      await chooseOf(page, 'Backup', 'Rotate secret of Backup');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Current secret stays valid').selectOption(overlap);
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog', { name: 'New secret of Backup' }).waitFor();
      const secret = await valueOf(page, 'Secret');
      await rowOf(page, 'Backup')
        .getByText(`…${secret.slice(-4)}`)
        .waitFor({ state: 'attached' });
      await dialog.getByRole('button', { name: 'Done' }).click();
      return secret;
    }
  });

  test('a key is revoked after saying what stops', async ({ api, open }) => {
    const person = await aPerson(api);
    const key = await aNamedKey(api, person, 'Backup');
    const page = await open('/api-keys', { as: person });
    await chooseOf(page, 'Backup', 'Revoke Backup');
    const dialog = page.getByRole('dialog');
    await dialog
      .getByText(
        /Applications that use “Backup” lose access immediately. Last minute’s uses aside: no use recorded yet./,
      )
      .waitFor();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Key revoked.').waitFor();

    await page.getByText('You have no API keys').waitFor();
    expect(await credentialOf(api, key.secret)).toBeProblem('credential_invalid');
  });

  test('a failed revocation is shown where it was confirmed, and the row stays', async ({ api, open }) => {
    const person = await aPerson(api);
    await aNamedKey(api, person, 'Backup');
    const page = await open('/api-keys', { as: person });
    await page.route('**/trpc/revokeApiKey*', (route) => route.abort());
    await chooseOf(page, 'Backup', 'Revoke Backup');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();

    await page.getByRole('dialog').getByText('The service could not be reached').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await rowOf(page, 'Backup').waitFor();
    expect(await keysOf(api, person)).toMatchObject([{ is_revoked: false }]);
  });

  test('a failed creation is shown with its request ID', async ({ api, open }) => {
    const person = await aPerson(api);
    const { keyLimit } = api.services.config;
    await api.rows(
      `insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at)
       select 'key_full_' || i, $1, 'A key', '{teams:read}', 'rst_pk_aaaaaa', 'aaaa', now() from generate_series(1, $2::int) i`,
      [person.id, keyLimit],
    );
    const page = await open('/api-keys', { as: person });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('One too many');
    await dialog.getByLabel('See teams and their details').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();

    const alert = dialog.getByRole('alert');
    await alert.getByText('API key limit reached').waitFor();
    expect(await alert.innerText()).not.toContain('Request ID');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('One too many');
    expect(await keysOf(api, person)).toHaveLength(keyLimit);
  });
});

describe.skipIf(!hasChromium)('the page of a team’s keys', () => {
  test('a key for the team is created, without scopes that concern the account', async ({ api, open }) => {
    const person = await aPerson(api);
    const team = await api.aTeam({ owner: person });
    const page = await open(`/teams/${team.id}/api-keys`, { as: person });
    await page.getByText('The team has no API keys').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('checkbox').count()).toBe(6);
    await dialog.getByLabel('Name').fill('Deployment');
    for (const box of await dialog.getByRole('checkbox').all()) await box.check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: '“Deployment” created' }).waitFor();
    const secret = await valueOf(page, 'Secret');
    await dialog.getByRole('button', { name: 'Done' }).click();

    expect((await credentialOf(api, secret)).body).toMatchObject({ audience: 'team' });
    expect(await rowOf(page, 'Deployment').innerText()).toContain('by you');
    await chooseOf(page, 'Deployment', 'Change scopes of Deployment');
    expect(await dialog.getByRole('checkbox').count()).toBe(6);
  });

  // Guarantees that users who manage the keys of a team can revoke one that its creator does not.
  test('a key of another member can only be revoked, for its next request', async ({ api, open }) => {
    const { person, team, key } = await aTeamWithKey(api);
    const page = await open(`/teams/${team.id}/api-keys`, { as: person });
    await rowOf(page, 'Deployment').waitFor();

    expect(await rowOf(page, 'Deployment').innerText()).toContain('by Ada Lovelace');
    await openMenuOf(page, 'Deployment');
    await page.getByRole('menuitem').first().waitFor();
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Usage', 'Revoke']);
    await page.keyboard.press('Escape');
    expect((await credentialOf(api, key.secret)).status).toBe(200);
    await chooseOf(page, 'Deployment', 'Revoke Deployment');
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/Created by “Ada Lovelace”\. Applications that use “Deployment”/).waitFor();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Key revoked.').waitFor();

    expect(await credentialOf(api, key.secret)).toBeProblem('credential_invalid');
  });

  test('a permission that was lost concurrently is explained, and the row stays', async ({ api, open }) => {
    const { team, maker, key } = await aTeamWithKey(api);
    const manager = await aPerson(api);
    const role = await api.aRole(team, ['manage_api_keys']);
    await api.aMember(team, manager, { role: role.id });
    const page = await open(`/teams/${team.id}/api-keys`, { as: manager });
    await rowOf(page, 'Deployment').waitFor();
    await api.rows(`update role set permissions = '{}' where id = $1`, [role.id]);
    await chooseOf(page, 'Deployment', 'Revoke Deployment');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();

    const alert = page.getByRole('dialog').getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('manage_api_keys');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await rowOf(page, 'Deployment').waitFor();
    expect((await credentialOf(api, key.secret)).status).toBe(200);
    expect(await keysOf(api, maker)).toMatchObject([{ is_revoked: false }]);
  });
});

describe.skipIf(!hasChromium)('the permissions of the product', () => {
  const PRODUCT = [
    { name: 'invoices:write', title: { en: 'Write invoices' }, keys: true },
    { name: 'books:close', title: { en: 'Close the books' }, keys: true },
    { name: 'users:ban', title: { en: 'Ban users' } },
    { name: 'old:thing', title: { en: 'Old thing' }, keys: true, deprecated: true },
  ];
  const permissionsOf = (api: Api, { id }: { id: string }) =>
    api.rows('select scopes, product_permissions as names from api_key where account_id = $1', [id]);

  test('alone are enough for a key, of those that keys can hold; the list shows them', async ({ api, open }) => {
    await declarePermissions(api, PRODUCT);
    const person = await aPerson(api);
    const page = await open('/api-keys', { as: person });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const choice = dialog.getByRole('group', { name: 'Permissions in the product' });
    await choice.getByLabel('Write invoices').waitFor();
    expect(await choice.getByRole('checkbox').count()).toBe(2);
    for (const box of await dialog.getByRole('checkbox').all()) await box.uncheck();
    await dialog.getByText('Select at least one scope or permission.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
    await choice.getByLabel('Write invoices').check();
    await dialog.getByText('Without a scope, the key works only with the product’s own API.').waitFor();
    await dialog.getByLabel('Name').fill('Invoicing');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: '“Invoicing” created' }).waitFor();
    expect(await permissionsOf(api, person)).toEqual([{ scopes: [], names: ['invoices:write'] }]);
    await dialog.getByRole('button', { name: 'Done' }).click();

    await rowOf(page, 'Invoicing').getByText('1 permission', { exact: true }).click();
    await rowOf(page, 'Invoicing').getByText('Write invoices').waitFor();
    await chooseOf(page, 'Invoicing', 'Change permissions of Invoicing');
    await dialog.getByLabel('Write invoices').uncheck();
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Close the books').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Permissions changed.').waitFor();
    expect(await permissionsOf(api, person)).toEqual([{ scopes: [], names: ['books:close'] }]);
  });

  test('of a team key are those that the role of its creator holds', async ({ api, open }) => {
    await declarePermissions(api, PRODUCT);
    const { team } = await aTeamWithKey(api);
    const manager = await aPerson(api);
    const role = await api.aRole(team, ['manage_api_keys', 'access_dashboard']);
    await api.rows(`update role set product_permissions = '{invoices:write,users:ban}' where id = $1`, [role.id]);
    await api.aMember(team, manager, { role: role.id });
    const page = await open(`/teams/${team.id}/api-keys`, { as: manager });
    await page.getByRole('button', { name: 'Create key' }).click();
    const choice = page.getByRole('dialog').getByRole('group', { name: 'Permissions in the product' });
    await choice.getByLabel('Write invoices').check();
    expect(await choice.getByRole('checkbox').count()).toBe(1);
    await page.getByRole('dialog').getByLabel('Name').fill('Invoicing');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: '“Invoicing” created' }).waitFor();
    expect(await permissionsOf(api, manager)).toMatchObject([{ names: ['invoices:write'] }]);
  });
});
