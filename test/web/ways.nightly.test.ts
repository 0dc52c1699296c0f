import { describe, expect } from 'vitest';
import { aFirstParty, firstPartyTokens } from '../oauth/first-party-flow.ts';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import type { AClient } from '../support/factories.ts';
import { exchange, test } from './application.ts';
import { aPerson, authorizePath, linkIn, PASSWORD, shows } from './console.ts';

const SCOPES = ['teams:read', 'invites:write'] as const;

/** Makes the application one of the operator's own, with a page where its sign-in begins. */
async function makeFirstParty(api: Api, app: AClient): Promise<void> {
  await api.rows(
    `update oauth_client set source = 'operator', account_id = null, is_first_party = true, scopes = $2,
       initiate_login_uri = $3 where id = $1`,
    [app.id, SCOPES, new URL('/begin', app.redirectUri).href],
  );
}

const anEmail = () => `way-${crypto.randomUUID()}@example.com`;

describe.skipIf(!hasChromium)('a way that begins at an application', () => {
  test('ends there after a sign-up with a link by email, and says so', async ({ api, app, open }) => {
    await makeFirstParty(api, app);
    const email = anEmail();
    const page = await open(`${authorizePath(app, ['teams:read'])}&prompt=create`);
    await shows(page, 'Create your account');
    await page.getByText('Create an account to continue to “Planner”.').waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await shows(page, 'Check your email');

    await page.goto(linkIn(await api.mailTo(email, /^Verify/)));
    await page.getByText('Then you continue to “Planner”.').waitFor();
    await page.getByRole('button', { name: 'Verify email' }).click();
    // Of an application on the user's own device, which anyone could be.
    await page.getByRole('button', { name: `Continue as ${email}` }).click();
    await shows(page, 'Back in the application');
    const { code, state } = app.arrivals.at(-1)?.query ?? {};
    expect(state).toBe('a state');
    expect((await exchange(api, app, code)).access_token).toMatch(/./);
  });

  test('begins with the address that the application knows', async ({ api, app, open }) => {
    await makeFirstParty(api, app);
    const { email } = await aPerson(api);
    const path = `${authorizePath(app, ['teams:read'])}&login_hint=${encodeURIComponent(email)}`;
    const create = await open(`${path}&prompt=create`);
    await shows(create, 'Create your account');
    expect(await create.getByLabel('Email').inputValue()).toBe(email);

    const page = await open(path);
    await shows(page, 'Sign in');
    expect(await page.getByLabel('Email').inputValue()).toBe(email);
    // The password is what is left to enter.
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `Continue as ${email}` }).click();
    await shows(page, 'Back in the application');
  });

  test('ends there after a reset and with a sign-in link, from the page to sign in', async ({ api, app, open }) => {
    await makeFirstParty(api, app);
    const { email } = await aPerson(api);
    for (const [link, button, about] of [
      ['Forgot your password?', 'Send link', /password/i],
      ['Email me a sign-in link', 'Email me a sign-in link', /sign-in link/i],
    ] as const) {
      const page = await open(authorizePath(app, ['teams:read']));
      await page.getByRole('link', { name: link }).click();
      await page.getByText('Then you continue to “Planner”.').waitFor();
      await page.getByLabel('Email').fill(email);
      await page.getByRole('button', { name: button }).click();
      await shows(page, 'Check your email');
      await page.goto(linkIn(await api.mailTo(email, about)));
      if (button === 'Send link') {
        await page.getByLabel('New password', { exact: true }).fill('another heron 99');
        await page.getByRole('button', { name: 'Set password' }).click();
        await page.getByRole('link', { name: 'Continue to “Planner”' }).click();
        await page.getByLabel('Email').fill(email);
        await page.getByLabel('Password', { exact: true }).fill('another heron 99');
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      } else {
        await page.getByText('Then you continue to “Planner”.').waitFor();
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      }
      await page.getByRole('button', { name: `Continue as ${email}` }).click();
      await shows(page, 'Back in the application');
    }
  });

  test('ends there with an invitation that it sent, and the session lists it', async ({ api, app, open }) => {
    await makeFirstParty(api, app);
    const { account, visitor, client } = await aFirstParty(api, { name: 'Calendar', firstParty: [...SCOPES] });
    await api.rows('update oauth_client set initiate_login_uri = $2 where id = $1', [
      client.id,
      new URL('/begin', app.redirectUri).href,
    ]);
    const { access } = await firstPartyTokens(api, { client, visitor }, { scope: '' });
    const team = await api.aTeam({ owner: account, name: `Engine ${crypto.randomUUID().slice(0, 8)}` });
    const { email, id } = await aPerson(api);
    const invited = { email, roleId: 'member', isSystemRole: true };
    expect((await api.as(access).post(`/api/v1/teams/${team.id}/invitations`, invited)).status).toBeLessThan(300);

    const page = await open(linkIn(await api.mailTo(email, /invitation/i)));
    await page.getByText('Then you continue to “Calendar”.').waitFor();
    await page.getByRole('link', { name: 'Sign in to accept' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await shows(page, `Join “${team.name}”`);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await shows(page, 'Back in the application');
    const { pathname, searchParams } = new URL(page.url());
    expect([pathname, Object.fromEntries(searchParams)]).toEqual([
      '/begin',
      { iss: api.services.config.baseUrl, login_hint: id },
    ]);

    const own = await open('/account', { as: account });
    await own.getByText('Used by “Calendar”').waitFor();
  });
});
