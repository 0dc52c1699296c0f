import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { packClient } from '../clients/packed-client.ts';
import { testWith, type Api } from '../support/api.ts';
import { launchBrowser } from '../support/chromium.ts';
import {
  openPage,
  PASSWORD,
  recordRequests,
  signInAtRoster,
  startApiAtAName,
  startProduct,
  withPassword,
} from '../interop/products.ts';
import { MINUTES } from '../interop/readmes.ts';
import { setLastProof } from '../support/sessions.ts';
import { as } from '../trpc/console.ts';
import { dispatch, numberEvents } from '../webhooks/receiver.ts';

const test = testWith(() => startApiAtAName({ WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8' }));

beforeAll(() => packClient());

/** Makes the proofs of a user too old for what needs a recent one, and those of the tokens of products. */
async function age(api: Api, account: { id: string }): Promise<void> {
  await setLastProof(api, 11, account);
  await api.rows(
    `update oauth_token_family set proofs = (select jsonb_object_agg(key, now() - interval '11 minutes')
     from jsonb_object_keys(proofs) key)`,
  );
}

// Guarantees what a company needs of Roster for its product, by the commands of the README alone.
test('users of a product sign in, switch teams, create keys for its API, and sign out', MINUTES, async ({ api }) => {
  const ada = await withPassword(api);
  const [grace, bob] = [await api.anAccount(), await api.anAccount()];
  const engines = await api.aTeam({ owner: ada, name: 'Engines' });
  const { webhooks, members, removeTeamMember } = await as(api, ada);
  const { endpoint, secret: webhookSecret } = await webhooks.create.mutate({
    teamId: engines.id,
    url: 'http://127.0.0.1:9/',
  });
  const { appUrl, serverUrl } = await startProduct(api, 'vite-express', {
    port: 4300,
    prints: (url) => new RegExp(`^${url}$`, 'm'),
    env: { WEBHOOK_SECRET: webhookSecret ?? '' },
  });
  await webhooks.update.mutate({
    teamId: engines.id,
    endpointId: endpoint.endpointId,
    url: `${serverUrl}/webhooks/roster`,
  });
  const mills = await api.aTeam({ owner: grace, name: 'Mills' });
  await api.aMember(mills, ada, { role: 'member' });
  for (const account of [grace, bob]) await api.aMember(engines, account, { role: 'member' });
  const sessions = () => api.rows('select id from session where account_id = $1 and revoked_at is null', [ada.id]);
  const before = await sessions();
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await openPage(browser, appUrl);

  const requests = recordRequests(page, { product: appUrl, Roster: api.services.config.baseUrl });
  await page.getByRole('link', { name: 'Sign in' }).click();
  await signInAtRoster(page, ada.email);
  await page.getByText(`Signed in as ${ada.email}`).waitFor();
  expect(new URL(page.url()).origin).toBe(appUrl);
  const atSignIn = requests.documents.splice(0);

  await page.getByLabel('Team', { exact: true }).selectOption('Engines');
  await page.getByLabel('Title').fill('Invoice 1');
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await page.getByRole('listitem').filter({ hasText: 'Invoice 1' }).waitFor();

  // What was entered stays, also of a proof that was not given, and the call is sent again after one.
  await age(api, ada);
  await page.getByLabel('Title').fill('A draft');
  await page.getByLabel('Name of the key').fill('Program');
  const askForProof = async () => {
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Create key' }).click();
    return opened;
  };
  const unanswered = await askForProof();
  await unanswered.getByRole('button', { name: `Continue as ${ada.email}` }).waitFor();
  await unanswered.close();
  // A browser without a screen has no focus to give back.
  await page.evaluate(`dispatchEvent(new Event('focus'))`);
  await page.getByRole('alert').waitFor();
  const proof = await askForProof();
  await proof.getByRole('button', { name: `Continue as ${ada.email}` }).click();
  const dialog = proof.getByRole('dialog');
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  const closed = proof.waitForEvent('close');
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
  await closed;
  await page.getByRole('status').waitFor();
  expect(await page.getByLabel('Title').inputValue()).toBe('A draft');
  requests.documents.length = 0;
  const secret = await page.getByRole('status').getByRole('code').textContent();
  const ask = (key: string) => fetch(`${serverUrl}/api/invoices`, { headers: { authorization: `Bearer ${key}` } });
  expect(await (await ask(secret ?? '')).json()).toMatchObject([{ title: 'Invoice 1' }]);
  expect((await ask('rst_tk_x')).status).toBe(401);

  await page.getByLabel(`Role of ${grace.email}`).selectOption('Guest');
  await expect
    .poll(() =>
      api.rows('select role_id from membership where account_id = $1 and team_id = $2', [grace.id, engines.id]),
    )
    .toEqual([{ role_id: 'guest' }]);

  // The copy of members follows webhooks.
  const copied = () =>
    page.evaluate(`fetch('/app/members').then((response) => response.json())`) as Promise<readonly string[]>;
  await members.setRole.mutate({ teamId: engines.id, accountId: bob.id, roleId: 'guest' });
  dispatch(api);
  await numberEvents(api);
  await expect.poll(async () => (await copied()).toSorted()).toEqual([grace.email, bob.email].toSorted());
  await removeTeamMember.mutate({ teamId: engines.id, userId: grace.id });
  await (await as(api, bob)).teams.leave.mutate({ teamId: engines.id });
  await numberEvents(api);
  await expect.poll(copied).toEqual([]);
  requests.calls.delete('/app/members');
  expect((await fetch(`${serverUrl}/webhooks/roster`, { method: 'POST', body: '{}' })).status).toBe(401);

  // As a member of the other team, the user cannot create invoices there, nor see those of the first.
  await page.getByLabel('Team', { exact: true }).selectOption('Mills');
  await page.getByText('Your role cannot create invoices.').waitFor();
  await expect.poll(() => page.getByText('Invoice 1').count()).toBe(0);
  expect(
    await page.evaluate(async () => {
      const body = JSON.stringify({ title: 'x' });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      return (await fetch('/app/invoices', init)).status;
    }),
  ).toBe(403);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in' }).waitFor();
  const atSignOut = requests.documents.splice(0);
  expect(await sessions()).toEqual(before);

  const journey = readFileSync(join(import.meta.dirname, '../../docs/journey.md'), 'utf8');
  const listed = [...journey.matchAll(/```text\n([\s\S]*?)\n```/g)].map(([, lines = '']) => lines.split('\n'));
  const [signIn, , signOut] = listed; // between them, what test/clients/server-kit.gate.test.ts compares
  expect([signIn, signOut]).toEqual([atSignIn, atSignOut]);
  for (const call of requests.calls) expect(journey, `docs/journey.md lacks ${call}`).toContain(call);
});
