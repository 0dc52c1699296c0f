import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Permission } from '../../src/entities/index.ts';
import { as, membershipOf } from '../trpc/console.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, chooseOf, shows, test } from './console.ts';

const roleOf = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3, name, exact: true }) });

/** What the page says that a role may do. */
const permissionsOf = async (page: Page, name: string) => {
  await roleOf(page, name).waitFor();
  return roleOf(page, name).locator('.role-facts').getByRole('listitem').allInnerTexts();
};

const rolesOf = (api: Api, team: { id: string }) =>
  api.rows<{ name: string; permissions: Permission[] }>(
    'select name, permissions from role where team_id = $1 order by name',
    [team.id],
  );

/** A team of Ada's with the role Bookkeeper, which Grace holds. */
async function aTeamWithBookkeeper(api: Api) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const grace = await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' });
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  const role = await aNamedRole(api, team, 'Bookkeeper', ['access_dashboard', 'access_billing']);
  await api.aMember(team, grace, { role: role.id });
  return { ada, grace, team, role, path: `/teams/${team.id}/roles` };
}

async function aNamedRole(api: Api, team: { id: string }, name: string, permissions: readonly Permission[]) {
  const role = await api.aRole(team, permissions);
  await api.rows('update role set name = $2 where id = $1', [role.id, name]);
  return role;
}

