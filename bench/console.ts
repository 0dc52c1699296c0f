import pg from 'pg';
import type { Browser, BrowserContext } from 'playwright-core';
import { createTokens } from '../src/crypto/tokens.ts';
import { newId } from '../src/entities/index.ts';
import { launchBrowser } from '../test/support/chromium.ts';
import { median } from './measure.ts';
import type { Stage } from './stage.ts';
import { markdown } from './table.ts';

type Conditions = {
  readonly title: string;
  readonly rttMs: number;
  readonly bitsPerSecond: number;
  readonly cpuTimes: number;
};

const CONDITIONS: readonly Conditions[] = [
  { title: 'this machine', rttMs: 0, bitsPerSecond: -1, cpuTimes: 1 },
  // "Slow 4G" of Lighthouse.
  { title: 'slow 4G, CPU 4 times slower', rttMs: 150, bitsPerSecond: 1_638_400, cpuTimes: 4 },
];

const LOAD_MS_MAX = 60_000;

type Probe = { readonly title: string; readonly path: string; readonly control: string };

export type ConsoleRun = {
  readonly page: string;
  readonly conditions: string;
  /** Until the control can be used: the medians of the runs, of each by itself. */
  readonly usableMs: number;
  readonly firstPaintMs: number;
  readonly slowestMs: number;
  readonly kilobytes: number;
  readonly requests: number;
};

/**
 * Measures how long a page takes until its main control is visible and the page answers to it, each time in a browser
 * context without a cache.
 */
export async function measureConsole(stage: Stage, runs: number, report: (line: string) => void) {
  const { callers } = await stage.fillDatabase('roster', 'small');
  const server = await stage.start('roster', 'roster');
  const { teamId = '' } = callers[0] ?? {};
  const { slug, cookie } = await signIn(server.databaseUrl, teamId);
  const browser = await launchBrowser();
  const url = server.url.replace('127.0.0.1', 'localhost');
  const probes: readonly Probe[] = [
    { title: 'sign-in', path: '/sign-in', control: 'form button[type="submit"]' },
    { title: 'overview of a team', path: `/teams/${slug}`, control: 'main a[href$="/members"]' },
    { title: 'members of a team (20)', path: `/teams/${slug}/members`, control: 'main tbody th' },
    { title: 'invitations of a team (20)', path: `/teams/${slug}/invitations`, control: 'main tbody th' },
    { title: 'API keys of a team (20)', path: `/teams/${slug}/api-keys`, control: 'main tbody th' },
    { title: 'audit log of a team (50)', path: `/teams/${slug}/audit`, control: 'main tbody th' },
    { title: 'teams', path: '/', control: 'main a[href^="/teams/"]' },
    { title: 'account', path: '/account', control: 'main form input' },
    { title: 'accounts, for operators (50)', path: '/operator/accounts', control: 'main tbody th' },
  ];
  const results: ConsoleRun[] = [];
  try {
    for (const conditions of CONDITIONS) {
      for (const probe of probes) {
        const measured = [];
        // The first one warms the server up.
        for (let run = -1; run < runs; run += 1) {
          const one = await open(browser, url, probe.title === 'sign-in' ? undefined : cookie, probe, conditions);
          report(`${probe.title}, ${conditions.title}: ${one.usableMs.toFixed(0)} ms`);
          if (run >= 0) measured.push(one);
        }
        results.push({
          page: probe.title,
          conditions: conditions.title,
          usableMs: median(measured.map(({ usableMs }) => usableMs)),
          firstPaintMs: median(measured.map(({ firstPaintMs }) => firstPaintMs)),
          slowestMs: Math.max(...measured.map(({ usableMs }) => usableMs)),
          kilobytes: median(measured.map(({ kilobytes }) => kilobytes)),
          requests: median(measured.map(({ requests }) => requests)),
        });
      }
    }
  } finally {
    await browser.close();
  }
  return results;
}

