import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, authorizePath, keepShot, linkIn, shows, signInAs, test } from './console.ts';

const LOOKS = [
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'dark', width: 1280 },
] as const;

const LONG_NAME = 'Böhm & Söhne, with a name as long as a name of a team or a client may sensibly be';

type Scene = readonly [
  name: string,
  show: (api: Api, open: (path: string, as?: { id: string }) => Promise<Page>) => Promise<Page>,
];

/** Every page, with what it shows at different times. */
const SCENES: readonly Scene[] = [
  ['sign-in', async (_api, open) => shown(await open('/sign-in'), 'Sign in')],
  [
    'sign-in-refused',
    async (_api, open) => {
      const page = await open('/sign-in');
      await signInAs(page, 'nobody@example.com', 'wrong password');
      await page.getByRole('alert').waitFor();
      return page;
    },
  ],
  ['sign-up', async (_api, open) => shown(await open('/sign-up'), 'Create your account')],
  [
    'sign-up-faults',
    async (_api, open) => {
      const page = await shown(await open('/sign-up'), 'Create your account');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByText('Use at least 8 characters.').waitFor();
      return page;
    },
  ],
  ['verify-email', async (_api, open) => shown(await open('/verify-email?token=none'), 'Verify your address')],
  [
    'verify-email-refused',
    async (_api, open) => {
      const page = await open('/verify-email?token=none');
      await page.getByRole('button', { name: 'Verify the address' }).click();
      await page.getByRole('alert').waitFor();
      return page;
    },
  ],
  ['incomplete-link', async (_api, open) => shown(await open('/verify-email'), 'The link is not complete')],
  ['forgot-password', async (_api, open) => shown(await open('/forgot-password'), 'Reset your password')],
  ['reset-password', async (_api, open) => shown(await open('/reset-password?token=none'), 'Choose a new password')],
  ['confirm-email', async (_api, open) => shown(await open('/confirm-email?token=none'), 'Confirm your new address')],
  ['invitation', async (api, open) => shown(await open(await invitationLink(api)), /^Join/)],
  [
    'invitation-for-another',
    async (api, open) => {
      const page = await open(await invitationLink(api), await aPerson(api));
      await page.getByText('The invitation is for another address').waitFor();
      return page;
    },
  ],
  [
    'home-empty',
    async (api, open) => {
      const page = await open('/', await aPerson(api));
      await page.getByText('You are in no team yet').waitFor();
      return page;
    },
  ],
  [
    'home',
    async (api, open) => {
      const person = await aPerson(api);
      await api.rows('update account set email_verified_at = null where id = $1', [person.id]);
      await api.aTeam({ owner: person, name: 'Analytical Engine' });
      await api.aMember(
        await api.aTeam({ name: 'Böhm & Söhne, a team with a name as long as a name of a team may sensibly be' }),
        person,
        { role: 'member' },
      );
      const page = await open('/', person);
      await page.getByText('Analytical Engine').waitFor();
      return page;
    },
  ],
  [
    'create-team',
    async (api, open) => {
      const page = await open('/', await aPerson(api));
      await page.getByRole('button', { name: 'Create a team' }).click();
      await page.getByRole('dialog').getByLabel('Name of the team').waitFor();
      return page;
    },
  ],
  [
    'account',
    async (api, open) => {
      const person = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
      await api.aSession(person, { browser: 'Firefox' });
      await api.aGrant(person, { client: await api.anOAuthClient({ name: 'Backup' }), scopes: SCOPES });
      await api.aGrant(person, {
        client: await api.anOAuthClient({ name: LONG_NAME }),
        scopes: ['teams:read', 'members:read'],
        team: await api.aTeam({ owner: person, name: LONG_NAME }),
      });
      const page = await open('/account', person);
      await page.getByRole('button', { name: 'Sign out Firefox' }).waitFor();
      await page.getByRole('button', { name: 'Change access of Backup' }).waitFor();
      return page;
    },
  ],
  [
    'delete-account',
    async (api, open) => {
      const page = await open('/account', await aPerson(api));
      await page.getByRole('button', { name: 'Delete the account…' }).click();
      await page.getByRole('dialog').getByLabel('Password', { exact: true }).waitFor();
      return page;
    },
  ],
  [
    'developer',
    async (api, open) => {
      const person = await aPerson(api);
      await api.anOAuthClient({ name: 'Planner', owner: person, native: true, redirectUri: 'com.example.planner:/' });
      const { id } = await api.anOAuthClient({ name: LONG_NAME, owner: person, confidential: true });
      const { trpc } = await signedIn(api, person);
      await trpc.oauthClients.rotateSecret.mutate({ clientId: id, overlapHours: 24 });
      const page = await open('/developer', person);
      await page.getByRole('button', { name: 'Edit Planner' }).waitFor();
      return page;
    },
  ],
  [
    'register-client',
    async (api, open) => {
      const page = await open('/developer', await aPerson(api));
      await page.getByRole('button', { name: 'Register an application' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Planner');
      await page.getByLabel('Redirect addresses').fill('http://planner.example/callback');
      await page.getByRole('button', { name: 'Register', exact: true }).click();
      await page.getByText('must use https').waitFor();
      return page;
    },
  ],
  [
    'client-secret',
    async (api, open) => {
      const person = await aPerson(api);
      await api.anOAuthClient({ name: 'Planner', owner: person, confidential: true });
      const page = await open('/developer', person);
      await page.getByRole('button', { name: 'Make a new secret for Planner' }).click();
      await page.getByRole('button', { name: 'Make a new secret', exact: true }).click();
      await page.getByRole('dialog', { name: 'The new secret' }).waitFor();
      return page;
    },
  ],
  [
    'consent',
    async (api, open) => {
      const client = await api.anOAuthClient({ name: 'Planner', owner: await api.anAccount() });
      const page = await open(authorizePath(client, SCOPES), await aPerson(api));
      return shown(page, 'Planner asks for access');
    },
  ],
  [
    'consent-for-a-team',
    async (api, open) => {
      const person = await aPerson(api);
      await api.aTeam({ owner: person, name: LONG_NAME });
      await api.aTeam({ owner: person, name: 'Analytical Engine' });
      const client = await api.anOAuthClient({ name: 'Planner' });
      const page = await shown(await open(authorizePath(client, SCOPES), person), 'Planner asks for access');
      await page.getByLabel('Only one team').check();
      await page.getByLabel('Team', { exact: true }).waitFor();
      return page;
    },
  ],
  ['no-such-page', async (_api, open) => shown(await open('/no-such-page'), 'There is no such page')],
  [
    'members',
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
      await page.getByText(/^Offered to/).waitFor();
      return page;
    },
  ],
  [
    'members-none-found',
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('searchbox').fill(LONG_NAME);
      await page.getByText('Nobody matches').waitFor();
      return page;
    },
  ],
  [
    'members-menu',
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
      await page.getByRole('menuitem', { name: 'Deactivate' }).waitFor();
      return page;
    },
  ],
  [
    'members-offered',
    async (api, open) => {
      const { nominee, path } = await aCrowd(api);
      const page = await open(path, nominee);
      await page.getByRole('button', { name: /^Accept the ownership/ }).waitFor();
      await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
      return page;
    },
  ],
  [
    'accept-ownership',
    async (api, open) => {
      const { nominee } = await aCrowd(api);
      const page = await open('/', nominee);
      await page.getByRole('button', { name: /^Accept the ownership/ }).click();
      await page.getByRole('dialog').waitFor();
      return page;
    },
  ],
  [
    'leave-team',
    async (api, open) => {
      const { nominee, path } = await aCrowd(api);
      const page = await open(path, nominee);
      await page.getByRole('button', { name: 'Leave the team…' }).click();
      await page.getByRole('dialog').waitFor();
      return page;
    },
  ],
  ...(
    [
      ['change-role', 'Change role…'],
      ['member-expiry', 'Change the end date…'],
      ['remove-member', 'Remove…'],
      ['offer-ownership', 'Offer the ownership…'],
    ] as const
  ).map(([name, action]): Scene => [
    name,
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
      await page.getByRole('menuitem', { name: action }).click();
      await page.getByRole('dialog').getByRole('button').last().waitFor();
      if (name === 'remove-member') await page.getByText('This stops working:').waitFor();
      return page;
    },
  ]),
  [
    'audit-empty',
    async (api, open) => {
      const owner = await api.anAccount();
      const team = await api.aTeam({ owner });
      return shown(await open(`/teams/${team.id}/audit`, owner), 'Audit log');
    },
  ],
  [
    'audit',
    async (api, open) => {
      const owner = await api.anAccount({ firstName: 'Wolfeschlegelsteinhausenbergerdorff', lastName: 'Senior' });
      const team = await api.aTeam({ owner });
      const { trpc } = await signedIn(api, owner);
      const teamId = team.id;
      await trpc.roles.create.mutate({ teamId, name: 'Everybodywhomayinviteandremove', permissions: [] });
      await trpc.createApiKey.mutate({ name: 'Nightly export', scopes: ['teams:read'], teamId });
      await trpc.updateTeam.mutate({ teamId, name: 'Kites' });
      await api.rows(
        `insert into audit_event (id, occurred_at, event, actor_kind, team_id, actor_id, address, request_id, details, count)
         values ('evt_zzz', now(), 'access.refused', 'session', $1, $2, '2001:db8:85a3:8d3:1319:8a2e:370:7348', $3, '{}', 17)`,
        [teamId, owner.id, 'r'.repeat(128)],
      );
      const page = await open(`/teams/${teamId}/audit`, owner);
      await page.getByRole('list', { name: 'Events' }).getByRole('listitem').nth(3).waitFor();
      return page;
    },
  ],
];

