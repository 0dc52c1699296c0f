import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, chooseOf, openMenuOf, shows, test, type Open } from './console.ts';

/** The page of a team's invitations, as its owner sees it. */
async function asOwner(api: Api, open: Open, prepare: (team: { id: string }) => Promise<unknown> = async () => {}) {
  const owner = await aPerson(api);
  const team = await api.aTeam({ owner });
  await prepare(team);
  const page = await open(`/teams/${team.id}/invitations`, { as: owner });
  await shows(page, 'Invitations');
  return { page, team };
}

const rowOf = (page: Page, email: string) => page.getByRole('main').getByRole('row').filter({ hasText: email });
const emails = (page: Page) => page.getByRole('rowheader').locator('bdi').allInnerTexts();
const resultOf = (page: Page, email: string) =>
  page.getByRole('list', { name: 'Results' }).getByRole('listitem').filter({ hasText: email });

const pendingOf = (api: Api, team: { id: string }) =>
  api.rows<{ id: string; email: string; role_id: string }>(
    'select id, email, role_id from invitation where team_id = $1 order by email',
    [team.id],
  );

const openDialog = async (page: Page) => {
  await page.getByRole('button', { name: 'Invite people' }).click();
  return page.getByRole('dialog');
};

describe.skipIf(!hasChromium)('the page of invitations', () => {
  test('one address is invited to a role, and its link can be copied then and never again', async ({ api, open }) => {
    const { page, team } = await asOwner(api, open);
    await page.getByText('No pending invitations').waitFor();
    const dialog = await openDialog(page);
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByText('Enter at least one email address.').waitFor();
    expect(await dialog.getByText('Owner', { exact: true }).count()).toBe(0);
    expect(await dialog.getByRole('radio').count()).toBe(2);
    await dialog.getByText('View members and roles').waitFor();

    await dialog.getByLabel('Email addresses').fill('ada@example.com');
    await dialog.getByLabel('Guest').check();
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await resultOf(page, 'ada@example.com').getByText('Invited', { exact: true }).waitFor();
    await dialog.getByText('Because a shared link does not verify the email address').waitFor();
    await dialog.locator('button:focus').getByText('Done').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.getByRole('button', { name: 'Copy link for ada@example.com' }).click();
    await dialog.getByText('Copied').waitFor();
    const copied = new URL(String(await page.evaluate('navigator.clipboard.readText()')));
    expect(`${copied.origin}${copied.pathname}`).toBe(`${api.services.config.baseUrl}/invitation`);
    expect(
      await api.rows('select proves_mailbox from invitation_link where token_hash = $1', [
        hashSecret(copied.searchParams.get('token') ?? ''),
      ]),
    ).toEqual([{ proves_mailbox: false }]);

    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await rowOf(page, 'ada@example.com').innerText()).toMatch(/Guest\s+Pending\s+Valid until /);
    expect(await page.content()).not.toContain(copied.search);
    expect(await pendingOf(api, team)).toMatchObject([{ email: 'ada@example.com', role_id: 'guest' }]);
  });

  test('what was entered is there again after Escape, but not after “Cancel”', async ({ api, open }) => {
    const { page } = await asOwner(api, open);
    const first = (await openDialog(page)).getByLabel('Email addresses');
    await first.fill('ada@example.com');
    await page.keyboard.press('Escape');
    await first.waitFor({ state: 'detached' });
    const again = await openDialog(page);
    expect(await again.getByLabel('Email addresses').inputValue()).toBe('ada@example.com');
    await again.getByRole('button', { name: 'Cancel' }).click();
    await again.waitFor({ state: 'detached' });
    expect(await (await openDialog(page)).getByLabel('Email addresses').inputValue()).toBe('');
  });

  test('each of many email addresses has its own result, and failed ones stay for correction', async ({
    api,
    open,
  }) => {
    const { page, team } = await asOwner(api, open);
    const dialog = await openDialog(page);
    const field = dialog.getByLabel('Email addresses');
    await field.fill('ada@example.com, nonsense\nCharles Babbage <charles@example.com>\n\n ADA@example.com;');
    await dialog.getByRole('button', { name: 'Send 3 invitations' }).click();
    await dialog.getByText('2 invited, 1 not invited.').waitFor();

    await resultOf(page, 'nonsense').getByText('Enter an email address').waitFor();
    expect(await field.inputValue()).toBe('nonsense');
    expect((await pendingOf(api, team)).map(({ email }) => email)).toEqual(['ada@example.com', 'charles@example.com']);

    await field.fill('grace@example.com');
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByText('3 invited.').waitFor();
    expect(await field.count()).toBe(0);
    expect(await dialog.getByRole('button', { name: /^Copy link for/ }).count()).toBe(3);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await rowOf(page, 'grace@example.com').waitFor();
  });

  test('when the seats are used up, the error is shown', async ({ api, open }) => {
    const { page } = await asOwner(api, open, async (team) => {
      for (let i = 0; i < 3; i += 1) await api.anInvitation(team);
    });
    const dialog = await openDialog(page);
    await dialog.getByLabel('Email addresses').fill('ada@example.com\ngrace@example.com');
    await dialog.getByRole('button', { name: 'Send 2 invitations' }).click();
    await dialog.getByText('1 invited, 1 not invited.').waitFor();

    const refused = await resultOf(page, 'grace@example.com').innerText();
    expect(refused).toContain('All 5 seats of the plan Free are taken by members and pending invitations.');
    expect(await dialog.getByLabel('Email addresses').inputValue()).toBe('grace@example.com');
  });

  test('an invitation is sent again', async ({ api, open }) => {
    const { page } = await asOwner(api, open, (team) => api.anInvitation(team, { email: 'ada@example.com' }));
    await chooseOf(page, 'ada@example.com', 'Resend to ada@example.com');
    await page.getByText('New link sent to ada@example.com.').waitFor();

    await api.mailTo('ada@example.com', /^Invitation/);
  });

  test('a resend that failed is explained above the list, with the row still there', async ({ api, open }) => {
    const { page } = await asOwner(api, open, (team) => api.anInvitation(team, { email: 'ada@example.com' }));
    await page.route('**/trpc/invitations.resend*', (route) => route.abort());
    await chooseOf(page, 'ada@example.com', 'Resend to ada@example.com');
    await page.getByRole('alert').getByText('The service could not be reached').waitFor();
    expect(await rowOf(page, 'ada@example.com').getByRole('button').count()).toBe(1);
  });

  test('an invitation is revoked after asking', async ({ api, open }) => {
    const { page, team } = await asOwner(api, open, (at) => api.anInvitation(at, { email: 'ada@example.com' }));
    await chooseOf(page, 'ada@example.com', 'Revoke the invitation of ada@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await pendingOf(api, team)).toHaveLength(1);
    await chooseOf(page, 'ada@example.com', 'Revoke the invitation of ada@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();

    await page.getByText('Invitation revoked.').waitFor();
    await page.getByText('No pending invitations').waitFor();
    expect(await pendingOf(api, team)).toEqual([]);
  });

  // Guarantees that the page shows what is so, whatever the service answers.
  test('a row stays until it is revoked, and the reason is shown if it is not', async ({ api, open }) => {
    const { page, team } = await asOwner(api, open, (at) => api.anInvitation(at, { email: 'ada@example.com' }));
    const answered = Promise.withResolvers<void>();
    await page.route('**/trpc/revokeTeamInvitation*', async (route) => {
      await answered.promise;
      await route.abort();
    });
    await chooseOf(page, 'ada@example.com', 'Revoke the invitation of ada@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    expect(await page.getByText('ada@example.com').count()).toBeGreaterThan(0);
    await expect.poll(() => page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    answered.resolve();
    await page.getByRole('dialog').getByText('The service could not be reached').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

    await rowOf(page, 'ada@example.com').waitFor();
    expect(await pendingOf(api, team)).toHaveLength(1);
  });

  test('an invitation that was accepted concurrently is explained, and leaves the list', async ({ api, open }) => {
    const { page, team } = await asOwner(api, open, (at) => api.anInvitation(at, { email: 'ada@example.com' }));
    await rowOf(page, 'ada@example.com').waitFor();
    await api.rows('update invitation set accepted_at = now() where team_id = $1', [team.id]);
    await chooseOf(page, 'ada@example.com', 'Revoke the invitation of ada@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

    await page.getByText('No pending invitations').waitFor();
  });

  test('what has expired is marked, and is invited again to its role', async ({ api, open }) => {
    const { page, team } = await asOwner(api, open, (at) =>
      api.anInvitation(at, { email: 'ada@example.com', role: 'guest', expiresAt: new Date(Date.now() - 1000) }),
    );
    await rowOf(page, 'ada@example.com').getByText('Expired', { exact: true }).waitFor();
    await chooseOf(page, 'ada@example.com', 'Invite again: ada@example.com');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Email addresses').inputValue()).toBe('ada@example.com');
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();

    await openMenuOf(page, 'ada@example.com');
    await page.getByRole('menuitem', { name: 'Revoke the invitation of ada@example.com' }).waitFor();
    expect(await pendingOf(api, team)).toMatchObject([{ role_id: 'guest' }]);
  });

  test('many are searched, filtered and sorted, and revoked together with one outcome each', async ({ api, open }) => {
    const { page, team } = await asOwner(api, open, async (at) => {
      for (const [name, role] of [
        ['ada', 'guest'],
        ['charles', 'member'],
        ['grace', 'guest'],
        ['mary', 'member'],
      ] as const)
        await api.anInvitation(at, { email: `${name}@example.com`, role });
      await api.rows(`update invitation set expires_at = now() - interval '1 ms' where email = 'mary@example.com'`);
    });
    await page.getByRole('status').getByText('4 invitations').waitFor();
    await page.getByRole('button', { name: 'Email', exact: true }).click();
    await page.getByRole('button', { name: 'Email', exact: true }).click();
    await expect
      .poll(() => emails(page))
      .toEqual(['mary', 'grace', 'charles', 'ada'].map((name) => `${name}@example.com`));
    await page.getByLabel('Status').selectOption('Status: Pending');
    await page.getByRole('status').getByText('3 of 4 invitations').waitFor();
    await page.getByLabel('Role').selectOption('Role: Guest');
    await expect.poll(() => emails(page)).toEqual(['grace@example.com', 'ada@example.com']);
    await page.reload();
    await expect.poll(() => emails(page)).toEqual(['grace@example.com', 'ada@example.com']);
    await page.goto(page.url().replace(/\?.*/, ''));

    await page.getByRole('checkbox', { name: 'Select all 4 rows' }).check();
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Resend…' }).click();
    const resending = page.getByRole('dialog', { name: 'Resend 3 invitations' });
    await resending.getByText('Not possible for: mary@example.com.').waitFor();
    await resending.getByRole('button', { name: 'Resend', exact: true }).click();
    await resending.getByText('3 done').waitFor();
    await resending.getByRole('button', { name: 'Close' }).last().click();
    await api.mailTo('grace@example.com', /^Invitation/);

    await api.rows(`delete from invitation where email = 'mary@example.com'`);
    await api.rows(`update invitation set accepted_at = now() where email = 'ada@example.com'`);
    await page.getByRole('checkbox', { name: /^Select all/ }).check();
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Revoke…' }).click();
    const revoking = page.getByRole('dialog', { name: /^Revoke/ });
    await revoking.getByRole('button', { name: 'Revoke', exact: true }).click();
    await revoking.getByText('2 done, 1 failed').waitFor();
    // Nothing is left in the table, and the outcomes are still shown.
    await revoking.getByRole('listitem').filter({ hasText: 'ada@example.com' }).getByText('not found').waitFor();
    await page.getByText('No pending invitations').waitFor({ state: 'attached' });
    await revoking.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No pending invitations').waitFor();
    expect(await api.rows('select 1 from invitation where team_id = $1 and accepted_at is null', [team.id])).toEqual(
      [],
    );
  });

  test('whose role cannot invite sees who can, and no address', async ({ api, open }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const { id: inviters } = await api.aRole(team, ['access_dashboard', 'invite_members']);
    await api.anInvitation(team, { email: 'ada@example.com' });
    const member = await aPerson(api);
    await api.aMember(team, member, { role: 'member' });
    const page = await open(`/teams/${team.id}/invitations`, { as: member });

    await page.getByText(`Members with these roles can see it: Owner, ${inviters}.`).waitFor();
    expect(await page.getByRole('button', { name: 'Invite people' }).count()).toBe(0);
    expect(await page.getByText('ada@example.com').count()).toBe(0);
  });
});
