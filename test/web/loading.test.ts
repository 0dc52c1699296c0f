import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, test } from './console.ts';

/** What the first page may load, and what every other page may add, in bytes of JavaScript as gzip sends it. */
const FIRST_BYTES = 200 * 1024;
const MORE_BYTES = 100 * 1024;

/** How many scripts a page may load. Over HTTP/1.1, browsers load six files at a time. */
const SCRIPTS = 16;

const LONG = { timeout: 180_000 };

const PAGES = [
  '/',
  '/account',
  '/api-keys',
  '/developer',
  '/operator',
  '/operator/accounts',
  ...['', '/members', '/invitations', '/roles', '/api-keys', '/billing', '/audit', '/settings', '/webhooks'].map(
    (path) => `/teams/:team${path}`,
  ),
];

/** Pages with what they are about, and the round trips, one after the other, until that can be seen. */
const TRIPS = [
  ['/account', 'heading', 'Your account', 4],
  ['/', 'link', 'Analytical Engine', 5],
  ['/teams/:team', 'heading', 'Members over time', 6],
  ['/teams/:team/members', 'rowheader', 'Ada Lovelace', 6],
] as const;

async function anOperatorWithTeam(api: Api) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  await api.rows(`update account set role = 'admin' where id = $1`, [ada.id]);
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  await api.anApiKey(ada, { team });
  return { ada, team };
}

/** Opens a page, and lists the scripts that it loads. */
async function scriptsOf(page: Page, path: string): Promise<ReadonlySet<string>> {
  const scripts = new Set<string>();
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.add(new URL(request.url()).pathname);
  });
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  return scripts;
}

async function bytesOf(api: Api, scripts: readonly string[]): Promise<number> {
  const sizes = scripts.map(async (path) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}${path}`, { headers: { 'accept-encoding': 'gzip' } });
    expect([path, answer.status, answer.headers.get('content-encoding')]).toEqual([path, 200, 'gzip']);
    return Number(answer.headers.get('content-length'));
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Opens a page, letting through all requests that wait and then those that these lead to, until something can be seen. */
async function roundTripsTo(page: Page, path: string, isShown: () => Promise<boolean>): Promise<string[][]> {
  const waiting: Route[] = [];
  await page.route('**/*', (route) => void waiting.push(route));
  const opening = page.goto(path, { waitUntil: 'commit' });
  const trips: string[][] = [];
  do {
    await expect.poll(() => waiting.length, { timeout: 15_000 }).toBeGreaterThan(0);
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
  test(
    'is at most 16 scripts, with less than 100 KB of JavaScript more than the 200 KB of the first page, on every page',
    LONG,
    async ({ api, open }) => {
      const { ada, team } = await anOperatorWithTeam(api);
      const first = await scriptsOf(await open('about:blank'), '/sign-in');
      expect(await bytesOf(api, [...first])).toBeLessThan(FIRST_BYTES);
      for (const path of PAGES) {
        const scripts = await scriptsOf(await open('about:blank', { as: ada }), path.replace(':team', team.slug));
        expect(scripts.size, `${path}: ${[...scripts].join(' ')}`).toBeLessThanOrEqual(SCRIPTS);
        const added = await bytesOf(
          api,
          [...scripts].filter((script) => !first.has(script)),
        );
        expect(added, path).toBeGreaterThan(0);
        expect(added, path).toBeLessThan(MORE_BYTES);
      }
    },
  );

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

  test('the sign-in shows its form after at most four round trips', async ({ open }) => {
    const page = await open('about:blank');
    const trips = await roundTripsTo(page, '/sign-in', () => page.getByLabel('Email').isVisible());
    expect(trips.length, trips.map((paths) => paths.join(' ')).join('\n')).toBeLessThanOrEqual(4);
  });
});
