import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { builtRoutes, gzipBytes, initialScripts, largestTexts, partsLoadedBy } from './built-routes.ts';
import { aPerson, test } from './console.ts';

/** What the first page may load, and what every other page may add, in bytes of JavaScript as gzip sends it. */
const FIRST_BYTES = 200 * 1024;
const MORE_BYTES = 100 * 1024;

/** How many scripts a page may load. Over HTTP/1.1, browsers load six files at a time. */
const SCRIPTS = 16;

const LONG = { timeout: 180_000 };

const PAGES = ['/', '/account', '/operator', '/operator/accounts', '/teams/:team', '/teams/:team/audit'];

/** Pages with what they are about, and the round trips, one after the other, until that can be seen. */
const TRIPS = [
  ['/account', 'heading', 'Your account', 3],
  ['/', 'link', 'Analytical Engine', 4],
  ['/operator/accounts', 'rowheader', 'Ada Lovelace', 4],
  ['/teams/:team', 'heading', 'Members over time', 4],
  ['/teams/:team/members', 'rowheader', 'Ada Lovelace', 4],
  ['/teams/:team/invitations', 'button', 'Invite people', 4],
  ['/teams/:team/roles', 'heading', 'Owner', 4],
  ['/teams/:team/api-keys', 'rowheader', 'a key', 4],
] as const;

async function anOperatorWithTeam(api: Api) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  await api.rows(`update account set role = 'admin' where id = $1`, [ada.id]);
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  await api.anApiKey(ada, { team });
  return { ada, team };
}

/** Opens a page, and lists the scripts that it loads before and after its first call. */
async function scriptsOf(page: Page, path: string): Promise<Record<'early' | 'late', readonly string[]>> {
  const scripts = { early: new Set<string>(), late: new Set<string>() };
  let isCalled = false;
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/trpc/')) isCalled = true;
    if (request.resourceType() === 'script') scripts[isCalled ? 'late' : 'early'].add(pathname.slice(1));
  });
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  return { early: [...scripts.early].toSorted(), late: [...scripts.late].filter((each) => !scripts.early.has(each)) };
}

/** Passkeys and the script that runs before the first paint are no part of what pages import. */
const isOfBuild = (script: string): boolean => !/^assets\/(?:start|esm)-/.test(script);

/** Opens a page, letting through all requests that wait and then those that these lead to, until something can be seen. */
async function roundTripsTo(page: Page, path: string, isShown: () => Promise<boolean>): Promise<string[][]> {
  const waiting: Route[] = [];
  await page.route('**/*', (route) => void waiting.push(route));
  const opening = page.goto(path, { waitUntil: 'commit' });
  const trips: string[][] = [];
  do {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    if (trips.length > 0) await idle(page);
    const released = waiting.splice(0);
    trips.push(released.map((route) => new URL(route.request().url()).pathname));
    await Promise.all(released.map(letThrough));
    await opening;
    await idle(page);
  } while (!(await isShown()));
  await page.unroute('**/*');
  return trips;
}

async function letThrough(route: Route): Promise<void> {
  await route.continue();
  await (await route.request().response())?.finished();
}

/** Waits until the page has nothing to do but to wait for requests. */
const idle = (page: Page) =>
  page.evaluate(`(async () => {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => requestIdleCallback(() => setTimeout(resolve), { timeout: 500 }));
  })()`);

describe.skipIf(!hasChromium)('what a page loads', () => {
  test('without a session is less than 200 KB of JavaScript, and on every page less than 100 KB more in at most 16 scripts', () => {
    const first = builtRoutes().find(({ path }) => path === '/sign-in')?.scripts ?? [];
    const initial = initialScripts();
    expect(partsLoadedBy([...initial, ...first])).toEqual(['first']);
    expect(gzipBytes([...initial, ...first, largestTexts()])).toBeLessThan(FIRST_BYTES);
    expect(builtRoutes().length).toBeGreaterThan(30);
    for (const { path, scripts } of builtRoutes()) {
      const added = scripts.filter((script) => !first.includes(script));
      expect(gzipBytes(added), path).toBeLessThan(MORE_BYTES);
      expect(new Set([...initial, ...scripts]).size, `${path}: ${scripts.join(' ')}`).toBeLessThanOrEqual(SCRIPTS);
    }
  });

  test(
    'is what the build lists, all of it before the first call, and no script of other pages',
    LONG,
    async ({ api, open }) => {
      const { ada, team } = await anOperatorWithTeam(api);
      for (const path of PAGES) {
        const scripts = await scriptsOf(await open('about:blank', { as: ada }), path.replace(':team', team.slug));
        const built = builtRoutes().find((route) => route.path === path.replace(':team', '$teamId'));
        expect(scripts.early.filter(isOfBuild), path).toEqual(
          [...initialScripts(), ...(built?.scripts ?? [])].toSorted(),
        );
        expect(scripts.late, path).toEqual([]);
      }
    },
  );

  test('without a session is no script of a page that needs one', async ({ api, open }) => {
    const { team } = await anOperatorWithTeam(api);
    const signIn = builtRoutes().find(({ path }) => path === '/sign-in')?.scripts ?? [];
    const allowed = new Set([...initialScripts(), ...signIn]);
    const { early, late } = await scriptsOf(await open('about:blank'), `/teams/${team.slug}/members`);
    expect([...early, ...late].filter((script) => isOfBuild(script) && !allowed.has(script))).toEqual([]);
  });

  test.for(TRIPS)(
    '%s shows the %s “%s” after at most %i round trips',
    LONG,
    async ([path, role, name, most], { api, open }) => {
      const { ada, team } = await anOperatorWithTeam(api);
      const page = await open('about:blank', { as: ada });
      const isShown = () => page.getByRole(role, { name }).first().isVisible();
      const trips = await roundTripsTo(page, path.replace(':team', team.slug), isShown);
      expect(trips.length, trips.map((paths) => paths.join(' ')).join('\n')).toBeLessThanOrEqual(most);
    },
  );

  test('the sign-in shows its form after at most three round trips', async ({ open }) => {
    const page = await open('about:blank');
    const trips = await roundTripsTo(page, '/sign-in', () => page.getByLabel('Email').isVisible());
    expect(trips.length, trips.map((paths) => paths.join(' ')).join('\n')).toBeLessThanOrEqual(3);
  });
});
