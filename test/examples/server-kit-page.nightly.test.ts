import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { packClient } from '../clients/packed-client.ts';
import { openPage, signInAtRoster, startApiAtAName, withPassword } from '../interop/products.ts';
import { startCommand, temporaryFolder } from '../interop/programs.ts';
import { MINUTES, NPM_ENVIRONMENT, runInRoster } from '../interop/readmes.ts';
import { testWith } from '../support/api.ts';
import { launchBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';

const test = testWith(() => startApiAtAName());

beforeAll(() => packClient());

// Guarantees that a stranger has a protected route after the commands and the file of one page, and nothing else.
test('docs/server-kit.md goes from nothing to a protected route', MINUTES, async ({ api }) => {
  const port = String(await freePort());
  const page = readFileSync(join(import.meta.dirname, '../../docs/server-kit.md'), 'utf8');
  const values = new Map([
    ['http://auth.localhost:3000', api.services.config.baseUrl],
    ['http://localhost:3000', `http://127.0.0.1:${api.port}`],
    ['4300', port],
  ]);
  const blocks = [...page.matchAll(/```(?:sh|ts)\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const filled = () =>
    blocks.map((block) => [...values].reduce((text, [from, to]) => text.replaceAll(from, to), block));
  const [createClient = '', setLogout = ''] = filled()[0]?.split(/^(?=.*set-logout)/m) ?? [];
  const created = await runInRoster(api, createClient);
  for (const [name, pattern] of [
    ['client_…', /client_\w+/],
    ['rst_cs_…', /rst_cs_\w{40,}/],
  ] as const)
    values.set(name, pattern.exec(created)?.[0] ?? '');
  await runInRoster(api, setLogout.replaceAll('client_…', values.get('client_…') ?? ''));
  const [, install, server = '', start] = filled();
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
  writeFileSync(join(cwd, 'server.ts'), server);
  // The Node.js of the service runs TypeScript.
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  startCommand(`${install}\n${start}`, { cwd, env: { ...NPM_ENVIRONMENT, PATH } });
  const ask = () => fetch(`http://127.0.0.1:${port}/api/invoices`).catch(() => undefined);
  await expect.poll(async () => (await ask())?.status, { timeout: MINUTES.timeout }).toBe(401);

  const ada = await withPassword(api);
  const team = await api.aTeam({ owner: ada, name: 'Engines' });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const shown = await openPage(browser, `http://app.localhost:${port}`);
  await shown.getByRole('link', { name: 'Sign in' }).click();
  await signInAtRoster(shown, ada.email);
  await shown.getByText(`"team":"${team.slug}"`).waitFor();
  expect(new URL(shown.url()).pathname).toBe('/api/invoices');
});
