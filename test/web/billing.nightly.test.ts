import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';

const main = (page: Page) => page.getByRole('main');

describe.skipIf(!hasChromium)('the billing of a team', () => {
  test('a team without a subscription is on the default plan, and is charged nothing', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open(`/teams/${team.id}/billing`, { as: ada });
    await page.getByText('The team has no subscription and is not charged.').waitFor();
    await page.getByText('1 of 5 seats used').waitFor();

    expect(await page.getByRole('region', { name: 'Plan' }).getByRole('definition').allInnerTexts()).toEqual(['Free']);
  });

  test('the plan is read, and cannot be changed', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    await api.aSubscription(team, { seats: 3 });
    await api.rows(`update subscription set plan_expires_at = '2099-01-31T12:00:00Z' where team_id = $1`, [team.id]);
    const page = await open(`/teams/${team.id}/billing`, { as: ada });
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('Active').waitFor();
    await page.getByText('1 of 53 seats used').waitFor();

    expect(await plan.getByRole('term').allInnerTexts()).toEqual(['Plan', 'Status', 'Billed', 'Renews', 'Add-ons']);
    expect(await plan.getByRole('definition').allInnerTexts()).toEqual([
      'Pro',
      'Active',
      'Monthly',
      '31 Jan 2099',
      'Additional seats: 3',
    ]);
    expect(await main(page).getByRole('button').count()).toBe(0);
    expect(await main(page).getByRole('textbox').count()).toBe(0);
  });

  test('a plan that ends and a payment action are shown first', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    await api.aSubscription(team);
    await api.rows(
      `update subscription set plan_expires_at = '2099-01-31T12:00:00Z', cancel_at_period_end = true,
         needs_payment_action = true, status = 'past_due' where team_id = $1`,
      [team.id],
    );
    const page = await open(`/teams/${team.id}/billing`, { as: ada });
    await page.getByText('Payment action required').waitFor();
    await page.getByText('The plan will not renew and ends on 31 Jan 2099.').waitFor();
    await page.getByText('Payment overdue').waitFor();
    expect(await page.getByRole('term').allInnerTexts()).toContain('Ends');
  });

  test('more seats can be taken than there are, after a downgrade', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    for (let taken = 1; taken < 7; taken += 1) await api.anInvitation(team);
    const page = await open(`/teams/${team.id}/billing`, { as: ada });
    await page.getByText('7 of 5 seats used').waitFor();
    await page.getByText('The team uses 2 seats more than its plan includes.').waitFor();
  });

  // Guarantees that the plan is neither shown to nor requested by users without the permission.
  test('users without the permission get an explanation, without a call of the service', async ({ api, open }) => {
    const team = await api.aTeam({ owner: await aPerson(api) });
    await api.aSubscription(team);
    const member = await aPerson(api);
    await api.aMember(team, member, { role: 'member' });
    const page = await open('/', { as: member });
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    await page.goto(`/teams/${team.id}/billing`);
    await shows(page, 'You cannot see this page');
    await page.getByText(/requires the permission “View plan and billing”/).waitFor();

    expect(await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Billing' }).count()).toBe(0);
    expect(calls.join()).toContain('teams.permissions');
    expect(calls.join()).not.toContain('getTeamBilling');
    expect(await main(page).innerText()).not.toMatch(/Monthly|Active\b(?! members)/);
  });
});
