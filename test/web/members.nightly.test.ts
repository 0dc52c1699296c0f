import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Permission } from '../../src/entities/index.ts';
import { hasChromium } from '../support/chromium.ts';
import type { Api } from '../support/api.ts';
import { membershipOf, ownersOf } from '../trpc/console.ts';
import { aPerson, shows, test } from './console.ts';

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(name) }) });

const menuOf = (page: Page, name: string) => page.getByRole('button', { name: `Actions for ${name}` });

async function choose(page: Page, name: string, action: string): Promise<void> {
  await menuOf(page, name).click();
  await page.getByRole('menuitem', { name: action }).click();
}

/** A team with its owner Ada, and Max who is a member of it. */
async function aTeamOfTwo(api: Api) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const max = await aPerson(api, { firstName: 'Max', lastName: 'Member' });
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  await api.aMember(team, max, { role: 'member' });
  return { ada, max, team, path: `/teams/${team.id}/members` };
}

/** What the menu of a row offers; nothing where there is none. */
async function actionsOf(page: Page, name: string): Promise<string[]> {
  await rowOf(page, name).waitFor();
  if ((await menuOf(page, name).count()) === 0) return [];
  await menuOf(page, name).click();
  await page.getByRole('menu').waitFor();
  const items = await page.getByRole('menuitem').allInnerTexts();
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  return items;
}

