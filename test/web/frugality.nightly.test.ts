import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, shows, test } from './console.ts';
import { expectStable, observeLayoutShift } from './layout-shift.ts';

const PAGES = [
  ['', 'Overview'],
  ['/members', 'Members'],
  ['/invitations', 'Invitations'],
  ['/roles', 'Roles'],
  ['/api-keys', 'Team API keys'],
  ['/billing', 'Billing'],
  ['/audit', 'Audit log'],
  ['/settings', 'Settings'],
  ['/webhooks', 'Webhooks'],
  ['/webhooks/:endpoint', 'Deliveries'],
] as const;

/** Opens a page and returns the calls of its procedures, by request. */
async function callsOf(page: Page, path: string, title: string): Promise<string[][]> {
  const requests: string[][] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/trpc/')) requests.push(pathname.slice('/trpc/'.length).split(','));
  });
  await observeLayoutShift(page);
  await page.goto(path);
  await shows(page, title);
  await page.waitForLoadState('networkidle');
  return requests;
}

describe.skipIf(!hasChromium)('every page', () => {
  test.for([
    ['/', 'Your teams'],
    ['/account', 'Your account'],
    ['/api-keys', 'Your API keys'],
    ['/developer', 'Developer'],
    ...PAGES.map(([path, title]) => [`/teams/:team${path}`, title] as const),
  ] as const)(
    '%s sends at most three requests, asks once who is signed in, and moves nothing',
    async ([path, title], { api, open }) => {
      const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
      const team = await api.aTeam({ owner, name: 'Analytical Engine' });
      await api.aTeam({ owner, name: 'Difference Engine' });
      await api.aMember(team, await aPerson(api), { role: 'member' });
      await api.anApiKey(owner, { team });
      const { trpc } = await signedIn(api, owner);
      const { endpoint } = await trpc.webhooks.create.mutate({
        teamId: team.id,
        url: 'https://example.com/hooks',
        types: [],
      });
      const page = await open('about:blank', { as: owner });
      const address = path.replace(':team', team.slug).replace(':endpoint', endpoint.endpointId);
      const requests = await callsOf(page, address, title);

      expect(requests.length, requests.join(' | ')).toBeLessThanOrEqual(3);
      expect(requests.flat().filter((name) => name === 'getMe')).toHaveLength(1);
      await expectStable(page, path);
      const named = path.startsWith('/teams/') ? `${title} · Analytical Engine · Roster` : `${title} · Roster`;
      expect(await page.title()).toBe(named);
    },
  );

  test('loads nothing from other servers', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    await api.rows('update team set avatar_url = $2 where id = $1', [team.id, 'https://tracker.example/pixel.png']);
    await api.rows('update account set avatar = $2 where id = $1', [owner.id, 'https://tracker.example/pixel.png']);
    const page = await open('about:blank', { as: owner });
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    for (const path of ['/', '/account', `/teams/${team.id}`, `/teams/${team.id}/members`]) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
    }
    expect([...hosts]).toEqual([new URL(api.services.config.baseUrl).host]);
  });
});
