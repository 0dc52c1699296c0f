import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { PERMISSIONS } from '../../src/entities/index.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { findViolations } from './axe.ts';
import { aPerson, shows, test } from './console.ts';

const cards = (page: Page) => page.locator('.overview-cards').getByRole('listitem');
const card = (page: Page, name: string) => cards(page).filter({ has: page.getByText(name, { exact: true }) });

/** Opens a team as somebody with a role; the team has a seat for others. */
async function openedAs(
  api: Api,
  open: (path: string, options: { as: { id: string } }) => Promise<Page>,
  role: string,
) {
  const team = await api.aTeam({ owner: await api.anAccount(), name: 'Analytical Engine' });
  const person = await aPerson(api);
  await api.aMember(team, person, { role });
  const page = await open(`/teams/${team.id}`, { as: person });
  await card(page, 'Seats').waitFor();
  return { team, page };
}

describe.skipIf(!hasChromium)('the overview of a team', () => {
  test('has its numbers, each leading to its page', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    await api.aSubscription(team, { seats: 3 });
    await api.aMember(team, await api.anAccount());
    await api.anInvitation(team);
    await api.anApiKey(ada, { team });
    await api.anApiKey(ada, { team });
    await api.rows('update team set description = $2 where id = $1', [team.id, 'Where numbers are woven.']);
    const page = await open(`/teams/${team.id}`, { as: ada });
    await page.getByText('Where numbers are woven.').waitFor();
    await card(page, 'Seats').getByText('3 of 53 used').waitFor();

    const places = [
      ['Members', '2', 'members'],
      ['Invitations', '1', 'invitations'],
      ['API keys', '2', 'api-keys'],
      ['Seats', 'Plan: Pro', 'billing'],
    ] as const;
    expect(await cards(page).count()).toBe(places.length);
    expect(await page.getByRole('region', { name: 'First steps' }).count()).toBe(0);
    for (const [name, value, place] of places) {
      expect((await card(page, name).innerText()).split('\n')).toContain(value);
      // Anywhere on the card, not only on its words.
      await card(page, name).click({ position: { x: 8, y: 8 } });
      await page.waitForURL(`**/teams/${team.slug}/${place}`);
      await page.getByRole('link', { name: 'Overview' }).click();
      await card(page, name).waitFor();
    }
  });

  // Guarantees that a number is shown only to users who can see what it counts.
  test('shows what the role of the reader allows', async ({ api, open }) => {
    const names = async (page: Page) => (await cards(page).allInnerTexts()).map((text) => text.split('\n')[0]);
    const { page: guests } = await openedAs(api, open, 'guest');
    await guests.getByText('Your role has limited access').waitFor();
    expect(await names(guests)).toEqual(['Seats']);
    expect(await card(guests, 'Seats').getByRole('link').count()).toBe(0);

    const { page: members } = await openedAs(api, open, 'member');
    expect(await names(members)).toEqual(['Members', 'Seats']);
    expect(await members.getByText('Your role has limited access').count()).toBe(0);
  });

  test('shows the requests of all keys of the team by day, as a plot and a table', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const keys = [await api.anApiKey(ada, { team }), await api.anApiKey(ada, { team, revoked: true })];
    const [foreign, personal] = [
      await api.anApiKey(ada, { team: await api.aTeam({ owner: ada }) }),
      await api.anApiKey(ada),
    ];
    await api.rows(
      `insert into api_key_use (api_key_id, day, requests)
       select id, current_date - ago, requests
       from unnest($1::text[], $2::int[], $3::int[]) as used (id, ago, requests)`,
      [
        [keys[0]?.id, keys[0]?.id, keys[1]?.id, keys[0]?.id, foreign.id, personal.id],
        [0, 3, 3, 60, 0, 0],
        [1200, 30, 4, 9, 50, 60],
      ],
    );
    // West of Greenwich, where the days of UTC begin on the day before.
    const page = await open(`/teams/${team.id}`, { as: ada, timezoneId: 'America/Los_Angeles' });
    const requests = page.getByRole('region', { name: 'Requests' });
    await requests.getByText('1,234 requests in 30 days').waitFor();
    await requests.getByText('At most 1,200 a day').waitFor();
    expect(await requests.locator('.day-ticks span').allInnerTexts()).toEqual(['0', '500', '1,000', '1,500']);
    expect(await requests.getByRole('table').getByRole('cell').allInnerTexts()).toEqual(['34', '1,200']);
    const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
    const today = await page.evaluate(() => Date.now());
    expect(await requests.getByRole('table').getByRole('rowheader').allInnerTexts()).toEqual([
      utc.format(today - 3 * 86_400_000),
      utc.format(today),
    ]);
    const growth = page.getByRole('region', { name: 'Members over time' });
    await growth.getByText('1 member', { exact: true }).waitFor();
    expect(await growth.getByRole('table', { name: 'Members by day (UTC)' }).getByRole('cell').allInnerTexts()).toEqual(
      ['1'],
    );
    expect(await findViolations(page)).toEqual([]);

    await api.rows('delete from api_key_use where api_key_id = any($1)', [keys.map(({ id }) => id)]);
    await page.reload();
    await requests.getByText('No requests in 30 days').waitFor();
    expect(await requests.innerText()).not.toContain('At most');
  });

  test('shows the newest events to who may see the audit log, and leads there', async ({ api, open }) => {
    const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner: ada });
    const { trpc } = await signedIn(api, ada);
    for (let index = 1; index <= 6; index += 1)
      await trpc.roles.create.mutate({ teamId: team.id, name: `Role ${index}`, permissions: [] });
    const page = await open(`/teams/${team.id}`, { as: ada });
    const activity = page.getByRole('region', { name: 'Recent activity' });
    await activity.getByText('Role 6').waitFor();
    expect(await activity.getByRole('listitem').count()).toBe(5);
    expect(await activity.getByText('Role 1').count()).toBe(0);
    await activity.getByRole('link', { name: 'Go to the audit log' }).click();
    await shows(page, 'Audit log');

    const { page: theirs } = await openedAs(api, open, 'member');
    await theirs.getByRole('region', { name: 'Members over time' }).getByRole('table').waitFor({ state: 'attached' });
    expect(await theirs.getByRole('region', { name: 'Recent activity' }).count()).toBe(0);
  });

  // Guarantees that the page asks for requests only where it may show them.
  test('shows no requests to roles that cannot see keys, nor of a team without keys', async ({ api, open }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.anApiKey(await api.anAccount(), { team });
    const member = await aPerson(api);
    await api.aMember(team, member, { role: 'member' });
    const ada = await aPerson(api);
    const keyless = await api.aTeam({ owner: ada });
    for (const [person, path, calls] of [
      [member, `/teams/${team.id}`, 0],
      [ada, `/teams/${keyless.id}`, 1],
    ] as const) {
      const page = await open('about:blank', { as: person });
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('apiKeys.usageOfTeam')) asked.push(request.url());
      });
      await page.goto(path);
      await card(page, 'Seats').waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.getByRole('region', { name: 'Requests' }).count()).toBe(0);
      expect(asked).toHaveLength(calls);
    }
  });

  test('warns of few seats and of keys that end within 14 days, whoever can do something about it', async ({
    api,
    open,
  }) => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const member = await aPerson(api);
    await api.aMember(team, member, { role: 'member' });
    await api.aMember(team, await api.anAccount());
    await api.anApiKey(ada, { team, expiresAt: inDays(15) });
    await api.anApiKey(ada, { team, expiresAt: inDays(-1) });
    const page = await open(`/teams/${team.id}`, { as: ada });
    await card(page, 'Seats').getByText('3 of 5 used').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);

    await api.anInvitation(team);
    await api.anApiKey(ada, { team, expiresAt: inDays(13) });
    await page.reload();
    await page.getByRole('alert').getByText('1 seat is left').waitFor();
    await page.getByRole('alert').getByText('1 key expires soon').waitFor();
    const theirs = await open(`/teams/${team.id}`, { as: member });
    await card(theirs, 'Seats').getByText('4 of 5 used').waitFor();
    expect(await theirs.getByRole('alert').count()).toBe(0);

    await api.aSubscription(team, { seats: 3 });
    await page.getByRole('alert').getByRole('link', { name: 'Go to API keys' }).click();
    await shows(page, 'Team API keys');
    await page.getByRole('status').getByText('1 of 3 keys').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await card(page, 'Seats').getByText('4 of 53 used').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
  });

  test('says by how many seats a team is over its plan', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    for (let i = 0; i < 6; i += 1) await api.aMember(team, await api.anAccount(), { role: 'member' });
    const page = await open(`/teams/${team.id}`, { as: owner });
    await page.getByText('7 of 5 used').waitFor();
    await page.getByText('2 seats more are used than the plan has.').waitFor();
  });

  test('begins with the first steps, until they are done or another member has joined', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open(`/teams/${team.id}`, { as: ada });
    const steps = page.getByRole('region', { name: 'First steps' });
    const step = (name: string) => steps.getByRole('listitem').filter({ hasText: name });
    await steps.getByText(`$KEY" ${api.services.config.baseUrl}/api/v1/teams/${team.id}`).waitFor();
    await steps.getByText('1 of 3 done').waitFor();

    await step('Invite people').getByRole('link').click();
    await shows(page, 'Invitations');
    await page.getByRole('dialog').getByLabel('Email addresses').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await api.anInvitation(team);
    await page.getByRole('link', { name: 'Overview' }).click();
    await steps.getByText('2 of 3 done').waitFor();
    await step('Invite people').getByText('Done').waitFor();
    expect(await step('Create an API key').getByText('Done').count()).toBe(0);

    await step('Create an API key').getByRole('link').click();
    await shows(page, 'Team API keys');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await api.anApiKey(ada, { team });
    await page.getByRole('link', { name: 'Overview' }).click();
    await steps.waitFor({ state: 'detached' });
  });

  test('the first steps are hidden for good by one button, of this team alone', async ({ api, open }) => {
    const ada = await aPerson(api);
    const [team, other] = [await api.aTeam({ owner: ada }), await api.aTeam({ owner: ada })];
    const page = await open(`/teams/${team.id}`, { as: ada });
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByRole('button', { name: 'Hide first steps' }).press('Enter');
    await page.getByRole('status').getByText('First steps hidden.').waitFor();
    expect(await steps.count()).toBe(0);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.reload();
    await card(page, 'Seats').waitFor();
    expect(await steps.count()).toBe(0);
    await page.goto(`/teams/${other.id}`);
    await steps.waitFor();
  });

  // Guarantees that the command that the page shows works.
  test('the command of the first steps reads the team', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open(`/teams/${team.id}`, { as: ada });
    const command = await page.getByRole('region', { name: 'First steps' }).locator('code').innerText();
    const path = new URL(command.split(' ').at(-1) ?? '').pathname;
    const key = await api.anApiKey(ada, { team, scopes: ['teams:read'] });

    expect(command).toBe(`curl -H "Authorization: Bearer $KEY" ${api.services.config.baseUrl}${path}`);
    const answer = await fetch(`http://127.0.0.1:${api.port}${path}`, {
      headers: { authorization: `Bearer ${key.secret}` },
    });
    expect(await answer.json()).toMatchObject({ id: team.id });
  });

  test('numbers that cannot be loaded show an error, and are loaded again on demand', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open('/', { as: ada });
    // Answered like a call without a network, whose line in the browser's console is not the page's.
    await page.route(/teams\.overview/, (route) => route.fulfill({ status: 404, body: 'no service here' }));
    await page.goto(`/teams/${team.id}`);
    await page.getByText('The service could not be reached').waitFor();

    await page.unroute(/teams\.overview/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await card(page, 'Seats').getByText('1 of 5 used').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

test.skipIf(!hasChromium)(
  'many teams are a table that is searched, and sorted as the language of the reader sorts',
  async ({ api, open }) => {
    const ada = await aPerson(api);
    await api.rows(`update account set preferred_locale = 'es' where id = $1`, [ada.id]);
    for (const name of ['Ñu', 'Nz', 'Na', 'Motor', 'Telar', 'Rueda', 'Palanca']) await api.aTeam({ owner: ada, name });
    const page = await open('/', { as: ada });
    await page.getByRole('link', { name: 'Palanca' }).waitFor();
    expect(await page.getByRole('table').count()).toBe(0);

    await api.aTeam({ owner: ada, name: 'Zafra' });
    await page.goto('/?sort=team');
    const names = () => page.getByRole('rowheader').getByRole('link').allInnerTexts();
    // In English, Ñu comes before Nz.
    await expect.poll(names).toEqual(['Motor', 'Na', 'Nz', 'Ñu', 'Palanca', 'Rueda', 'Telar', 'Zafra']);
    await page.getByRole('searchbox').fill('za');
    await expect.poll(names).toEqual(['Zafra']);
    await page.getByRole('rowheader').getByRole('link').press('Enter');
    await page.waitForURL('**/teams/*');
  },
);

describe.skipIf(!hasChromium)('the frame of a team', () => {
  const pagesOf = (page: Page) => page.getByRole('navigation', { name: 'Team' }).getByRole('link').allInnerTexts();

  // Guarantees that no link leads to a page that the user cannot see.
  test('leads to the pages that the role of the reader allows', async ({ api, open }) => {
    expect(await pagesOf((await openedAs(api, open, 'guest')).page)).toEqual(['Overview', 'Settings']);
    expect(await pagesOf((await openedAs(api, open, 'member')).page)).toEqual([
      'Overview',
      'Members',
      'Roles',
      'Settings',
    ]);

    const person = await aPerson(api);
    const team = await api.aTeam({ owner: await api.anAccount() });
    const all = [
      'Overview',
      'Members',
      'Invitations',
      'Roles',
      'API keys',
      'Billing',
      'Webhooks',
      'Audit log',
      'Settings',
    ];
    const role = await api.aRole(
      team,
      PERMISSIONS.filter((permission) => permission !== 'access_dashboard'),
    );
    await api.aMember(team, person, { role: role.id });
    const page = await open(`/teams/${team.id}/billing`, { as: person });
    await shows(page, 'Billing');
    expect(await pagesOf(page)).toEqual(all.filter((name) => name !== 'Members' && name !== 'Roles'));
    await api.rows('update role set permissions = $2 where id = $1', [role.id, PERMISSIONS]);
    await page.reload();
    await shows(page, 'Billing');
    expect(await pagesOf(page)).toEqual(all);
    expect(await page.locator('[aria-current="page"]').allInnerTexts()).toEqual(['Billing']);
  });

  test('switches between teams and stays on the same page', async ({ api, open }) => {
    const ada = await aPerson(api);
    const first = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const second = await api.aTeam({ owner: ada, name: 'Difference Engine' });
    const page = await open(`/teams/${first.id}/settings`, { as: ada });
    await expect.poll(() => page.getByLabel('Team name').inputValue()).toBe('Analytical Engine');
    await page.getByRole('combobox', { name: 'Team: Analytical Engine' }).click();
    await page.getByRole('textbox', { name: 'Find a team' }).fill('diff');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/teams/${second.slug}/settings`);

    await expect.poll(() => page.getByLabel('Team name').inputValue()).toBe('Difference Engine');
    await page.getByText(second.id).first().waitFor();
    expect(await page.getByText(first.id).count()).toBe(0);
  });

  test('a team of which the user is no member is shown like a team that does not exist', async ({ api, open }) => {
    const person = await aPerson(api);
    const team = await api.aTeam({ owner: await api.anAccount(), name: 'Analytical Engine' });
    const texts = [];
    for (const id of [team.id, 'nothing']) {
      const page = await open(`/teams/${id}/members`, { as: person });
      await shows(page, 'You cannot see this team');
      const words = await page.getByRole('main').innerText();
      texts.push(words.replace(/Request ID \S+/, ''));
      await page.getByRole('link', { name: 'Go to your teams' }).click();
      await shows(page, 'Your teams');
    }
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).not.toContain('Analytical');
  });

  // Guarantees that removed users do not continue to see the team.
  test('a user who was removed is informed on the next page that they open', async ({ api, open }) => {
    const { page, team } = await openedAs(api, open, 'member');
    await api.rows(`delete from membership where team_id = $1 and role_id = 'member'`, [team.id]);
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Members' }).click();
    await shows(page, 'You cannot see this team');

    expect(await page.getByText('Analytical Engine').count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Team' }).count()).toBe(0);
    // The heading says it.
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('link', { name: 'Go to your teams' }).click();
    await page.getByText('You are not in a team yet').waitFor();
  });

  test('a change that fails because the team was deleted shows that, with a link to the teams', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
    const page = await open(`/teams/${team.id}/settings`, { as: ada });
    await page.getByLabel('Team name').fill('Difference Engine');
    await api.rows('delete from membership where team_id = $1', [team.id]);
    await page.keyboard.press('Enter');

    await shows(page, 'You cannot see this team');
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.getByRole('link', { name: 'Go to your teams' }).waitFor();
  });
});