describe.skipIf(!hasChromium)('the members of a team', () => {
  test('another role is seen by others after they load the page again', async ({ api, open }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    const [owners, members] = [await open(path, { as: ada }), await open(path, { as: max })];
    await rowOf(members, 'Max Member').getByText('You', { exact: true }).waitFor();
    expect(await rowOf(members, 'Max Member').getByRole('cell').first().innerText()).toBe('Member');

    await choose(owners, 'Max Member', 'Change role…');
    const dialog = owners.getByRole('dialog', { name: 'Change the role of Max Member' });
    expect(await dialog.getByRole('radio').count()).toBe(2);
    await dialog.getByRole('radio', { name: 'Guest' }).check();
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await owners.getByText('Role of “Max Member” changed to “Guest”.').waitFor();
    expect(await rowOf(owners, 'Max Member').getByRole('cell').nth(1).innerText()).toBe('Guest');

    await choose(owners, 'Max Member', 'Change role…');
    await dialog.getByRole('radio', { name: 'Member' }).check();
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await owners.getByText('Role of “Max Member” changed to “Member”.').waitFor();
    expect(await membershipOf(api, team, max)).toMatchObject({ role_id: 'member' });
    await members.reload();
    await rowOf(members, 'Max Member').waitFor();
    expect(await rowOf(members, 'Max Member').getByRole('cell').first().innerText()).toBe('Member');
  });

  // Guarantees that users are offered only actions that the service allows for their role.
  test('a row offers what the role of the reader allows', async ({ api, open }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    const manager = await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' });
    const held: Permission[] = ['access_dashboard', 'edit_team_settings', 'remove_members'];
    await api.aMember(team, manager, { role: (await api.aRole(team, held)).id });
    const strong = await aPerson(api, { firstName: 'Sam', lastName: 'Strong' });
    await api.aMember(team, strong, { role: (await api.aRole(team, ['access_billing'])).id });

    const page = await open(path, { as: manager });
    expect(await actionsOf(page, 'Ada Lovelace')).toEqual([]);
    expect(await actionsOf(page, 'Grace Hopper')).toEqual([]);
    expect(await actionsOf(page, 'Sam Strong')).toEqual(['Set an end date…', 'Deactivate', 'Remove…']);
    expect(await actionsOf(page, 'Max Member')).toEqual(['Change role…', 'Set an end date…', 'Deactivate', 'Remove…']);
    expect(await page.getByRole('region', { name: 'Ownership' }).count()).toBe(0);

    expect(await actionsOf(await open(path, { as: max }), 'Grace Hopper')).toEqual([]);
    expect(await actionsOf(await open(path, { as: ada }), 'Sam Strong')).toContain('Offer ownership…');
  });

  test('people are invited from the list of members, in one step', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfTwo(api);
    const page = await open(path, { as: ada });
    await page.getByRole('button', { name: 'Invite people' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite people' });
    await dialog.getByLabel('Email addresses').fill('grace@example.com');
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Invite people');
    expect(await api.rows('select email from invitation where team_id = $1', [team.id])).toEqual([
      { email: 'grace@example.com' },
    ]);
  });

  test('a member is deactivated, activated, and given an end date that is taken away again', async ({ api, open }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    const page = await open(path, { as: ada });
    await choose(page, 'Max Member', 'Deactivate');
    await page.getByText('“Max Member” deactivated.').waitFor();
    expect(await membershipOf(api, team, max)).toMatchObject({ is_active: false });
    await choose(page, 'Max Member', 'Activate');
    await page.getByText('“Max Member” activated.').waitFor();
    expect(await membershipOf(api, team, max)).toMatchObject({ is_active: true });

    await choose(page, 'Max Member', 'Set an end date…');
    const dialog = page.getByRole('dialog', { name: 'Set an end date for Max Member' });
    await dialog.getByLabel('Last day').fill('2020-01-31');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This value is not accepted.').waitFor();
    await dialog.getByLabel('Last day').fill('2099-01-31');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, 'Max Member').getByText('Until 31 Jan 2099').waitFor();
    const [row] = await api.rows<{ ends: boolean }>(
      `select expires_at = '2099-01-31T23:59:59Z' as ends from membership where team_id = $1 and account_id = $2`,
      [team.id, max.id],
    );
    expect(row).toEqual({ ends: true });

    await choose(page, 'Max Member', 'Remove the end date');
    await page.getByText('End date of “Max Member” removed.').waitFor();
    expect(await membershipOf(api, team, max)).toMatchObject({ expires_at: null });
  });

  // Guarantees that what the dialog names is what stops.
  test('removing lists what stops working, and stops it', async ({ api, open }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    const key = await api.anApiKey(max, { team });
    await api.aGrant(max, { team });
    const page = await open(path, { as: ada });
    const dialog = page.getByRole('dialog', { name: 'Remove “Max Member”?' });
    await choose(page, 'Max Member', 'Remove…');
    await dialog.getByText(`The API key “A key” (…${key.secret.slice(-4)})`).waitFor();
    await dialog.getByText('The access of 1 application').waitFor();
    await page.keyboard.press('Escape');
    await expect
      .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"))
      .toBe('Actions for Max Member');
    expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);

    await choose(page, 'Max Member', 'Remove…');
    await dialog.getByRole('button', { name: 'Remove member', exact: true }).click();
    await page.getByText('“Max Member” removed.').waitFor();
    expect(await rowOf(page, 'Max Member').count()).toBe(0);
    expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
  });

  test('removing lists the invitations of the member, and revokes the others too if asked to', async ({
    api,
    open,
  }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    const inviter = await api.aRole(team, ['invite_members']);
    await api.rows('update membership set role_id = $3 where team_id = $1 and account_id = $2', [
      team.id,
      max.id,
      inviter.id,
    ]);
    const [ending, staying] = [await api.anInvitation(team, { role: inviter.id }), await api.anInvitation(team)];
    await api.rows('update invitation set invited_by_id = $2 where team_id = $1', [team.id, max.id]);
    const unrelated = await api.anInvitation(team);
    const remaining = async () =>
      (await api.rows<{ email: string }>('select email from invitation where team_id = $1', [team.id]))
        .map(({ email }) => email)
        .toSorted();
    const page = await open(path, { as: ada });
    const dialog = page.getByRole('dialog', { name: 'Remove “Max Member”?' });
    await choose(page, 'Max Member', 'Remove…');
    const listed = (title: string) => dialog.locator('div', { has: page.getByText(title, { exact: true }) }).last();
    await listed('This also revokes:').getByText(ending.email).waitFor();
    await listed('Invitations that they sent and that stay valid:').getByText(staying.email).waitFor();
    const others = dialog.getByRole('checkbox', { name: 'Revoke these invitations too' });
    expect(await others.isChecked()).toBe(false);
    expect(await dialog.getByText(unrelated.email).count()).toBe(0);
    expect(await remaining()).toEqual([ending.email, staying.email, unrelated.email].toSorted());

    await others.check();
    await dialog.getByRole('button', { name: 'Remove member', exact: true }).click();
    await page.getByText('“Max Member” removed.').waitFor();
    expect(await remaining()).toEqual([unrelated.email]);
  });

  // Guarantees that a removal without the checkbox does not end what the dialog says stays.
  test('without being asked to, and by who cannot invite, removing leaves the other invitations', async ({
    api,
    open,
  }) => {
    const { max, team, path } = await aTeamOfTwo(api);
    const remover = await aPerson(api, { firstName: 'Rita', lastName: 'Remover' });
    const held: Permission[] = ['access_dashboard', 'remove_members'];
    await api.aMember(team, remover, { role: (await api.aRole(team, held)).id });
    const staying = await api.anInvitation(team);
    await api.rows('update invitation set invited_by_id = $2 where team_id = $1', [team.id, max.id]);
    const page = await open(path, { as: remover });
    const dialog = page.getByRole('dialog', { name: 'Remove “Max Member”?' });
    await choose(page, 'Max Member', 'Remove…');
    await dialog.getByText('1 invitation that they sent').waitFor();
    expect(await dialog.getByRole('checkbox').count()).toBe(0);
    expect(await dialog.innerText()).not.toContain(staying.email);

    await dialog.getByRole('button', { name: 'Remove member', exact: true }).click();
    await page.getByText('“Max Member” removed.').waitFor();
    expect(await api.rows('select email from invitation where team_id = $1', [team.id])).toEqual([
      { email: staying.email },
    ]);
  });

  test('a refusal says what was not changed, and the row is restored', async ({ api, open }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    await api.rows('update membership set is_active = false where team_id = $1 and account_id = $2', [team.id, max.id]);
    for (let taken = 1; taken < 5; taken += 1) await api.anInvitation(team);
    const page = await open(path, { as: ada });
    await choose(page, 'Max Member', 'Activate');
    const alert = page.getByRole('alert');
    await alert.getByText('Seat limit reached').waitFor();
    expect(await alert.innerText()).toContain('“Max Member” was not changed.');
    await rowOf(page, 'Max Member').getByText('Inactive').waitFor();

    await choose(page, 'Max Member', 'Change role…');
    await api.rows('delete from membership where team_id = $1 and account_id = $2', [team.id, max.id]);
    await page.getByRole('radio', { name: 'Guest' }).check();
    await page.getByRole('button', { name: 'Change role' }).click();
    await alert.getByText('Member not found').waitFor();
    await rowOf(page, 'Max Member').waitFor({ state: 'detached' });
    await alert.getByRole('button', { name: 'Close' }).click();
    await alert.waitFor({ state: 'detached' });
  });
});

