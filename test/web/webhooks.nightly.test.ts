import { describe, expect, onTestFinished } from 'vitest';
import type { Permission } from '../../src/entities/index.ts';
import { hasChromium } from '../support/chromium.ts';
import { as } from '../trpc/console.ts';
import { aReceiver, dispatch, eventually, numberEvents } from '../webhooks/receiver.ts';
import { aPerson, chooseOf, shows, test } from './console.ts';
import { looksWell } from './scenes/looks.ts';
import { webhooks } from './scenes/webhooks.ts';

describe.skipIf(!hasChromium)('the webhooks of a team', () => {
  test('are created with a secret shown once, tested, paused, replayed, rotated and deleted', async ({ api, open }) => {
    let isUp = false;
    const receiver = await aReceiver((_req, res) => res.writeHead(isUp ? 200 : 500).end(isUp ? 'thanks' : 'sorry'));
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    const dispatcher = dispatch(api);
    onTestFinished(() => dispatcher.stop());
    const page = await open(`/teams/${team.id}`, { as: owner });
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Webhooks' }).click();
    await shows(page, 'Webhooks');

    await page.getByRole('button', { name: 'Create endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('ftp://example.com');
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    await expect.poll(() => dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Selected events').check();
    await dialog.getByLabel('team.updated', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    await dialog.getByText(/whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('list', { name: 'Endpoints' }).getByRole('listitem');
    await row.getByText('1 type of events').waitFor();
    expect(await page.content()).not.toContain('whsec_');

    await chooseOf(page, /^Actions for/, /^Edit/);
    await dialog.getByLabel('team.renamed', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('2 types of events').waitFor();
    await chooseOf(page, /^Actions for/, /^Send test/);
    await page.getByText('Test event sent.').waitFor();
    await numberEvents(api);
    await eventually(() => expect(receiver.received.map(({ json }) => json.type)).toEqual(['webhook.test']));

    await row.getByRole('link', { name: /^Deliveries/ }).click();
    await shows(page, 'Deliveries');
    const delivery = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first();
    await delivery.getByText('Failed', { exact: true }).waitFor();
    await delivery.getByText('1 attempt').click();
    await delivery.getByText('sorry').waitFor();
    isUp = true;
    await delivery.getByRole('button', { name: /^Replay webhook.test/ }).click();
    await page.getByText('The delivery is sent again.').waitFor();
    await numberEvents(api);
    await delivery.getByText('Delivered', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Replay failed' }).click();
    await dialog.getByLabel('Since').selectOption('The last 7 days');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('0 deliveries are sent again.').waitFor();

    await page.getByRole('link', { name: 'Back to all endpoints' }).click();
    await chooseOf(page, /^Actions for/, /^Pause/);
    await row.getByText('Paused', { exact: true }).waitFor();
    await chooseOf(page, /^Actions for/, /^Resume/);
    await row.getByText('Active', { exact: true }).waitFor();
    await chooseOf(page, /^Actions for/, /^Rotate/);
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    await dialog.getByText(/whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row.getByText(/^The previous secret also signs until/).waitFor();
    await chooseOf(page, /^Actions for/, /^Delete/);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhook endpoints yet').waitFor();
  });

  test('get all events only from who may see them all: others are told why, and nothing is chosen for them', async ({
    api,
    open,
  }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    const editor = await aPerson(api);
    const held: Permission[] = ['access_dashboard', 'edit_team_settings'];
    await api.aMember(team, editor, { role: (await api.aRole(team, held)).id });
    const { webhooks: owners } = await as(api, owner);
    await owners.create.mutate({ teamId: team.id, url: 'https://receiver.example/hook', types: [] });
    const page = await open(`/teams/${team.id}/webhooks`, { as: editor });
    const dialog = page.getByRole('dialog');
    const all = dialog.getByRole('radio', { name: 'All events, also future ones' });
    const some = dialog.getByRole('radio', { name: 'Selected events' });
    const reason = dialog.getByText('Your role does not let you see all events. Select events instead.');

    await chooseOf(page, /^Actions for/, /^Edit/);
    await reason.waitFor();
    expect([await all.isChecked(), await all.isDisabled()]).toEqual([true, true]);
    const save = dialog.getByRole('button', { name: 'Save' });
    await dialog.getByLabel('URL').fill('https://elsewhere.example/hook');
    expect(await save.isDisabled()).toBe(true);
    await some.check();
    await dialog.getByLabel('team.updated', { exact: true }).check();
    await save.click();
    const row = page.getByRole('list', { name: 'Endpoints' }).getByRole('listitem');
    await row.getByText('1 type of events').waitFor();

    await page.getByRole('button', { name: 'Create endpoint' }).click();
    await reason.waitFor();
    expect([await some.isChecked(), await all.isDisabled()]).toEqual([true, true]);
    expect(await dialog.getByLabel('invitation.created', { exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel('URL').fill('https://other.example/hook');
    const create = dialog.getByRole('button', { name: 'Create endpoint' });
    expect(await create.isDisabled()).toBe(true);
    await dialog.getByLabel('team.renamed', { exact: true }).check();
    await create.click();
    await dialog.getByText(/whsec_/).waitFor();
    expect(
      await api.rows('select url, types from webhook_endpoint where team_id = $1 order by url', [team.id]),
    ).toEqual([
      { url: 'https://elsewhere.example/hook', types: ['team.updated'] },
      { url: 'https://other.example/hook', types: ['team.renamed'] },
    ]);

    const ownersPage = await open(`/teams/${team.id}/webhooks`, { as: owner });
    await ownersPage.getByRole('button', { name: 'Create endpoint' }).click();
    await ownersPage.getByRole('dialog').getByLabel('Selected events').check();
    await ownersPage.getByRole('dialog').getByLabel('All events, also future ones').check();
    expect(await ownersPage.getByText('Your role does not let you see all events.').count()).toBe(0);
  });

  test('are not offered to members who cannot change the team', async ({ api, open }) => {
    const team = await api.aTeam();
    const member = await aPerson(api);
    await api.aMember(team, member);
    const page = await open(`/teams/${team.id}`, { as: member });
    await page.getByRole('navigation', { name: 'Team' }).waitFor();
    expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
  });
});

describe.skipIf(!hasChromium)('the webhooks of the installation', () => {
  test('are managed in the operator’s area, and nowhere else', async ({ api, open }) => {
    const operator = await aPerson(api);
    await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
    const page = await open('/operator', { as: operator });
    await page.getByRole('link', { name: 'Webhooks of the installation' }).click();
    await shows(page, 'Webhooks of the installation');
    await page.getByRole('button', { name: 'Create endpoint' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('https://example.com/operator');
    await dialog.getByLabel('Selected events').check();
    await dialog.getByLabel('account.created', { exact: true }).check();
    await dialog.getByLabel('Signature').selectOption('Public key (v1a, Ed25519)');
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    await dialog.getByText(/whpk_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'https://example.com/operator' }).waitFor();

    const other = await open('/operator/webhooks', { as: await aPerson(api) });
    await shows(other, /for operators$/);
  });
});

looksWell(webhooks);
