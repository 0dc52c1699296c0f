import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, chooseOf, test } from './console.ts';

const apps = (page: Page) => page.getByRole('region', { name: 'Connected apps' });
const rowOf = (page: Page, client: string) =>
  apps(page)
    .getByRole('listitem')
    .filter({ has: page.getByText(client, { exact: true }) });
const scopesOf = (page: Page, client: string) =>
  page
    .getByRole('list', { name: `What “${client}” can do` })
    .getByRole('listitem')
    .allInnerTexts();

describe.skipIf(!hasChromium)('the connected apps of an account', () => {
  test('each shows its audience, its permissions, and its dates', async ({ api, open }) => {
    const person = await aPerson(api);
    await api.rows(`update account set preferred_locale = 'en-GB' where id = $1`, [person.id]);
    const team = await api.aTeam({ owner: person, name: 'Analytical Engine' });
    await api.aGrant(person, {
      client: await api.anOAuthClient({ name: 'Planner' }),
      scopes: ['members:read', 'teams:read'],
      team,
    });
    await api.aGrant(person, { client: await api.anOAuthClient({ name: 'Backup' }), scopes: ['profile:read'] });
    await api.aGrant(await api.anAccount(), { client: await api.anOAuthClient({ name: 'Of another' }) });
    const page = await open('/account', { as: person });
    await rowOf(page, 'Backup').waitFor();

    expect(await apps(page).getByText('Of another').count()).toBe(0);
    expect(await rowOf(page, 'Backup').innerText()).toContain('Whole account');
    const planner = await rowOf(page, 'Planner').innerText();
    const day = (daysOn: number) =>
      new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(
        Date.now() + daysOn * 86_400_000,
      );
    expect(planner).toContain('Only the team “Analytical Engine”');
    expect(planner).toContain(`Approved ${day(0)}, no use recorded yet, expires ${day(90)}`);
    expect(await scopesOf(page, 'Planner')).toEqual([
      'See teams and their details',
      'See the members, roles and invitations of teams',
    ]);
  });

  // Guarantees that a removed scope is denied from the next call of the application on.
  test('the scopes are reduced, but never to none and never extended', async ({ api, open }) => {
    const person = await aPerson(api);
    const client = await api.anOAuthClient({ name: 'Planner' });
    const grant = await api.aGrant(person, { client, scopes: ['teams:read', 'teams:write', 'members:read'] });
    const page = await open('/account', { as: person });
    await chooseOf(page, 'Planner', 'Change access of Planner');
    const dialog = page.getByRole('dialog', { name: 'What can “Planner” do?' });
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await dialog.getByRole('checkbox').count()).toBe(3);
    expect(await save.isDisabled()).toBe(true);

    for (const box of await dialog.getByRole('checkbox').all()) await box.uncheck();
    await dialog.getByText('To remove all permissions, revoke the access.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('See teams and their details').check();
    await save.click();
    await page.getByText('Access changed.').waitFor();

    expect(await dialog.count()).toBe(0);
    expect(await scopesOf(page, 'Planner')).toEqual(['See teams and their details']);
    expect((await api.as(grant).get('/api/v1/credential')).body).toMatchObject({ scopes: ['teams:read'] });
    await chooseOf(page, 'Planner', 'Change access of Planner');
    expect(await dialog.getByRole('checkbox').count()).toBe(1);
  });

  test('the access is revoked after listing what stops, and with it the keys created through it', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const grant = await api.aGrant(person, { client: await api.anOAuthClient({ name: 'Planner' }) });
    const key = await api.anApiKey(person);
    await api.rows('update api_key set oauth_grant_id = $2 where id = $1', [key.id, grant.id]);
    const page = await open('/account', { as: person });
    const dialog = page.getByRole('dialog');
    await chooseOf(page, 'Planner', 'Revoke the access of Planner');
    await dialog.getByText(/“Planner” and the API keys it created lose access immediately/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await api.as(grant).get('/api/v1/credential')).status).toBe(200);

    await chooseOf(page, 'Planner', 'Revoke the access of Planner');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await apps(page).getByText('No application has access to your account.').waitFor();

    expect(await api.as(grant).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
  });

  test('access that was revoked concurrently is reported in the dialog', async ({ api, open }) => {
    const person = await aPerson(api);
    const grant = await api.aGrant(person, {
      client: await api.anOAuthClient({ name: 'Planner' }),
      scopes: ['teams:read', 'teams:write'],
    });
    const page = await open('/account', { as: person });
    await chooseOf(page, 'Planner', 'Change access of Planner');
    await api.rows('update oauth_grant set revoked_at = now() where id = $1', [grant.id]);

    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Create teams and change their details').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('Grant not found', { exact: true }).waitFor();
  });
});
