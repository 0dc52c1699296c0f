import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { findViolations } from './axe.ts';
import { aPerson, chooseOf, shows, test } from './console.ts';

const bell = (page: Page) => page.getByRole('banner').getByRole('button', { name: /notice/i });
const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1000);

async function entries(page: Page): Promise<readonly string[]> {
  await bell(page).click();
  const menu = page.getByRole('menu', { name: /notice/i });
  await menu.waitFor();
  const texts = await menu.getByRole('menuitem').allInnerTexts();
  return texts.map((text) => text.replaceAll(/[\u2066-\u2069]/g, '').trim());
}

describe.skipIf(!hasChromium)('the notices of the frame', () => {
  test('are on every page: ownership that is offered, keys that expire soon, and teams that are nearly full', async ({
    api,
    open,
  }) => {
    const [ada, bob] = [await aPerson(api, { firstName: 'Ada' }), await aPerson(api, { firstName: 'Bob' })];
    const [engine, loom] = [
      await api.aTeam({ owner: ada, name: 'Analytical Engine' }),
      await api.aTeam({ owner: ada, name: 'Loom' }),
    ];
    for (const team of [engine, loom]) await api.aMember(team, bob, { role: 'member' });
    await api.aSubscription(loom, { plan: 'pro', seats: 0 });
    await api.anApiKey(ada, { expiresAt: inDays(13) });
    await api.anApiKey(ada, { expiresAt: inDays(15) });
    await api.anApiKey(ada, { team: loom, expiresAt: inDays(1) });
    await api.anApiKey(ada, { team: loom, expiresAt: inDays(2) });
    for (let i = 0; i < 2; i += 1) await api.anInvitation(engine);
    const { trpc } = await signedIn(api, ada);
    const { seats, taken } = await trpc.teams.seats.query({ teamId: engine.id });
    for (let i = taken; i < seats - 1; i += 1) await api.anInvitation(engine);

    const page = await open('/account', { as: ada });
    await shows(page, 'Your account');
    await page.getByRole('button', { name: '3 notices' }).waitFor();
    expect(await entries(page)).toEqual([
      '1 of your API keys expires soon',
      '2 API keys of “Loom” expire soon',
      '1 free seat left in “Analytical Engine”',
    ]);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('menuitem', { name: /Loom/ }).click();
    await shows(page, 'Team API keys');
    await page.getByRole('status').getByText('2 keys').waitFor();

    await trpc.teams.offerOwnership.mutate({ teamId: engine.id, userId: bob.id });
    const ofBob = await open(`/teams/${loom.slug}/members`, { as: bob });
    await ofBob.getByRole('button', { name: '1 notice' }).waitFor();
    expect(await entries(ofBob)).toEqual(['Ownership of “Analytical Engine” is offered to you']);
    await ofBob.keyboard.press('Enter');
    await ofBob.getByRole('button', { name: 'Accept' }).first().waitFor();
    await ofBob.getByRole('button', { name: /^Decline/ }).click();
    await ofBob.getByRole('button', { name: 'Notices' }).waitFor();
    expect(await entries(ofBob)).toEqual(['No notices']);
  });

  test('follow each change of the page at once, without a look away from it', async ({ api, open }) => {
    const ada = await aPerson(api, { firstName: 'Ada' });
    const team = await api.aTeam({ owner: ada, name: 'Engine' });
    const { trpc } = await signedIn(api, ada);
    const { seats, taken } = await trpc.teams.seats.query({ teamId: team.id });
    for (let i = taken; i < seats - 1; i += 1) await api.anInvitation(team);
    await api.anApiKey(ada, { expiresAt: inDays(1) });
    for (let i = 0; i < 2; i += 1) await api.anApiKey(ada, { team, expiresAt: inDays(1) });

    const page = await open('/api-keys', { as: ada });
    await page.getByRole('button', { name: '3 notices' }).waitFor();
    await chooseOf(page, 'A key', 'Revoke A key');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: '2 notices' }).waitFor();

    await page.goto(`/teams/${team.slug}/api-keys`);
    await page.getByRole('checkbox', { name: 'Select all 2 rows' }).check();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: '1 notice' }).waitFor();

    await page.goto(`/teams/${team.slug}/invitations`);
    await page.getByRole('button', { name: '1 notice' }).waitFor();
    await chooseOf(page, /^Actions for/, /^Revoke the invitation/);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Notices' }).waitFor();
  });

  test('of few free seats lead to the plan, or to the invitations for roles that cannot see it', async ({
    api,
    open,
  }) => {
    const [ada, bob] = [await aPerson(api), await aPerson(api)];
    const team = await api.aTeam({ owner: ada, name: 'Loom' });
    await api.aMember(team, bob, { role: (await api.aRole(team, ['invite_members'])).id });
    const { trpc } = await signedIn(api, ada);
    const { seats, taken } = await trpc.teams.seats.query({ teamId: team.id });
    for (let i = taken; i < seats; i += 1) await api.anInvitation(team);
    for (const [person, title] of [
      [ada, 'Billing'],
      [bob, 'Invitations'],
    ] as const) {
      const page = await open('/', { as: person });
      await page.getByRole('button', { name: '1 notice' }).waitFor();
      expect(await entries(page)).toEqual(['No free seats in “Loom”']);
      await page.getByRole('menuitem', { name: /Loom/ }).click();
      await shows(page, title);
    }
  });

  test('are listed on the first page, above a card of each team with the role and the members', async ({
    api,
    open,
  }) => {
    const [ada, bob] = [await aPerson(api), await aPerson(api)];
    const team = await api.aTeam({ owner: ada, name: 'Loom' });
    await api.aMember(team, bob, { role: 'member' });
    await api.aMember(await api.aTeam({ owner: bob, name: 'Engine' }), ada, { role: 'guest' });
    await api.anApiKey(ada, { team, expiresAt: inDays(1) });
    const page = await open('/', { as: ada });
    await page.getByRole('region', { name: 'Waiting for you' }).waitFor();
    const card = (name: string) =>
      page
        .getByRole('main')
        .getByRole('listitem')
        .filter({ has: page.getByRole('link', { name, exact: true }) });
    await card('Loom').getByText('2 members').waitFor();
    await card('Loom').getByText('Owner').waitFor();
    expect(await card('Engine').innerText()).toMatch(/Guest/);
    expect(await card('Engine').innerText()).not.toMatch(/member/i);
    await page.getByRole('region', { name: 'Waiting for you' }).getByRole('link').click();
    await shows(page, 'Team API keys');

    const ofBob = await open('/', { as: bob });
    await ofBob.getByRole('main').getByRole('link', { name: 'Loom' }).waitFor();
    expect(await ofBob.getByRole('region', { name: 'Waiting for you' }).count()).toBe(0);
  });

  test('contain nothing of teams that the user has left, and nothing that the role cannot act on', async ({ api }) => {
    const [ada, bob] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner: ada });
    await api.anApiKey(ada, { team, expiresAt: inDays(1) });
    await api.aMember(team, bob, { role: 'guest' });
    const noticesOf = async (account: { id: string }) => (await signedIn(api, account)).trpc.teams.notices.query();
    expect(await noticesOf(ada)).toMatchObject([{ kind: 'keys', team: { id: team.id }, count: 1 }]);
    expect(await noticesOf(bob)).toEqual([]);
    await api.rows('update membership set is_active = false where account_id = $1', [ada.id]);
    expect(await noticesOf(ada)).toEqual([]);
  });
});
