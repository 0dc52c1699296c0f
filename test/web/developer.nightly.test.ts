import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { hasChromium } from '../support/chromium.ts';
import type { Api } from '../support/api.ts';
import { aPerson, chooseOf, openMenuOf, shows, test } from './console.ts';

const rowOf = (page: Page, client: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: client, exact: true }) });

/** What a label of a list of values stands for. */
const valueOf = (page: Page, label: string) =>
  page
    .getByRole('dialog')
    .locator('dl > div', { has: page.locator('dt', { hasText: label }) })
    .locator('code')
    .innerText();

const clientsOf = (api: Api, { id }: { id: string }) =>
  api.rows(
    `select id, name, redirect_uris, is_native, is_confidential from oauth_client where account_id = $1 order by created_at`,
    [id],
  );

const createTokens = (api: Api, clientId: string) =>
  api.rows<{ secret_hash: Buffer; is_current: boolean; hours: number }>(
    `select secret_hash, expires_at is null as is_current,
       round(extract(epoch from expires_at - now()) / 3600)::int as hours
     from oauth_client_secret where client_id = $1 order by expires_at nulls first`,
    [clientId],
  );

describe.skipIf(!hasChromium)('the developer page', () => {
  // Guarantees that the secret is seen once: afterwards neither the page nor the service knows it.
  test('an application on a server is registered, and its secret is shown once', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/', { as: person });
    await page.getByRole('link', { name: 'Developer' }).click();
    await shows(page, 'Developer');
    await page.getByText('You have no applications').waitFor();

    await page.getByRole('button', { name: 'Register application' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByText('Required.').first().waitFor();
    await dialog.getByLabel('Name').fill('Planner');
    await dialog.getByLabel('Redirect URIs').fill('https://planner.example/callback\n\n  http://planner.example/other');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByText(/^Line 2: The redirect URI \S+ can use http only with 127\.0\.0\.1, /).waitFor();
    await dialog.getByLabel('Redirect URIs').fill('https://planner.example/callback\n');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('dialog', { name: '“Planner” registered' }).waitFor();

    const [client] = await clientsOf(api, person);
    const clientId = await valueOf(page, 'Client ID');
    const secret = await valueOf(page, 'Client secret');
    expect(client).toEqual({
      id: clientId,
      name: 'Planner',
      redirect_uris: ['https://planner.example/callback'],
      is_native: false,
      is_confidential: true,
    });
    expect((await createTokens(api, clientId)).map(({ secret_hash }) => secret_hash)).toEqual([hashSecret(secret)]);

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.getByRole('button', { name: 'Copy: Client secret' }).click();
    await dialog.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Done' }).click();

    expect(await rowOf(page, 'Planner').innerText()).toContain(`…${secret.slice(-4)}`);
    expect(await page.content()).not.toContain(secret);
  });

  test.for([
    ['In a browser', false, 'https://planner.example/'],
    ['On users’ devices', true, 'http://127.0.0.1/callback'],
  ] as const)('%s an application has no secret', async ([kind, isNative, redirectUri], { api, open }) => {
    const person = await aPerson(api);
    const page = await open('/developer', { as: person });
    await page.getByRole('button', { name: 'Register application' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Planner');
    await dialog.getByLabel(kind).check();
    await dialog.getByLabel('Redirect URIs').fill(redirectUri);
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByText('This application has no secret').waitFor();

    expect(await dialog.getByText('Client secret').count()).toBe(0);
    expect(await clientsOf(api, person)).toMatchObject([{ is_native: isNative, is_confidential: false }]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await rowOf(page, 'Planner').innerText()).toContain(kind);
    await openMenuOf(page, 'Planner');
    await page.getByRole('menuitem', { name: 'Edit Planner' }).waitFor();
    expect(await page.getByRole('menuitem', { name: /^Rotate/ }).count()).toBe(0);
  });

  test('a secret is rotated: the previous one works for the chosen time, or stops immediately', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const { id } = await api.anOAuthClient({ name: 'Planner', owner: person, confidential: true });
    const page = await open('/developer', { as: person });

    const first = await rotate('For 7 days');
    expect(await createTokens(api, id)).toMatchObject([
      { secret_hash: hashSecret(first), is_current: true },
      { is_current: false, hours: 168 },
    ]);
    expect(await rowOf(page, 'Planner').innerText()).toMatch(
      new RegExp(`…${first.slice(-4)}, created .*, current\\n…\\w{4}, created .*, valid until `),
    );

    const second = await rotate('Not at all');
    expect(await createTokens(api, id)).toMatchObject([{ secret_hash: hashSecret(second), is_current: true }]);
    expect(await rowOf(page, 'Planner').innerText()).not.toContain('valid until');

    async function rotate(overlap: string): Promise<string> {
      await chooseOf(page, 'Planner', 'Rotate secret of Planner');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Current secret stays valid').selectOption(overlap);
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog', { name: 'New client secret' }).waitFor();
      const secret = await valueOf(page, 'Client secret');
      await rowOf(page, 'Planner')
        .getByText(`…${secret.slice(-4)}`)
        .waitFor({ state: 'attached' });
      await dialog.getByRole('button', { name: 'Done' }).click();
      return secret;
    }
  });

  test('an application is renamed and redirected elsewhere, then deleted with what people gave it', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const client = await api.anOAuthClient({ name: 'Planner', owner: person });
    const grant = await api.aGrant(await api.anAccount(), { client });
    const page = await open('/developer', { as: person });
    const dialog = page.getByRole('dialog');
    await chooseOf(page, 'Planner', 'Edit Planner');
    expect(await dialog.getByLabel('Redirect URIs').inputValue()).toBe(client.redirectUri);
    await dialog.getByLabel('Name').fill('Scheduler');
    await dialog.getByLabel('Redirect URIs').fill('https://a.example/\nhttps://b.example/');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Application changed.').waitFor();
    expect(await clientsOf(api, person)).toMatchObject([
      { id: client.id, name: 'Scheduler', redirect_uris: ['https://a.example/', 'https://b.example/'] },
    ]);

    await chooseOf(page, 'Scheduler', 'Delete Scheduler');
    await dialog
      .getByText(/All access through “Scheduler” and the API keys it created are revoked immediately/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('You have no applications').waitFor();
    expect(await clientsOf(api, person)).toEqual([]);
    expect(await api.as(grant).get('/api/v1/credential')).toBeProblem('credential_invalid');
  });

  test('the endpoints are those of the metadata', async ({ api, open }) => {
    const page = await open('/developer', { as: await aPerson(api) });
    const endpoints = page.getByRole('region', { name: 'Endpoints' });
    await endpoints.waitFor();
    const [issuer, authorize, token, metadata = ''] = await endpoints.locator('code').allInnerTexts();

    const answer = await page.request.get(`http://127.0.0.1:${api.port}${new URL(metadata).pathname}`);
    expect(await answer.json()).toMatchObject({
      issuer,
      authorization_endpoint: authorize,
      token_endpoint: token,
    });
    expect(await endpoints.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe('/docs');
  });
});