/** A team with members in every state, some with long names, that is offered to one of them. */
async function aCrowd(api: Api) {
  const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner, name: LONG_NAME });
  const nominee = await aPerson(api, { firstName: LONG_NAME, lastName: 'Müller' });
  const grace = await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' });
  const nameless = await api.anAccount({
    email: `a-rather-long-address-of-somebody.${crypto.randomUUID()}@example.com`,
  });
  const past = await api.anAccount({ firstName: 'Charles', lastName: 'Babbage' });
  await api.aMember(team, nominee, { role: 'member' });
  await api.aMember(team, grace, { role: 'member', expiresAt: new Date('2099-01-31T23:59:59Z') });
  await api.aMember(team, nameless, { active: false });
  await api.aMember(team, past, { expiresAt: new Date('2020-01-31T23:59:59Z') });
  await api.anApiKey(grace, { team });
  await api.aGrant(grace, { team });
  await api.rows(
    `insert into ownership_transfer (team_id, nominee_id, expires_at, created_at)
     values ($1, $2, now() + interval '7 days', now())`,
    [team.id, nominee.id],
  );
  return { owner, nominee, path: `/teams/${team.id}/members` };
}

async function shown(page: Page, name: string | RegExp): Promise<Page> {
  await shows(page, name);
  return page;
}

