import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { membershipOf } from '../trpc/console.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';

async function aTeamOfAda(api: Api, name = 'Analytical Engine') {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner: ada, name });
  return { ada, team, path: `/teams/${team.id}/settings` };
}

const rowOf = async (api: Api, team: { id: string }) =>
  (
    await api.rows<{ name: string; description: string | null; avatar_url: string | null }>(
      'select name, description, avatar_url from team where id = $1',
      [team.id],
    )
  )[0];

const general = (page: Page) => page.getByRole('region', { name: 'General' });

describe.skipIf(!hasChromium)('the settings of a team', () => {
  test('a new name is shown immediately, here and in the list of teams', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfAda(api);
    const page = await open(path, { as: ada });
    await page.getByText('Analytical Engine', { exact: true }).waitFor();
    const name = page.getByLabel('Team name');
    await name.fill('  ');
    const save = general(page).getByRole('button', { name: 'Save' });
    await save.click();
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true');
    expect(await rowOf(api, team)).toMatchObject({ name: 'Analytical Engine' });

    await name.fill('Difference Engine');
    await page.keyboard.press('Enter');
    await page.getByText('Settings saved.').waitFor();
    await page.getByText('Difference Engine', { exact: true }).waitFor();
    expect(await rowOf(api, team)).toMatchObject({ name: 'Difference Engine' });
    await page.getByRole('link', { name: 'Teams', exact: true }).click();
    await page.getByRole('link', { name: 'Difference Engine' }).waitFor();
  });

  test('a description is set and removed', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfAda(api);
    const page = await open(path, { as: ada });
    const section = general(page);
    await section.getByLabel('Description').fill('Where numbers are woven.');
    await section.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved.').waitFor();
    expect(await rowOf(api, team)).toMatchObject({ description: 'Where numbers are woven.', avatar_url: null });
    await section.getByLabel('Description').fill('');
    await section.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => rowOf(api, team)).toMatchObject({ description: null });
  });

  test('what was changed and not saved is not lost without a word', async ({ api, open }) => {
    const { ada, path } = await aTeamOfAda(api);
    const page = await open(path, { as: ada });
    const name = page.getByLabel('Team name');
    const teams = page.getByRole('link', { name: 'Teams', exact: true });
    const asked = page.getByRole('dialog', { name: 'Leave without saving?' });
    await name.fill('Difference Engine');

    await teams.click();
    await asked.getByRole('button', { name: 'Cancel' }).click();
    expect(await name.inputValue()).toBe('Difference Engine');
    const stayed = page.waitForEvent('dialog').then(async (dialog) => {
      await dialog.dismiss();
      return dialog.type();
    });
    await page.evaluate("location.assign('/')");
    expect(await stayed).toBe('beforeunload');

    await general(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved.').waitFor();
    await teams.click();
    await page.getByRole('heading', { name: 'Your teams' }).waitFor();
    expect(await asked.count()).toBe(0);
  });

  test('what is left on purpose is left', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfAda(api);
    const page = await open(path, { as: ada });
    await page.getByLabel('Team name').fill('Difference Engine');
    await page.getByRole('link', { name: 'Teams', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Your teams' }).waitFor();
    expect(await rowOf(api, team)).toMatchObject({ name: 'Analytical Engine' });
  });

  test('a name that was typed to delete a team is not there when the dialog is opened again', async ({ api, open }) => {
    const { ada, path } = await aTeamOfAda(api);
    const page = await open(path, { as: ada });
    const opener = page.getByRole('button', { name: 'Delete team…' });
    const typed = page.getByRole('dialog').getByRole('textbox');
    await opener.click();
    await typed.fill('Analytical Engine');
    await page.keyboard.press('Escape');
    await opener.click();
    expect(await typed.inputValue()).toBe('');
  });

  // Guarantees that what one button saves is saved as a whole, and that the audit log names only what has changed.
  test('one button saves the name and the description, both or neither', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfAda(api);
    const page = await open(path, { as: ada });
    const save = page.getByRole('button', { name: 'Save' });
    await page.getByLabel('Team name').fill('Difference Engine');
    await page.getByLabel('Description').fill('x'.repeat(1001));
    expect(await save.count()).toBe(1);
    await save.click();
    await expect.poll(() => page.getByLabel('Description').getAttribute('aria-invalid')).toBe('true');
    expect(await rowOf(api, team)).toMatchObject({ name: 'Analytical Engine', description: null });

    await page.getByLabel('Description').fill('Where numbers are woven.');
    await save.click();
    await page.getByText('Settings saved.').waitFor();
    expect(await rowOf(api, team)).toMatchObject({
      name: 'Difference Engine',
      description: 'Where numbers are woven.',
    });
    const events = await api.rows<{ event: string; details: object }>(
      `select event, details from audit_event where team_id = $1 and event in ('team.renamed', 'team.updated') order by event`,
      [team.id],
    );
    expect(events).toMatchObject([
      { event: 'team.renamed' },
      { event: 'team.updated', details: { changed: ['description'] } },
    ]);
  });

  test('users who cannot change the settings can read them', async ({ api, open }) => {
    const { team, path } = await aTeamOfAda(api);
    const member = await aPerson(api);
    await api.aMember(team, member, { role: 'member' });
    const page = await open(path, { as: member });
    await page.getByText('Your role cannot change these settings.').waitFor();
    await page.getByText(team.id).first().waitFor();

    expect(await page.getByRole('textbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: /Save|Delete the team/ }).count()).toBe(0);
  });

  test('a permission that was lost concurrently is explained, and the page offers no more', async ({ api, open }) => {
    const { team, path } = await aTeamOfAda(api);
    const editor = await aPerson(api);
    const role = await api.aRole(team, ['edit_team_settings']);
    await api.aMember(team, editor, { role: role.id });
    const page = await open(path, { as: editor });
    const name = page.getByLabel('Team name');
    await name.fill('Mine');
    await api.rows(`update role set permissions = '{}' where id = $1`, [role.id]);
    await page.keyboard.press('Enter');

    const alert = general(page).getByRole('alert');
    await alert.getByText('edit_team_settings').waitFor();
    await name.waitFor({ state: 'detached' });
    expect(await rowOf(api, team)).toMatchObject({ name: 'Analytical Engine' });
  });
});

describe.skipIf(!hasChromium)('deleting a team', () => {
  // Guarantees that a team is not deleted by a slip.
  test('takes its name to be typed, and leads home', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfAda(api, 'Analytical  Engine');
    const key = await api.anApiKey(ada, { team });
    const page = await open(path, { as: ada });
    const openDialog = page.getByRole('button', { name: 'Delete team…' });
    await openDialog.click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Delete team' });
    const field = dialog.getByLabel('Type the team’s name to confirm');
    expect(await submit.isDisabled()).toBe(true);
    await field.fill('analytical engine');
    expect(await submit.isDisabled()).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await openDialog.and(page.locator(':focus')).waitFor();
    expect(await rowOf(api, team)).toBeDefined();

    await openDialog.click();
    expect(await field.inputValue()).toBe('');
    await field.fill('Analytical Engine');
    await page.keyboard.press('Enter');
    await shows(page, 'Your teams');
    await page.getByText(/^Team “Analytical\s+Engine” deleted\.$/).waitFor();
    await page.getByText('You are not in a team yet').waitFor();
    expect(await rowOf(api, team)).toBeUndefined();
    expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');

    await page.goBack();
    await shows(page, 'You cannot see this team');
  });

  test('is denied to a former owner, and not offered again', async ({ api, open }) => {
    const { ada, team, path } = await aTeamOfAda(api);
    const max = await aPerson(api);
    await api.aMember(team, max, { role: 'member' });
    const page = await open(path, { as: ada });
    await page.getByRole('button', { name: 'Delete team…' }).click();
    await api.rows(`update membership set role_id = 'member' where team_id = $1 and account_id = $2`, [
      team.id,
      ada.id,
    ]);
    await api.rows(`update membership set role_id = 'owner' where team_id = $1 and account_id = $2`, [team.id, max.id]);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type the team’s name to confirm').fill('Analytical Engine');
    await dialog.getByRole('button', { name: 'Delete team' }).click();

    await dialog.getByRole('alert').waitFor();
    expect(await rowOf(api, team)).toBeDefined();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Leave team…' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete team…' }).count()).toBe(0);
  });
});

describe.skipIf(!hasChromium)('leaving a team from its settings', () => {
  test('asks first, and leads home', async ({ api, open }) => {
    const { team, path } = await aTeamOfAda(api);
    const max = await aPerson(api);
    await api.aMember(team, max);
    const page = await open(path, { as: max });
    await page.getByRole('button', { name: 'Leave team…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave “Analytical Engine”?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await membershipOf(api, team, max)).toBeDefined();

    await page.getByRole('button', { name: 'Leave team…' }).click();
    await dialog.getByRole('button', { name: 'Leave team', exact: true }).click();
    await shows(page, 'Your teams');
    await page.getByText('You left “Analytical Engine”.').waitFor();
    expect(await membershipOf(api, team, max)).toBeUndefined();
  });
});
