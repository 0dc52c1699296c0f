import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { aFailedJob } from '../events/operator-mutations.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, test } from './console.ts';

/** An operator with a row in each list. */
async function aWorld(api: Api) {
  const ada = await aPerson(api, { firstName: 'Ada' });
  await api.rows(`update account set role = 'admin' where id = $1`, [ada.id]);
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  await api.aMember(team, await aPerson(api, { firstName: 'Max' }), { role: 'member' });
  const role = await api.aRole(team, ['invite_members']);
  await api.rows(`update role set name = 'Bookkeeper' where id = $1`, [role.id]);
  await api.aGrant(ada, {
    client: await api.anOAuthClient({ name: 'Planner' }),
    scopes: ['teams:read', 'teams:write'],
  });
  await api.anOAuthClient({ name: 'Scheduler', owner: ada });
  await api.rows(`delete from oauth_client where name = 'Front desk'`);
  await api.anOAuthClient({ name: 'Front desk', confidential: true, firstParty: ['teams:read'] });
  await api.anApiKey(ada, { team });
  await api.rows('update operator_key set revoked_at = now() where revoked_at is null');
  await api.anOperatorKey({ name: 'Billing' });
  const { trpc } = await signedIn(api, ada);
  await trpc.webhooks.create.mutate({ teamId: team.id, url: 'https://example.com/hooks', types: [] });
  return { ada, at: `/teams/${team.slug}`, team };
}

const menus = (page: Page) => page.getByRole('main').getByRole('menu');

describe.skipIf(!hasChromium)('the menu of a row', () => {
  test.for([
    [':team/members', 'Max', 'Remove…'],
    [':team/roles', 'Bookkeeper', 'Edit Bookkeeper'],
    [':team/api-keys', 'A key', 'Revoke A key'],
    [':team/webhooks', 'https://example.com/hooks', /^Delete/],
    ['/account', 'Planner', 'Revoke the access of Planner'],
    ['/developer', 'Scheduler', 'Edit Scheduler'],
    ['/operator/keys', 'Billing', 'Rotate secret of Billing'],
    ['/operator/clients', 'Front desk', 'Edit Front desk'],
    ['/operator/teams/:id/keys', 'A key', 'Revoke A key'],
    ['/operator/teams/:id/members', 'Max', /^Remove/],
  ] as const)(
    'of %s is in the page while it is open, and gives the focus back, also after a dialog',
    async ([path, row, action], { api, open }) => {
      const { ada, at, team } = await aWorld(api);
      const page = await open(path.replace(':team', at).replace(':id', team.id), { as: ada });
      const button = page.getByRole('button', { name: `Actions for ${row}` });
      const focused = button.and(page.locator(':focus'));
      await button.waitFor();
      expect(await menus(page).count()).toBe(0);
      expect(await button.getAttribute('aria-expanded')).toBe('false');

      await button.press('Enter');
      await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor();
      expect(await button.getAttribute('aria-expanded')).toBe('true');
      await page.keyboard.press('Escape');
      await focused.waitFor();
      expect(await menus(page).count()).toBe(0);

      await button.click();
      await page.getByRole('menuitem', { name: action }).click();
      await page.getByRole('dialog').waitFor();
      expect(await menus(page).count()).toBe(0);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await focused.waitFor();

      // A second click closes it, as does one beside it, which leaves the focus to what was clicked.
      await button.click();
      await menus(page).waitFor();
      await button.click();
      await menus(page).waitFor({ state: 'detached' });
      await button.click();
      await menus(page).waitFor();
      await page.getByRole('heading', { level: 1 }).click();
      await menus(page).waitFor({ state: 'detached' });
    },
  );

  test('of a job is offered only where it failed', async ({ api, open }) => {
    const { ada } = await aWorld(api);
    const job = await aFailedJob(api, `Away ${crypto.randomUUID()}`);
    const page = await open('/operator/jobs', { as: ada });
    const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') });
    await page.getByRole('searchbox').fill(job);
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.getByRole('button', { name: /^Actions for/ }).count()).toBe(1);
    await api.rows('update graphile_worker._private_jobs set attempts = 0, last_error = null where id = $1', [job]);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await rows.getByText('Waiting').waitFor();
    expect(await rows.getByRole('button', { name: /^Actions for/ }).count()).toBe(0);
  });
});