/** Begins a session of the owner of a team, who is made an operator, and gives the team what its pages list. */
async function signIn(databaseUrl: string, teamId: string): Promise<{ slug: string; cookie: string }> {
  const { secret, hash } = createTokens('rst').generate('session');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ slug: string }>(
      `with owner as (select account_id from membership where team_id = $1 and role_id = 'owner'),
         begun as (
           insert into session (id, account_id, token_hash, authentication_type, created_at, proven_at, expires_at, idle_expires_at)
           select $2, account_id, $3, 'password', now(), now(), now() + interval '1 day', now() + interval '1 day' from owner
         )
       select slug from team where id = $1`,
      [teamId, newId('ses'), hash],
    );
    for (const statement of ROWS) await client.query(statement, [teamId]);
    return { slug: rows[0]?.slug ?? '', cookie: secret };
  } finally {
    await client.end();
  }
}

/** Statements with the id of the team. */
const ROWS = [
  `update account set role = 'admin' where id = (select account_id from membership where team_id = $1 and role_id = 'owner')`,
  `insert into api_key (id, account_id, team_id, name, scopes, key_prefix, last4, created_at)
   select 'key_console_' || n, account_id, team_id, 'Deployment ' || n, array['teams:read'], 'rst_tk_', '0000', now()
     from membership, generate_series(1, 20) n where team_id = $1 and role_id = 'owner'`,
  `insert into invitation (id, team_id, email, role_id, created_at, expires_at)
   select 'invt_console_' || n, $1, 'guest-' || n || '@example.com', 'member', now(), now() + interval '1 day'
     from generate_series(1, 20) n`,
  `insert into audit_event (id, occurred_at, event, actor_kind, actor_id, account_id, team_id, address, details)
   select 'evt_console_' || n, now(), 'member.deactivated', 'session', account_id, account_id, team_id, '192.0.2.1', '{}'
     from membership, generate_series(1, 60) n where team_id = $1 and role_id = 'owner'`,
];

/** Notes when the control is in the window and can be clicked, and when the page has nothing else to do then. */
const watch = (control: string) => `{
  const look = () => {
    const found = [...document.querySelectorAll(${JSON.stringify(control)})].find((e) => e.checkVisibility() && !e.disabled);
    if (found === undefined) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => window.reportUsable(performance.now())));
  };
  look();
}`;

async function open(browser: Browser, url: string, cookie: string | undefined, probe: Probe, conditions: Conditions) {
  const context: BrowserContext = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 } });
  try {
    if (cookie !== undefined) await context.addCookies([{ name: 'roster_session', value: cookie, url }]);
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    let bytes = 0;
    let requests = 0;
    await devtools.send('Network.enable');
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
      requests += 1;
    });
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: conditions.rttMs,
      downloadThroughput: conditions.bitsPerSecond < 0 ? -1 : conditions.bitsPerSecond / 8,
      uploadThroughput: conditions.bitsPerSecond < 0 ? -1 : conditions.bitsPerSecond / 8,
    });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: conditions.cpuTimes });
    const { promise: usable, resolve, reject } = Promise.withResolvers<number>();
    const timer = setTimeout(() => reject(new Error(`${probe.path} shows no ${probe.control}.`)), LOAD_MS_MAX);
    await page.exposeFunction('reportUsable', resolve);
    await page.addInitScript(watch(probe.control));
    await page.goto(probe.path, { waitUntil: 'commit', timeout: LOAD_MS_MAX });
    const usableMs = await usable.finally(() => clearTimeout(timer));
    const firstPaintMs = Number(
      await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`),
    );
    return { usableMs, firstPaintMs, kilobytes: bytes / 1000, requests };
  } finally {
    await context.close();
  }
}

export const consoleTable = (results: readonly ConsoleRun[]): string =>
  markdown([
    ['page', 'conditions', 'usable, ms', 'slowest run, ms', 'first paint, ms', 'KB', 'requests'],
    ...results.map(({ page, conditions, usableMs, slowestMs, firstPaintMs, kilobytes, requests }) => [
      page,
      conditions,
      ...[usableMs, slowestMs, firstPaintMs, kilobytes, requests].map((value) => value.toFixed(0)),
    ]),
  ]);
