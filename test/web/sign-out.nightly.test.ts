import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { test } from './application.ts';
import { authorizePath, shows } from './console.ts';

describe.skipIf(!hasChromium)('the logout by an application', () => {
  test('asks, and goes back to the application with the state once the user has signed out', async ({
    api,
    app,
    open,
  }) => {
    const { id: clientId, redirectUri } = app;
    await api.rows('update oauth_client set post_logout_redirect_uris = $2 where id = $1', [clientId, [redirectUri]]);
    const account = await api.anAccount();
    const asked = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: redirectUri, state: 'a b' });
    const page = await open(`/oauth/logout?${asked.toString()}`, { as: account });
    await shows(page, 'Sign out?');
    await page.getByRole('main').getByText(account.email).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await shows(page, 'Back in the application');
    expect(app.arrivals.at(-1)?.query).toEqual({ state: 'a b' });
    const rows = await api.rows('select from session where account_id = $1 and revoked_at is null', [account.id]);
    expect(rows).toEqual([]);
  });

  test('can be declined, and says so to who is signed out', async ({ api, open }) => {
    const page = await open('/oauth/logout', { as: await api.anAccount() });
    await page.getByRole('link', { name: 'Stay signed in' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/');
    const stranger = await open('/oauth/logout');
    await shows(stranger, 'You are signed out');
    const german = await open('/oauth/logout?ui_locales=de-CH');
    await shows(german, 'Sie sind abgemeldet');
  });
});

describe.skipIf(!hasChromium)('the page for an application that asks who the user is', () => {
  const withOpenId = (path: string, more: Readonly<Record<string, string>>) => {
    const [at = '', query] = path.split('?');
    return `${at}?${new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(query)), ...more }).toString()}`;
  };

  test('shows what it learns, and nothing else to choose; in its language', async ({ api, open }) => {
    const client = await api.anOAuthClient();
    await api.rows('update oauth_client set openid_scopes = $2 where id = $1', [client.id, ['openid', 'email']]);
    const path = withOpenId(authorizePath(client, ['teams:read']), { scope: 'openid email' });
    const page = await open(path, { as: await api.anAccount() });
    await page.getByText('Your email address').waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Approve' }).isEnabled()).toBe(true);
    const german = await open(withOpenId(path, { ui_locales: 'de' }), { as: await api.anAccount() });
    await german.getByText('Ihre E-Mail-Adresse').waitFor();
  });

  test('begins with the sign-up if the application asks for it', async ({ api, open }) => {
    const client = await api.anOAuthClient();
    await api.rows('update oauth_client set openid_scopes = $2 where id = $1', [client.id, ['openid']]);
    const path = withOpenId(authorizePath(client, ['teams:read']), { scope: 'openid', prompt: 'create' });
    const page = await open(path);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/sign-up');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await expect.poll(() => page.url()).toMatch(/\/sign-in\?next=.*consent/);
  });
});
