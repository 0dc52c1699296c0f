import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { PERMISSIONS, type Permission } from '../../src/entities/index.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { readConsolePages } from '../support/console-routes.ts';
import { authorizePath, heading, test } from './console.ts';

const PAGES = readConsolePages();
const LONG = { timeout: 180_000 };
const REFUSED = /^(You cannot see this page|This page is for operators)$/;

/** What the role of a member is, or else the permissions that it has alone. */
type Standing = 'owner' | 'member' | 'guest' | readonly Permission[];

const STANDINGS: readonly (readonly [name: string, standing: Standing])[] = [
  ['the owner', 'owner'],
  ['a member', 'member'],
  ['a guest', 'guest'],
  ['somebody without permissions', []],
  ...PERMISSIONS.map((permission) => [`somebody with ${permission} alone`, [permission]] as const),
];

/** Somebody in a team with one of everything, and where each route leads there. */
async function aWorld(api: Api, standing: Standing, { isOperator = false } = {}) {
  const person = await api.anAccount();
  const owner = standing === 'owner' ? person : await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.aSubscription(team);
  await api.anInvitation(team);
  await api.anApiKey(owner, { team });
  if (standing !== 'owner') {
    const role = typeof standing === 'string' ? standing : (await api.aRole(team, standing)).id;
    await api.aMember(team, person, { role });
  }
  const url = 'https://example.com/hooks';
  const { endpoint } = await (
    await signedIn(api, owner)
  ).trpc.webhooks.create.mutate({ teamId: team.id, url, types: [] });
  const ids: Record<string, string> = { teamId: team.slug, accountId: person.id, endpointId: endpoint.endpointId };
  if (isOperator) await api.rows(`update account set role = 'admin' where id = $1`, [person.id]);
  const client = await api.anOAuthClient();
  const { trpc } = await signedIn(api, person);
  const permissions: readonly string[] = await trpc.teams.permissions.query({ teamId: team.id });
  const toPath = (route: string): string =>
    route === '/oauth/consent/$id'
      ? authorizePath(client, ['teams:read'])
      : route
          .replace('/operator/teams/$teamId', `/operator/teams/${team.id}`)
          .replaceAll(/\$(\w+)/g, (_, name: string) => ids[name] ?? 'unknown');
  const opens = (access: string): boolean =>
    ['session', 'member', ...(isOperator ? ['operator'] : []), ...permissions].includes(access);
  return { person, toPath, opens };
}

/** Notes calls that are not answered with 200, and waits for those under way. */
function watchCalls(page: Page) {
  const refused: string[] = [];
  const pending = new Set<object>();
  page.on('request', (request) => request.url().includes('/trpc/') && pending.add(request));
  page.on('requestfailed', (request) => pending.delete(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('response', (answer) => {
    if (answer.url().includes('/trpc/') && answer.status() !== 200) refused.push(`${answer.status()} ${answer.url()}`);
  });
  const settle = async () => {
    await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))');
    await expect.poll(() => pending.size).toBe(0);
  };
  return { refused, settle };
}

/** The paths that the navigation leads to. */
const linksOf = (page: Page): Promise<string[]> =>
  page
    .locator('header nav.side-nav a:visible')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

/** Pages that have a place in the navigation: the operator's area has one for all, and others are opened from a page. */
const isPlace = (path: string): boolean => !/^\/operator\/|\$(?!teamId)/.test(path);

async function deniedTo(api: Api, { id }: { id: string }) {
  await api.denials.flush();
  return api.rows(`select event from audit_event where event = 'access.denied' and actor_id = $1`, [id]);
}

test('every route declares who may see it', () => {
  const known = ['anyone', 'session', 'operator', 'member', ...PERMISSIONS];
  expect(PAGES.length).toBeGreaterThan(35);
  expect(PAGES.filter(({ access }) => !known.includes(access))).toEqual([]);
  // Everything under a team is for its members, and everything in the operator's area for operators.
  for (const { path, access } of PAGES) {
    expect([path, access === 'operator']).toEqual([path, path.startsWith('/operator')]);
    expect([path, !['anyone', 'session', 'operator'].includes(access)]).toEqual([path, path.startsWith('/teams/')]);
  }
});

describe.skipIf(!hasChromium)('the navigation shows exactly what opens, and no call is denied', () => {
  /** Opens pages, and compares what opens with what is declared, and with the navigation. */
  async function expectDeclared(
    page: Page,
    pages: typeof PAGES,
    { toPath, opens }: Awaited<ReturnType<typeof aWorld>>,
  ) {
    const { refused, settle } = watchCalls(page);
    for (const { path, access } of pages) {
      await page.goto(toPath(path));
      const title = await heading(page, /./).innerText();
      await settle();
      expect([path, REFUSED.test(title) ? 'refused' : 'opens']).toEqual([path, opens(access) ? 'opens' : 'refused']);
    }
    const places = pages.filter(({ path }) => isPlace(path));
    await page.goto(toPath('/teams/$teamId'));
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Settings' }).waitFor();
    const links = await linksOf(page);
    expect(links.length).toBeGreaterThan(5);
    for (const { path, access } of places) expect([path, links.includes(toPath(path))]).toEqual([path, opens(access)]);
    await settle();
    expect(refused).toEqual([]);
  }

  test.for(STANDINGS)('to %s of a team', LONG, async ([, standing], { api, open }) => {
    const world = await aWorld(api, standing);
    await expectDeclared(
      await open('about:blank', { as: world.person }),
      PAGES.filter(({ path }) => path.startsWith('/teams/')),
      world,
    );
    expect(await deniedTo(api, world.person)).toEqual([]);
  });

  test.for([
    ['somebody who is signed in', false],
    ['an operator', true],
  ] as const)('to %s', LONG, async ([, isOperator], { api, open }) => {
    const world = await aWorld(api, 'guest', { isOperator });
    await expectDeclared(
      await open('about:blank', { as: world.person }),
      PAGES.filter(
        ({ path, access }) =>
          access !== 'anyone' && !path.startsWith('/teams/') && path !== '/operator/webhooks/$endpointId',
      ),
      world,
    );
    expect(await deniedTo(api, world.person)).toEqual([]);
  });

  test('without a session every page leads to the sign-in, but those for anyone', LONG, async ({ api, open }) => {
    const { toPath } = await aWorld(api, 'guest');
    const page = await open('about:blank');
    for (const { path, access } of PAGES) {
      await page.goto(toPath(path));
      await heading(page, /./).waitFor();
      // Without a sign-up there is no email to check.
      const leaves = access !== 'anyone' || path === '/check-email';
      await expect
        .poll(() => [path, new URL(page.url()).pathname === '/sign-in' && path !== '/sign-in'])
        .toEqual([path, leaves]);
    }
  });
});