describe.skipIf(!hasChromium)('the ownership of a team', () => {
  test('is offered, withdrawn, offered again and accepted', async ({ api, open }) => {
    const { ada, max, team, path } = await aTeamOfTwo(api);
    const [owners, nominees] = [await open(path, { as: ada }), await open(path, { as: max })];
    await shows(nominees, 'Members');
    const offer = async () => {
      await choose(owners, 'Max Member', 'Offer ownership…');
      const dialog = owners.getByRole('dialog', { name: 'Offer ownership to “Max Member”?' });
      await dialog.getByText('You become a member with the role Member').waitFor();
      await dialog.getByRole('button', { name: 'Offer ownership' }).click();
      await owners.getByText('Offered to “Max Member”. They').waitFor();
    };
    await offer();
    await owners.getByRole('button', { name: 'Withdraw offer' }).click();
    await owners.getByText('Offer withdrawn.').waitFor();
    expect(await api.rows('select from ownership_transfer where team_id = $1', [team.id])).toEqual([]);
    await offer();

    await nominees.reload();
    await nominees.getByRole('button', { name: 'Accept ownership of Analytical Engine' }).click();
    expect(await ownersOf(api, team)).toEqual([ada.id]);
    await nominees.getByRole('button', { name: 'Become owner' }).click();
    await nominees.getByText('You are now the owner of “Analytical Engine”.').waitFor();
    expect(await ownersOf(api, team)).toEqual([max.id]);
    await nominees.getByRole('region', { name: 'Ownership' }).waitFor();

    await owners.reload();
    await shows(owners, 'Members');
    expect(await owners.getByRole('region', { name: 'Ownership' }).count()).toBe(0);
  });

  test('is declined on the home page; an expired offer is reported', async ({ api, open }) => {
    const { max, team } = await aTeamOfTwo(api);
    const offer = () =>
      api.rows(
        `insert into ownership_transfer (team_id, nominee_id, expires_at, created_at)
         values ($1, $2, now() + interval '7 days', now())`,
        [team.id, max.id],
      );
    await offer();
    const page = await open('/', { as: max });
    const decline = page.getByRole('button', { name: 'Decline ownership of Analytical Engine' });
    await decline.click();
    await page.getByText('Ownership of “Analytical Engine” declined.').waitFor();
    await decline.waitFor({ state: 'detached' });

    await offer();
    await page.reload();
    await page.getByRole('button', { name: 'Accept ownership of Analytical Engine' }).click();
    await api.rows('delete from ownership_transfer where team_id = $1', [team.id]);
    await page.getByRole('button', { name: 'Become owner' }).click();
    await page.getByRole('dialog').getByText('Ownership transfer not found').waitFor();
    await decline.waitFor({ state: 'detached' });
  });
});