async function invitationLink(api: Api): Promise<string> {
  const owner = await api.anAccount({ firstName: 'Charles', lastName: 'Babbage' });
  const team = await api.aTeam({ owner, name: 'Analytical Engine' });
  const email = `invited-${crypto.randomUUID()}@example.com`;
  const { trpc } = await signedIn(api, owner);
  await trpc.createTeamInvitation.mutate({ teamId: team.id, email, roleId: 'member', isSystemRole: true });
  return linkIn(await api.mailTo(email, /invitation/i));
}

/** Waits, within a bound, until nothing moves: half-transparent text has other colors. */
const settled = async (page: Page) =>
  await expect
    .poll(() => page.evaluate("document.getAnimations().filter(({ playState }) => playState === 'running').length"), {
      timeout: 5000,
    })
    .toBe(0);

/** What hides a part of its content for being too narrow; fields scroll, and what is hidden from sight is meant so. */
const CUT_OFF = `[...document.querySelectorAll('body *:not(input)')]
  .filter((e) => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible')
  .map((e) => e.outerHTML.slice(0, 120))`;

describe.skipIf(!hasChromium)('every page, light and dark, on a phone and on a desk', () => {
  test.for(SCENES)(
    '%s is free of violations that axe can find, and is no wider than the window',
    async ([name, show], { api, open }) => {
      const page = await show(api, (path, as) => open(path, as === undefined ? {} : { as }));
      for (const { colorScheme, width } of LOOKS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe(colorScheme);
        await settled(page);
        await keepShot(page, `${name}-${width}-${colorScheme}`);

        const look = `${name}, ${colorScheme}, ${width}`;
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        expect(found, look).toEqual([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'),
          look,
        ).toBeLessThanOrEqual(0);
        expect(await page.evaluate(CUT_OFF), `${look}: text that is cut off`).toEqual([]);
      }
    },
  );
});