describe.skipIf(!hasChromium)('the roles of a team', () => {
  test('a role is created with the selected permissions, and a name that is taken is shown at its field', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open(`/teams/${team.id}/roles`, { as: ada });
    await page.getByText('No custom roles yet').waitFor();
    await page.getByRole('button', { name: 'Create role' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create role' });
    await dialog.getByLabel('Name').fill('MEMBER');
    await dialog.getByLabel('View plan and billing').check();
    await dialog.getByRole('button', { name: 'Create role' }).click();
    await dialog.getByText('A role with this name exists. Choose another.').waitFor();
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
    expect(await rolesOf(api, team)).toEqual([]);

    await dialog.getByLabel('Name').fill('Bookkeeper');
    await dialog.getByLabel('View members and roles').check();
    await page.keyboard.press('Enter');
    await page.getByText('Role “Bookkeeper” created.').waitFor();

    expect(await dialog.count()).toBe(0);
    expect(await permissionsOf(page, 'Bookkeeper')).toEqual(['View members and roles', 'View plan and billing']);
    await roleOf(page, 'Bookkeeper').getByText('No members.').waitFor();
    expect(await rolesOf(api, team)).toEqual([
      { name: 'Bookkeeper', permissions: ['access_dashboard', 'access_billing'] },
    ]);
  });

  test('new permissions and a new name apply to all members with the role', async ({ api, open }) => {
    const { ada, grace, team, path } = await aTeamWithBookkeeper(api);
    const page = await open(path, { as: ada });
    await chooseOf(page, 'Bookkeeper', 'Edit Bookkeeper');
    const dialog = page.getByRole('dialog', { name: 'Edit Bookkeeper' });
    expect(await dialog.getByLabel('View plan and billing').isChecked()).toBe(true);
    await dialog.getByLabel('Name').fill('Recruiter');
    await dialog.getByLabel('View plan and billing').uncheck();
    await dialog.getByLabel('Invite people and revoke invitations').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Role “Recruiter” changed for all its members.').waitFor();

    expect(await permissionsOf(page, 'Recruiter')).toEqual([
      'View members and roles',
      'Invite people and revoke invitations',
    ]);
    expect(await roleOf(page, 'Bookkeeper').count()).toBe(0);
    expect(await (await as(api, grace)).teams.permissions.query({ teamId: team.id })).toEqual([
      'access_dashboard',
      'invite_members',
    ]);
  });

  // Guarantees that what was ticked for one role is never saved for another.
  test('a change that was closed by Escape is not offered for another role, but a new role has it again', async ({
    api,
    open,
  }) => {
    const { ada, team, path } = await aTeamWithBookkeeper(api);
    await aNamedRole(api, team, 'Auditor', ['access_dashboard', 'access_billing']);
    const page = await open(path, { as: ada });
    const dialog = page.getByRole('dialog');
    const invites = dialog.getByLabel('Invite people and revoke invitations');
    const close = async () => {
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };
    await chooseOf(page, 'Auditor', 'Edit Auditor');
    await invites.check();
    await close();
    await chooseOf(page, 'Bookkeeper', 'Edit Bookkeeper');
    expect(await invites.isChecked()).toBe(false);
    await close();

    for (const state of ['entered', 'kept']) {
      await page.getByRole('button', { name: 'Create role' }).click();
      if (state === 'entered') await dialog.getByLabel('Name').fill('Host');
      if (state === 'entered') await invites.check();
      expect([await dialog.getByLabel('Name').inputValue(), await invites.isChecked()], state).toEqual(['Host', true]);
      await close();
    }
  });

  test('lists the members with a role, in a list that opens by the keyboard', async ({ api, open }) => {
    const { ada, team, role, path } = await aTeamWithBookkeeper(api);
    const nameless = await api.anAccount();
    await api.aMember(team, nameless, { role: role.id, active: false });
    const page = await open(path, { as: ada });
    const row = roleOf(page, 'Bookkeeper');
    await row.getByText('2 members').waitFor();
    expect(await page.getByText('Grace Hopper').count()).toBe(0);
    await row.getByText('2 members').focus();
    await page.keyboard.press('Enter');

    await row.getByText('Grace Hopper', { exact: true }).waitFor();
    await row.getByText(`${nameless.email} (not active)`).waitFor();
    expect(await roleOf(page, 'Owner').getByText('1 member').count()).toBe(1);
    await roleOf(page, 'Owner').getByText('Your role').waitFor();
  });

  // Guarantees that every member keeps a role, and that the dialog counts those who get the replacement.
  test('a role is deleted once its holders and invitations have another', async ({ api, open }) => {
    const { ada, grace, team, role, path } = await aTeamWithBookkeeper(api);
    const invitation = await api.anInvitation(team, { role: role.id });
    const page = await open(path, { as: ada });
    await chooseOf(page, 'Bookkeeper', 'Delete Bookkeeper');
    const dialog = page.getByRole('dialog', { name: 'Delete the role “Bookkeeper”?' });
    await dialog.getByText('1 member and 1 pending invitation get the replacement.').waitFor();
    const choice = dialog.getByLabel('Replacement role');
    expect(await choice.locator('option').allInnerTexts()).toEqual(['Choose a role', 'Member', 'Guest']);
    await dialog.getByRole('button', { name: 'Delete role' }).click();
    await dialog.getByText('Choose a role').last().waitFor();
    expect(await choice.getAttribute('aria-invalid')).toBe('true');
    expect(await rolesOf(api, team)).toHaveLength(1);

    await choice.selectOption('Guest');
    await dialog.getByRole('button', { name: 'Delete role' }).click();
    await page.getByText('Role “Bookkeeper” deleted. Its members now have the role “Guest”.').waitFor();
    await roleOf(page, 'Bookkeeper').waitFor({ state: 'detached' });
    await roleOf(page, 'Guest').getByText('1 member').waitFor();
    expect(await membershipOf(api, team, grace)).toMatchObject({ role_id: 'guest' });
    expect(await api.rows('select role_id from invitation where id = $1', [invitation.id])).toEqual([
      { role_id: 'guest' },
    ]);
  });

  test('a role that was deleted concurrently is reported in the dialog, and leaves the list', async ({ api, open }) => {
    const { ada, team, role, path } = await aTeamWithBookkeeper(api);
    const page = await open(path, { as: ada });
    await chooseOf(page, 'Bookkeeper', 'Edit Bookkeeper');
    await (await as(api, ada)).roles.delete.mutate({ teamId: team.id, roleId: role.id, replacementRoleId: 'member' });
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();

    const alert = page.getByRole('dialog').getByRole('alert');
    await alert.getByText('Role not found', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No custom roles yet').waitFor();
    expect(await roleOf(page, 'Bookkeeper').count()).toBe(0);
  });

  // Guarantees that users are offered only actions that the service allows for their role.
  test('a user with fewer permissions can grant only those, and cannot change a role with more', async ({
    api,
    open,
  }) => {
    const { team, path } = await aTeamWithBookkeeper(api);
    const editor = await aPerson(api);
    const editors = await aNamedRole(api, team, 'Editor', ['edit_team_settings', 'access_dashboard']);
    await api.aMember(team, editor, { role: editors.id });
    const page = await open(path, { as: editor });
    await roleOf(page, 'Bookkeeper').getByText('It has permissions that you do not have').waitFor();
    expect(await page.getByRole('button', { name: /Bookkeeper/ }).count()).toBe(0);

    await page.getByRole('button', { name: 'Create role' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('View plan and billing').isDisabled()).toBe(true);
    await dialog.getByText('Not available: you can only grant permissions that you have.').first().waitFor();
    await page.keyboard.press('Escape');

    await chooseOf(page, 'Editor', 'Edit Editor');
    await dialog.getByText('This is your own role').waitFor();
    await dialog.getByLabel('Change the team’s settings and roles').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your role does not allow changing roles.').waitFor();
    expect(await page.getByRole('button', { name: /^(Create|Actions for)/ }).count()).toBe(0);
  });

  test('a permission that was lost concurrently is explained, and the page offers no more', async ({ api, open }) => {
    const { grace, team, role, path } = await aTeamWithBookkeeper(api);
    await api.rows('update role set permissions = $2 where id = $1', [
      role.id,
      ['edit_team_settings', 'access_dashboard'],
    ]);
    const page = await open(path, { as: grace });
    await page.getByRole('button', { name: 'Create role' }).click();
    await api.rows('update role set permissions = $2 where id = $1', [role.id, ['access_dashboard']]);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Mine');
    await dialog.getByRole('button', { name: 'Create role' }).click();
    await dialog.getByRole('alert').getByText('edit_team_settings').waitFor();
    await page.keyboard.press('Escape');

    await page.getByText('Your role does not allow changing roles.').waitFor();
    expect(await page.getByRole('button', { name: 'Create role' }).count()).toBe(0);
    expect(await rolesOf(api, team)).toEqual([{ name: 'Bookkeeper', permissions: ['access_dashboard'] }]);
  });

  test('a guest who opens the page learns that their role does not include roles', async ({ api, open }) => {
    const { team, path } = await aTeamWithBookkeeper(api);
    const guest = await aPerson(api);
    await api.aMember(team, guest);
    const page = await open(path, { as: guest });
    await shows(page, 'You cannot see this page');
    await page.getByText(/requires the permission “View members and roles”/).waitFor();
    expect(
      await page
        .getByRole('alert')
        .getByText(/Request/)
        .count(),
    ).toBe(0);
  });
});

const PRODUCT = [
  {
    name: 'invoices:write',
    title: { en: 'Write invoices', de: 'Rechnungen schreiben' },
    description: { en: 'Create and change invoices.', de: 'Rechnungen anlegen und ändern.' },
    group: { en: 'Invoices', de: 'Rechnungen' },
    roles: ['member' as const],
  },
  { name: 'books:close', title: { en: 'Close the books' }, sensitive: true },
  { name: 'invoices:print', title: { en: 'Print invoices' }, group: { en: 'Invoices' }, deprecated: true },
];

const productOf = async (api: Api, role: { id: string }) =>
  (await api.rows<{ names: string[] }>('select product_permissions as names from role where id = $1', [role.id]))[0]
    ?.names;

describe.skipIf(!hasChromium)('the permissions of the product', () => {
  test('are in one matrix with those of the service, by groups, and a role gets them', async ({ api, open }) => {
    await declarePermissions(api, PRODUCT);
    const { ada, role, path } = await aTeamWithBookkeeper(api);
    const page = await open(path, { as: ada, viewport: { width: 1280, height: 900 } });
    const matrix = page.getByRole('table', { name: 'What each permission allows' });
    const row = (title: string) =>
      matrix.getByRole('row').filter({ has: page.getByRole('rowheader', { name: title }) });
    await row('Write invoices').waitFor();
    expect(await matrix.getByRole('columnheader').allInnerTexts()).toEqual([
      'Permission',
      'Owner',
      'Member',
      'Guest',
      'Bookkeeper',
    ]);
    expect(await row('Write invoices').getByRole('cell').allInnerTexts()).toEqual(['Yes', 'Yes', 'No', 'No']);
    await row('Write invoices').getByText('Create and change invoices.').waitFor();
    await row('Close the books').getByText('Sensitive').waitFor();
    expect(await matrix.getByRole('rowheader', { name: /^(Team administration|Invoices|books)$/ }).count()).toBe(3);
    expect(await matrix.getByText('Print invoices').count()).toBe(0);

    await chooseOf(page, 'Bookkeeper', 'Edit Bookkeeper');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Print invoices').count()).toBe(0);
    await dialog.getByRole('group', { name: 'Invoices' }).getByLabel('Write invoices').check();
    await dialog.getByLabel('Close the books').check();
    await dialog.getByLabel('View plan and billing').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Role “Bookkeeper” changed for all its members.').waitFor();
    expect(await permissionsOf(page, 'Bookkeeper')).toEqual([
      'View members and roles',
      'Close the books',
      'Write invoices',
    ]);
    expect(await productOf(api, role)).toEqual(['books:close', 'invoices:write']);
    await expect
      .poll(() => row('Close the books').getByRole('cell').allInnerTexts())
      .toEqual(['Yes', 'No', 'No', 'Yes']);
  });

  test('that are deprecated are shown while a role holds them, which can only lose them', async ({ api, open }) => {
    await declarePermissions(api, PRODUCT);
    const { ada, role, path } = await aTeamWithBookkeeper(api);
    await api.rows('update role set product_permissions = $2 where id = $1', [role.id, ['invoices:print']]);
    const page = await open(path, { as: ada });
    await page.getByRole('row', { name: /Print invoices Deprecated/ }).waitFor();
    await page.getByRole('button', { name: 'Create role' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Write invoices').waitFor();
    expect(await dialog.getByLabel('Print invoices').count()).toBe(0);
    await page.keyboard.press('Escape');
    await chooseOf(page, 'Bookkeeper', 'Edit Bookkeeper');
    await dialog.getByLabel('Print invoices').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Role “Bookkeeper” changed for all its members.').waitFor();
    await page.getByText('Print invoices').waitFor({ state: 'detached' });
    expect(await productOf(api, role)).toEqual([]);
  });

  test('have the texts of the reader’s language, and are read-only without the right to change roles', async ({
    api,
    open,
  }) => {
    await declarePermissions(api, PRODUCT);
    const { grace, path } = await aTeamWithBookkeeper(api);
    const page = await open(path, { as: grace, locale: 'de-CH' });
    await page.getByRole('rowheader', { name: 'Rechnungen', exact: true }).waitFor();
    const row = page.getByRole('row', { name: /Rechnungen schreiben/ });
    await row.getByText('Rechnungen anlegen und ändern.').waitFor();
    await page.getByRole('row', { name: /Close the books/ }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });

  test('that a member does not hold cannot be given by them', async ({ api, open }) => {
    await declarePermissions(api, PRODUCT);
    const { team, path } = await aTeamWithBookkeeper(api);
    const editor = await aPerson(api);
    const editors = await aNamedRole(api, team, 'Editor', ['edit_team_settings', 'access_dashboard']);
    await api.rows('update role set product_permissions = $2 where id = $1', [editors.id, ['invoices:write']]);
    await api.aMember(team, editor, { role: editors.id });
    const page = await open(path, { as: editor });
    await page.getByRole('button', { name: 'Create role' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Close the books').isDisabled()).toBe(true);
    expect(await dialog.getByLabel('Write invoices').isEnabled()).toBe(true);
  });

  // Guarantees that a product with many permissions is usable on a phone, and without a mouse.
  test('are found by typing among 500, on a narrow screen and by the keyboard', async ({ api, open }) => {
    const many = Array.from({ length: 500 }, (_, i) => ({
      name: `area${Math.floor(i / 25)}:action${i}`,
      title: { en: `Permission number ${i}` },
      group: { en: `Area ${Math.floor(i / 25)}` },
    }));
    await declarePermissions(api, many);
    const { ada, role, path } = await aTeamWithBookkeeper(api);
    const page = await open(path, { as: ada, viewport: { width: 320, height: 640 } });
    const group = page.getByRole('button', { name: 'Area 7' });
    await group.waitFor();
    expect(await page.getByText(/^Permission number/).count()).toBeLessThan(30);
    await group.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Area 7' }).getByText('Permission number 180').waitFor();
    await page.getByRole('searchbox').fill('number 499');
    await page.getByText('1 permission', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'Area 19' }).getByText('Held by Owner').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);

    await chooseOf(page, 'Bookkeeper', 'Edit Bookkeeper');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('searchbox').focus();
    await page.keyboard.type('number 321');
    await dialog.getByText('1 permission', { exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await dialog.getByRole('searchbox').fill('');
    await dialog.getByText('1 of 25 selected').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Role “Bookkeeper” changed for all its members.').waitFor();
    expect(await productOf(api, role)).toEqual(['area12:action321']);
  });
});
