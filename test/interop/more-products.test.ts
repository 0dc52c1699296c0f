import { beforeAll, expect, onTestFinished } from 'vitest';
import { createMailer } from '../../src/email/mailer.ts';
import { startWorker } from '../../src/jobs/worker.ts';
import { resourceTasks } from '../../src/service/resource-tasks.ts';
import { packClient } from '../clients/packed-client.ts';
import { testWith, type Api } from '../support/api.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openPage, signInAtRoster, startApiAtAName, startProduct, withPassword } from './products.ts';
import { MINUTES } from './readmes.ts';

const test = testWith(() => startApiAtAName({ WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8' }));

const IN_PYTHON = {
  port: 4400,
  prints: () => /Uvicorn running/,
  // The Python that has the packages of the system.
  env: { PATH: `/usr/bin:${process.env['PATH']}` },
};

beforeAll(() => packClient());

async function aBrowser() {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return browser;
}

/** Runs the jobs of the service until the test ends, which tell of ended sessions. */
async function work({ services }: Api): Promise<void> {
  const mailer = createMailer(services.config);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const worker = await startWorker(services, mailer, log, resourceTasks(services, log));
  onTestFinished(async () => {
    await worker.stop();
    mailer.close();
  });
}

// Guarantees that Authlib, as Debian has it, signs users in, and notices what is not of its sign-in.
test(
  'the product in Python signs users in and out, and its API checks team and permission',
  MINUTES,
  async ({ api }) => {
    const { appUrl, serverUrl } = await startProduct(api, 'python-fastapi', IN_PYTHON);
    const ada = await withPassword(api);
    const engines = await api.aTeam({ owner: ada, name: 'Engines' });
    const page = await openPage(await aBrowser(), appUrl);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInAtRoster(page, ada.email);
    await page.getByText(`Signed in as ${ada.email}, in ${engines.slug}`).waitFor();
    const create = () =>
      page.evaluate(async () => {
        const init = { method: 'POST', body: JSON.stringify({ title: 'Report 1' }) };
        return (await fetch('/api/reports', init)).status;
      });
    expect(await create()).toBe(201);

    const ask = async (key?: string) => {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const response = await fetch(`${serverUrl}/api/reports`, { headers });
      return [response.status, await response.json()] as const;
    };
    const { secret } = await api.anApiKey(ada, { team: engines });
    expect(await ask(secret)).toEqual([200, [{ title: 'Report 1', by: ada.id }]]);
    expect((await ask('rst_tk_x'))[0]).toBe(401);
    expect((await ask((await api.anApiKey(ada)).secret))[0]).toBe(403);
    expect((await ask())[0]).toBe(401);

    // A response of another sign-in, as in a forged link.
    await page.goto(`${appUrl}/callback?code=x&state=y&iss=${encodeURIComponent(api.services.config.baseUrl)}`);
    await page.getByText('The sign-in failed.').waitFor();

    await page.goto(appUrl);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).origin).toBe(appUrl);
    expect(await api.rows('select from session where account_id = $1 and revoked_at is null', [ada.id])).toEqual([]);
    expect(await create()).toBe(401);
  },
);

test('a session that ends at Roster ends in the product in Python', MINUTES, async ({ api }) => {
  const { appUrl, serverUrl } = await startProduct(api, 'python-fastapi', IN_PYTHON);
  const ada = await withPassword(api);
  await api.aTeam({ owner: ada, name: 'Engines' });
  const page = await openPage(await aBrowser(), `${appUrl}/sign-in`);
  await signInAtRoster(page, ada.email);
  await page.getByText('Signed in as').waitFor();
  const forged = new URLSearchParams({ logout_token: 'x.y.z' });
  expect((await fetch(`${serverUrl}/back-channel-logout`, { method: 'POST', body: forged })).status).toBe(400);

  await work(api);
  const elsewhere = await page.context().newPage();
  await elsewhere.goto(api.services.config.baseUrl);
  await elsewhere.evaluate(async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const { status } = await fetch('/trpc/auth.signOut', init);
    if (status !== 200) throw new Error(`The sign-out answered ${status}.`);
  });
  await expect
    .poll(async () => {
      await page.goto(appUrl);
      return page.getByRole('link', { name: 'Sign in' }).count();
    })
    .toBe(1);
});

test(
  'the product with Next signs users in and out, and its pages and routes know team and permission',
  MINUTES,
  async ({ api }) => {
    const { appUrl } = await startProduct(api, 'next-app', {
      port: 4500,
      prints: () => /Ready in/,
      env: { NEXT_TELEMETRY_DISABLED: '1' },
    });
    const [ada, grace] = [await withPassword(api), await api.anAccount()];
    await api.aTeam({ owner: ada, name: 'Engines' });
    const mills = await api.aTeam({ owner: grace, name: 'Mills' });
    await api.aMember(mills, ada, { role: 'member' });
    const page = await openPage(await aBrowser(), appUrl);
    page.setDefaultTimeout(120_000); // Next compiles each route when it is opened.
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signInAtRoster(page, ada.email);
    await page.getByText(`Signed in as ${ada.email}`).waitFor();

    // What is chosen before the scripts of the page run is lost.
    await page.waitForLoadState('networkidle');
    await page.getByLabel('Team', { exact: true }).selectOption('Engines');
    await page.getByLabel('Title').fill('Invoice 1');
    await page.getByRole('button', { name: 'Create invoice' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Invoice 1' }).waitFor();

    await page.getByLabel('Team', { exact: true }).selectOption('Mills');
    await page.getByText('Your role cannot create invoices.').waitFor();
    const statusOf = (method: string) =>
      page.evaluate(async (asked) => {
        const init = asked === 'GET' ? {} : { method: asked, body: JSON.stringify({ title: 'x' }) };
        return (await fetch('/api/invoices', init)).status;
      }, method);
    expect([await statusOf('GET'), await statusOf('POST')]).toEqual([200, 403]);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).origin).toBe(appUrl);
    expect(await statusOf('GET')).toBe(401);
  },
);
