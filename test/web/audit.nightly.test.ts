import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { firstIdAt } from '../../src/entities/index.ts';
import { EVENTS } from '../../src/events/catalogue.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { findViolations } from './axe.ts';
import { aPerson, shows, test } from './console.ts';

const eventsOn = (page: Page) =>
  page
    .getByRole('table', { name: 'Audit log' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') });

const optionsOf = (page: Page, filter: string) => page.getByRole('listbox', { name: filter }).getByRole('option');

describe.skipIf(!hasChromium)('the audit log of a team', () => {
  test('shows sentences, latest first, and can be filtered by kind', async ({ api, open }) => {
    const owner = await aPerson(api);
    await api.rows(`update account set first_name = 'Ada', last_name = 'Lovelace' where id = $1`, [owner.id]);
    const team = await api.aTeam({ owner });
    const { trpc } = await signedIn(api, owner);
    await trpc.roles.create.mutate({ teamId: team.id, name: 'Editors', permissions: [] });
    await trpc.updateTeam.mutate({ teamId: team.id, name: 'Kites' });

    const page = await open(`/teams/${team.id}`, { as: owner });
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Audit log' }).click();
    await shows(page, 'Audit log');
    await expect.poll(() => eventsOn(page).count()).toBe(2);
    expect(await eventsOn(page).first().innerText()).toMatch(/^“Ada Lovelace” renamed the team\s[^]*127\.0\.0\.1/);
    expect(await eventsOn(page).last().innerText()).toContain('“Ada Lovelace” created the role “Editors”');

    await page.getByLabel('Show').selectOption('Roles');
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    await page.getByLabel('Show').selectOption('Invitations');
    await page.getByText('No events of this kind').waitFor();
  });

  test('has a sentence for every event that can name a team', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    await api.rows(`update account set preferred_locale = 'de' where id = $1`, [owner.id]);
    const team = await api.aTeam({ owner });
    const names = Object.entries(EVENTS)
      .filter(([name, { audience }]) => audience === 'team' || /^oauth_(?:grant|token)\./.test(name))
      .map(([name]) => name);
    expect(names.length).toBeGreaterThan(45);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, actor_id, account_id, team_id, address, details)
       select $1 || n, now(), name, 'session', $2, $2, $3, '192.0.2.1', '{}'
       from unnest($4::text[]) with ordinality each (name, n)`,
      [firstIdAt('evt', new Date()).slice(0, -2), owner.id, team.id, names],
    );

    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') });
    await expect.poll(() => rows.count()).toBe(Math.min(names.length, 50));
    const shown = (await rows.allInnerTexts()).join('\n');
    expect(shown).toContain('Zugriff');
    expect(names.filter((name) => shown.includes(name))).toEqual([]);
  });

  test('is filtered by person, address and days, in the URL, grouped by day, and leads to what it names', async ({
    api,
    open,
  }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    await api.rows(`update account set preferred_locale = 'en-GB' where id = $1`, [owner.id]);
    const grace = await api.anAccount({ firstName: 'Grace', lastName: 'Hopper' });
    const team = await api.aTeam({ owner });
    await api.aMember(team, grace, { role: 'member' });
    for (const [at, actor, address] of [
      ['2026-03-01T12:00:00Z', owner.id, '192.0.2.1'],
      ['2026-03-02T00:00:00Z', grace.id, '192.0.2.1'],
      ['2026-03-02T23:59:59Z', owner.id, '192.0.2.2'],
      ['2026-03-03T00:00:00Z', owner.id, '192.0.2.1'],
    ] as const) {
      await api.rows(
        `insert into audit_event (id, occurred_at, event, actor_kind, actor_id, account_id, team_id, address, details)
         values ($1, $2, 'member.deactivated', 'session', $3, $4, $5, $6, '{}')`,
        [firstIdAt('evt', new Date(at)), at, actor, grace.id, team.id, address],
      );
    }
    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    await eventsOn(page).nth(3).waitFor();
    expect(await eventsOn(page).count()).toBe(4);
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      '3 Mar 2026',
      '2 Mar 2026',
      '1 Mar 2026',
    ]);
    await page.getByLabel('From').fill('2026-03-02');
    await page.getByLabel('To', { exact: true }).fill('2026-03-02');
    await expect.poll(() => eventsOn(page).count()).toBe(2);
    expect(await eventsOn(page).first().getByRole('time').allInnerTexts()).toEqual(['23:59']);
    const user = page.getByRole('combobox', { name: 'User' });
    await user.fill('Ada');
    await optionsOf(page, 'User')
      .getByText(/^Ada Lovelace/)
      .click();
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    await page.reload();
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    expect(await page.getByLabel('From').inputValue()).toBe('2026-03-02');
    await expect.poll(() => user.inputValue()).toMatch(/^Ada Lovelace \(.+@/);
    await user.click();
    await optionsOf(page, 'User').getByText('All', { exact: true }).click();
    await expect.poll(() => eventsOn(page).count()).toBe(2);
    expect(new URL(page.url()).searchParams.has('person')).toBe(false);
    await page.getByRole('link', { name: '192.0.2.1' }).click();
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    await page.getByLabel('IP address').fill('=nothing');
    await page.getByText('No events match').waitFor();
    await page.getByLabel('IP address').fill('192.0.2.2');
    await page.getByRole('link', { name: 'Grace Hopper' }).click();
    await shows(page, 'Members');
    await page.getByRole('status').getByText('1 of 2 members').waitFor();
  });

  test('finds a member and a key by typing, with the keyboard alone, and names former ones that the URL has', async ({
    api,
    open,
  }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner });
    const grace = await api.anAccount({ firstName: 'Grace', lastName: 'Hopper', email: 'grace@example.com' });
    const namesake = await api.anAccount({ firstName: 'Grace', lastName: 'Hopper', email: 'namesake@example.com' });
    const former = await api.anAccount({ firstName: 'Alan', lastName: 'Turing' });
    await api.aMember(team, grace, { role: 'member' });
    await api.aMember(team, namesake, { role: 'member' });
    const key = await api.anApiKey(owner, { team });
    const by = async (id: string, kind: string, actorId: string, credentialId: string) => {
      await api.rows(
        `insert into audit_event (id, occurred_at, event, actor_kind, actor_id, credential_id, team_id, details)
         values ($1, now(), 'team.renamed', $2, $3, $4, $5, '{}')`,
        [id, kind, actorId, credentialId, team.id],
      );
    };
    await by('evt_by_grace', 'session', grace.id, 'ses_grace');
    await by('evt_by_namesake', 'session', namesake.id, 'ses_namesake');
    await by('evt_by_former', 'session', former.id, 'ses_former');
    await by('evt_by_key', 'api_key', owner.id, key.id);
    const reads: string[] = [];
    const page = await open('about:blank', { as: owner });
    page.on('request', (request) => reads.push(request.url()));
    await page.goto(`/teams/${team.id}/audit`);
    await eventsOn(page).nth(3).waitFor();
    expect(reads.filter((url) => /members\.list|apiKeys\.list/.test(url))).toEqual([]);

    const user = page.getByRole('combobox', { name: 'User' });
    await page.getByLabel('Show').focus();
    await page.keyboard.press('Tab');
    await user.and(page.locator(':focus')).waitFor();
    expect(await optionsOf(page, 'User').count()).toBe(0);
    await page.keyboard.type('nobody');
    await optionsOf(page, 'User').getByText('Nothing found').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('hopper');
    await expect
      .poll(() => optionsOf(page, 'User').allInnerTexts())
      .toEqual(['Grace Hopper (grace@example.com)', 'Grace Hopper (namesake@example.com)']);
    const highlighted = (filter: string) => optionsOf(page, filter).and(page.locator('[data-combobox-selected]'));
    await expect.poll(() => highlighted('User').allInnerTexts()).toEqual(['Grace Hopper (grace@example.com)']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('person')).toBe(namesake.id);
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    expect(await user.inputValue()).toBe('Grace Hopper (namesake@example.com)');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('ada');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await user.inputValue()).toBe('Grace Hopper (namesake@example.com)');

    await page.goto(`/teams/${team.id}/audit?person=${former.id}`);
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    await expect.poll(() => user.inputValue()).toBe('Alan Turing');
    await user.click();
    await optionsOf(page, 'User').getByText('All', { exact: true }).click();
    await expect.poll(() => eventsOn(page).count()).toBe(4);

    await page.getByRole('combobox', { name: 'API key' }).fill('a key');
    await optionsOf(page, 'API key')
      .getByText(/^A key/)
      .waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('key')).toBe(key.id);
    await expect.poll(() => eventsOn(page).count()).toBe(1);
    await page.reload();
    await expect.poll(() => eventsOn(page).count()).toBe(1);
  });

  test('has the oldest events first when its time is clicked, on every page and after a reload, and hides columns', async ({
    api,
    open,
  }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, request_id, details)
       select 'evt_order_' || lpad(n::text, 4, '0'), now() - (61 - n) * interval '1 minute', 'team.renamed', 'system', $1,
         'request-' || n, '{}'
       from generate_series(1, 60) n`,
      [team.id],
    );
    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    await eventsOn(page).first().waitFor();
    const request = page.getByRole('columnheader', { name: 'Request ID', exact: true });
    expect(await request.count()).toBe(0);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Request ID', exact: true }).check();
    await request.waitFor();
    await page.keyboard.press('Escape');
    await page.reload();
    const time = page.getByRole('columnheader', { name: 'Time' });
    await eventsOn(page).first().getByText('request-60').waitFor();
    expect(await time.getAttribute('aria-sort')).toBe('descending');
    await time.getByRole('button').click();
    await eventsOn(page).first().getByText('request-1', { exact: true }).waitFor();
    expect(await time.getAttribute('aria-sort')).toBe('ascending');
    await page.getByRole('button', { name: 'Newer' }).click();
    await eventsOn(page).first().getByText('request-51').waitFor();
    expect(await eventsOn(page).count()).toBe(10);
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);

    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Request ID', exact: true }).uncheck();
    await page.getByRole('checkbox', { name: 'IP address' }).uncheck();
    await page.reload();
    await expect.poll(() => eventsOn(page).count()).toBe(50);
    expect(await time.getAttribute('aria-sort')).toBe('ascending');
    expect(await request.count()).toBe(0);
    expect(await page.getByRole('columnheader', { name: 'IP address' }).count()).toBe(0);
  });

  test('names the id of an invitation that was revoked, and not whom it invited', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner });
    const { id } = await api.anInvitation(team, { email: 'grace@example.com' });
    const { trpc } = await signedIn(api, owner);
    await trpc.revokeTeamInvitation.mutate({ teamId: team.id, invitationId: id });
    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    const event = eventsOn(page).filter({ hasText: '“Ada Lovelace” revoked the invitation of someone' });
    await event.getByText(`The invitation no longer exists: ${id}`).waitFor();
    expect(await event.getByRole('link', { name: 'Ada Lovelace' }).count()).toBe(1);
    expect(await page.getByText('grace@example.com').count()).toBe(0);
  });

  test('counts new events while it is open, and shows them when asked', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner });
    const { trpc } = await signedIn(api, owner);
    await trpc.updateTeam.mutate({ teamId: team.id, name: 'Kites' });
    const page = await open('about:blank', { as: owner });
    await page.clock.install();
    await page.goto(`/teams/${team.id}/audit`);
    await eventsOn(page).first().waitFor();
    expect(await eventsOn(page).count()).toBe(1);
    await trpc.updateTeam.mutate({ teamId: team.id, name: 'Balloons' });
    await trpc.updateTeam.mutate({ teamId: team.id, name: 'Gliders' });
    await page.clock.fastForward(16_000);
    const show = page.getByRole('button', { name: 'Show 2 new events' });
    await show.waitFor();
    expect(await eventsOn(page).count()).toBe(1);
    await show.click();
    expect(await eventsOn(page).count()).toBe(3);
    await show.waitFor({ state: 'detached' });
  });

  test('keeps the names of roles and keys that no longer exist, and the ids of accounts', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner });
    const { trpc } = await signedIn(api, owner);
    const { roleId: id } = await trpc.roles.create.mutate({ teamId: team.id, name: 'Editors', permissions: [] });
    await trpc.roles.update.mutate({ teamId: team.id, roleId: id, name: 'Copy editors' });
    const max = await api.anAccount({ firstName: 'Max', lastName: 'Member' });
    await api.aMember(team, max, { role: 'guest' });
    await trpc.members.setRole.mutate({ teamId: team.id, userId: max.id, roleId: id });
    const { key } = await trpc.createApiKey.mutate({ name: 'Deploy', scopes: ['teams:read'], teamId: team.id });
    await trpc.apiKeys.revokeInTeam.mutate({ teamId: team.id, keyId: key.id });
    await trpc.roles.delete.mutate({ teamId: team.id, roleId: id, replacementRoleId: 'member' });
    await api.rows('delete from api_key where id = $1', [key.id]);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, actor_id, account_id, team_id, details)
       values ('evt_zzz', now(), 'member.added', 'session', 'acc_former', 'acc_deleted', $1, '{}')`,
      [team.id],
    );

    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    const events = eventsOn(page);
    await events.nth(6).waitFor();
    expect(await events.nth(0).innerText()).toContain('acc_former (deleted) added acc_deleted (deleted)');
    expect(await events.nth(1).innerText()).toContain('“Ada Lovelace” deleted the role “Copy editors”');
    expect(await events.nth(2).innerText()).toContain('“Ada Lovelace” revoked the API key “Deploy”');
    expect(await events.nth(3).innerText()).toContain('“Ada Lovelace” created the API key “Deploy”');
    expect(await events.nth(4).innerText()).toContain('“Ada Lovelace” gave “Max Member” the role “Copy editors”');
    expect(await events.nth(5).innerText()).toContain('“Ada Lovelace” changed the role “Copy editors”');
    expect(await events.nth(6).innerText()).toContain('“Ada Lovelace” created the role “Editors”');
  });

  test('has pages of fifty, with the keyboard too', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, details)
       select 'evt_web_' || lpad(n::text, 4, '0'), now(), 'team.renamed', 'system', $1, '{}' from generate_series(1, 60) n`,
      [team.id],
    );
    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    await eventsOn(page).nth(49).waitFor();
    expect(await eventsOn(page).count()).toBe(50);
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);

    await page.getByRole('button', { name: 'Older' }).press('Enter');
    await expect.poll(() => eventsOn(page).count()).toBe(10);
    expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Newer' }).press('Enter');
    await expect.poll(() => eventsOn(page).count()).toBe(50);
  });

  test('is saved as a file, all of it, and no cell is a formula', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, request_id, details)
       select 'evt_file_' || lpad(n::text, 4, '0'), now(), 'team.renamed', 'system', $1, '=1+' || n,
         jsonb_build_object('clientRequestId', '=2+' || n)
       from generate_series(1, 510) n`,
      [team.id],
    );
    const page = await open(`/teams/${team.id}/audit`, { as: owner });
    const save = async (name: string) => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return [file.suggestedFilename(), await readFile(await file.path(), 'utf8')] as const;
    };

    const [name, csv] = await save('Download CSV');
    expect(name).toBe('audit-log.csv');
    expect(csv.trimEnd().split('\r\n')).toHaveLength(511);
    expect(csv).toMatch(
      /^\ufeffid,occurredAt,event,.*\r\nevt_file_0510,.*,team\.renamed,system,,,,,,,,,'=1\+510,,1,'=2\+510\r\n/,
    );
    const [, ndjson] = await save('Download NDJSON');
    const lines = ndjson
      .trimEnd()
      .split('\n')
      .map((line): { id: string } => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toContain('evt_file_0001');
  });

  test('is not offered to whom it is not shown', async ({ api, open }) => {
    const member = await aPerson(api);
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(team, member, { role: 'member' });

    const page = await open(`/teams/${team.id}/audit`, { as: member });
    await page.getByText('You cannot see this page').waitFor();
    const links = page.getByRole('navigation', { name: 'Team' }).getByRole('link');
    expect(await links.allInnerTexts()).not.toContain('Audit log');
  });
});
