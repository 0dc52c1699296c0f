import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import type { AnAccount, ATeam } from '../support/factories.ts';
import { exchange, test } from './application.ts';
import { aPerson, authorizePath, chooseOf, PASSWORD, shows, signInAs } from './console.ts';

type Given = { readonly api: Api; readonly person: AnAccount; readonly team: ATeam };

/** Access that begins, as its notice tells of it, and how the page that the notice links to ends it. */
const ACCESS: readonly (readonly [
  notice: RegExp,
  begin: (given: Given) => Promise<unknown>,
  end: (page: Page) => Promise<unknown>,
  left: (given: Given) => Promise<unknown[]>,
])[] = [
  [
    /An API key was created/,
    async ({ api, person }) =>
      (await signedIn(api, person)).trpc.createApiKey.mutate({ name: 'Backups', scopes: ['teams:read'] }),
    async (page) => {
      await shows(page, 'Your API keys');
      await chooseOf(page, 'Backups', 'Revoke Backups');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    },
    ({ api, person }) => api.rows('select id from api_key where account_id = $1 and revoked_at is null', [person.id]),
  ],
  [
    /A webhook endpoint was created/,
    async ({ api, person, team }) =>
      (await signedIn(api, person)).trpc.webhooks.create.mutate({ teamId: team.id, url: 'https://hooks.example/' }),
    async (page) => {
      await shows(page, 'Webhooks');
      await chooseOf(page, 'https://hooks.example/', 'Delete https://hooks.example/');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: false }).click();
    },
    ({ api, team }) => api.rows('select id from webhook_endpoint where team_id = $1 and deleted_at is null', [team.id]),
  ],
  [
    /An invitation to a privileged role was sent/,
    async ({ api, person, team }) => {
      const { id: roleId } = await api.aRole(team, ['invite_members']);
      await (
        await signedIn(api, person)
      ).trpc.invitations.create.mutate({ teamId: team.id, email: 'thief@example.com', roleId, isSystemRole: false });
    },
    async (page) => {
      await shows(page, 'Invitations');
      await chooseOf(page, 'thief@example.com', /^Revoke/);
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Revoke/ })
        .click();
    },
    ({ api, team }) => api.rows('select id from invitation where team_id = $1', [team.id]),
  ],
];

/** The link of a notice, which names the page of the console. */
async function linkOf(api: Api, { email }: AnAccount, subject: RegExp): Promise<string> {
  const { text } = await api.mailTo(email, subject);
  const path = /^https?:\/\/[^\s/]+(\/\S+)$/m.exec(text)?.[1];
  if (path === undefined) throw new Error(`No link in: ${text}`);
  return path;
}

describe.skipIf(!hasChromium)('the link of a notice, opened while signed out', () => {
  test.for(ACCESS)(
    'leads through the sign-in to where the access is ended: %s',
    async ([notice, begin, end, left], { api, open }) => {
      const person = await aPerson(api);
      const team = await api.aTeam({ owner: person });
      const given = { api, person, team };
      await begin(given);
      expect(await left(given)).toHaveLength(1);

      const page = await open(await linkOf(api, person, notice));
      await shows(page, 'Sign in');
      await signInAs(page, person.email);
      await end(page);

      await expect.poll(() => left(given)).toEqual([]);
    },
  );

  test('leads to the part of the account page that ends it, for a connected app', async ({ api, app, open }) => {
    const person = await aPerson(api);
    const consent = await open(authorizePath({ ...app, clientSecret: null }, ['teams:read']), { as: person });
    await consent.getByLabel('The whole account').check();
    await consent.getByRole('button', { name: 'Approve' }).click();
    await shows(consent, 'Back in the application');
    await exchange(api, app, app.arrivals.at(-1)?.query['code']);
    const grants = () =>
      api.rows('select id from oauth_grant where account_id = $1 and revoked_at is null', [person.id]);
    expect(await grants()).toHaveLength(1);

    const page = await open(await linkOf(api, person, /An application was connected/));
    await shows(page, 'Sign in');
    await signInAs(page, person.email);
    await shows(page, 'Your account');
    expect(new URL(page.url()).hash).toBe('#apps');
    await chooseOf(page, 'Planner', /^Revoke/);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await expect.poll(grants).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('after a change of the password', () => {
  test('the page lists what else gives access, newest first, and one button revokes all of it', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    await api.aGrant(person);
    await api.anApiKey(person);
    await api.rows(
      `insert into passkey (id, account_id, name, credential_id, public_key, counter, transports, created_at)
       values ('pk_' || $1, $1, 'Laptop', $1, '\\x00', 0, '{}', now() - interval '1 year')`,
      [person.id],
    );
    await api.rows(`update api_key set created_at = now() - interval '1 day' where account_id = $1`, [person.id]);
    const rest = () =>
      api.rows(
        `select 'key' as what from api_key where account_id = $1 and revoked_at is null
         union all select 'app' from oauth_grant where account_id = $1 and revoked_at is null
         union all select 'passkey' from passkey where account_id = $1`,
        [person.id],
      );
    const page = await open('/account', { as: person });
    await shows(page, 'Your account');
    const part = page.getByRole('region', { name: 'Password' });
    expect(await page.getByRole('list', { name: 'Still has access' }).count()).toBe(0);

    await part.getByLabel('New password').fill(`another ${PASSWORD}`);
    await part.getByRole('button', { name: 'Change password' }).click();

    const rows = part.getByRole('list', { name: 'Still has access' }).getByRole('listitem');
    await rows.first().waitFor();
    const kinds = (await rows.allInnerTexts()).map(
      (text) => /app|key\b|Passkey/i.exec(text.split('\n').slice(1).join(' '))?.[0],
    );
    expect(kinds.map((kind) => kind?.toLowerCase())).toEqual(['app', 'key', 'passkey']);
    expect(await rest()).toHaveLength(3);

    await part.getByRole('button', { name: 'Revoke all' }).click();
    await part.getByText('All passkeys, API keys and connected apps were revoked').waitFor();
    expect(await rest()).toEqual([]);
  });
});
