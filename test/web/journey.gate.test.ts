import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { exchange, test } from './application.ts';
import { authorizePath, linkIn, PASSWORD, shows, chooseOf } from './console.ts';

const TEAM = 'Analytical Engine';

describe.skipIf(!hasChromium)('what two people do with a team, from the first page to the last', () => {
  // Some sixty pages and dialogs, one after another.
  test(
    'signing up, inviting, roles, keys, applications, removing, handing over and leaving',
    {
      timeout: 180_000,
    },
    async ({ api, app, open }) => {
      const [ada, max] = [anAddress('ada'), anAddress('max')];
      const [adas, maxs] = [await open('/sign-up'), await open('/sign-in')];

      await signUp(api, adas, ada, 'Ada');
      await adas.getByRole('button', { name: 'Create team' }).click();
      await adas.getByLabel('Team name').fill(TEAM);
      await adas.getByRole('dialog').getByRole('button', { name: 'Create team' }).click();
      await shows(adas, 'Overview');

      // A role of the team’s own, and an invitation to it that is accepted in another browser.
      await goTo(adas, 'Roles');
      await adas.getByRole('button', { name: 'Create role' }).click();
      await adas.getByRole('dialog').getByLabel('Name').fill('Engineer');
      await adas.getByRole('dialog').getByLabel('View members and roles').check();
      await adas.getByRole('dialog').getByRole('button', { name: 'Create role' }).click();
      await adas.getByText('Role “Engineer” created.').waitFor();
      await join(api, adas, maxs, max, 'Engineer');

      // Max may see the team and no more, until the role does.
      await maxs.getByRole('link', { name: TEAM }).click();
      await goTo(maxs, 'Members');
      expect(await tabs(maxs).getByRole('link', { name: 'API keys' }).count()).toBe(0);
      await goTo(adas, 'Roles');
      await chooseOf(adas, 'Engineer', 'Edit Engineer');
      await adas.getByRole('dialog').getByLabel('Manage the team’s API keys').check();
      await adas.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await adas.getByText('Role “Engineer” changed').waitFor();

      // A key of the team’s, in use; another secret for it; and its end.
      await maxs.reload();
      await goTo(maxs, 'API keys');
      await maxs.getByRole('button', { name: 'Create key' }).click();
      await maxs.getByRole('dialog').getByLabel('Name').fill('Deployment');
      await maxs.getByRole('dialog').getByLabel('See teams and their details').check();
      await maxs.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      const first = await secretOnce(maxs);
      expect((await teamsBy(api, first)).body).toMatchObject([{ name: TEAM }]);
      await chooseOf(maxs, 'Deployment', 'Rotate secret of Deployment');
      await maxs.getByLabel('Current secret stays valid').selectOption('For 1 hour');
      await maxs.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
      const second = await secretOnce(maxs);
      expect([(await teamsBy(api, first)).status, (await teamsBy(api, second)).status]).toEqual([200, 200]);
      await chooseOf(maxs, 'Deployment', 'Revoke Deployment');
      await maxs.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await maxs.getByText('Key revoked.').waitFor();
      expect(await teamsBy(api, first)).toBeProblem('credential_invalid');
      expect(await teamsBy(api, second)).toBeProblem('credential_invalid');

      // An application gets in, keeps less of it, and nothing in the end.
      await maxs.goto(authorizePath(app, ['teams:read', 'members:read']));
      await maxs.getByLabel('The whole account').check();
      await maxs.getByRole('button', { name: 'Approve' }).click();
      await shows(maxs, 'Back in the application');
      const { access_token: token } = await exchange(api, app, app.arrivals.at(-1)?.query['code']);
      expect((await teamsBy(api, token)).body).toMatchObject([{ name: TEAM }]);
      await maxs.goto('/account');
      await chooseOf(maxs, 'Planner', 'Change access of Planner');
      await maxs.getByRole('dialog').getByLabel('See teams and their details').uncheck();
      await maxs.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await maxs.getByText('Access changed.').waitFor();
      expect(await teamsBy(api, token)).toBeProblem('scope_missing');
      await chooseOf(maxs, 'Planner', 'Revoke the access of Planner');
      await maxs.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await maxs.getByText('No application has access to your account.').waitFor();
      expect(await teamsBy(api, token)).toBeProblem('credential_invalid');

      // Removed, Max sees the team no more; invited again, the team becomes theirs, and Ada leaves it.
      await goTo(adas, 'Members');
      await choose(adas, 'Max', 'Remove…');
      await adas.getByRole('dialog').getByRole('button', { name: 'Remove member', exact: true }).click();
      await adas.getByText('“Max” removed.').waitFor();
      await maxs.goto('/');
      await maxs.getByText('You are not in a team yet').waitFor();
      await join(api, adas, maxs, max, 'Member');
      await goTo(adas, 'Members');
      await choose(adas, 'Max', 'Offer ownership…');
      await adas.getByRole('dialog').getByRole('button', { name: 'Offer ownership' }).click();
      await adas.getByText('Ownership offered to “Max”.').waitFor();
      await maxs.reload();
      await maxs.getByRole('button', { name: `Accept ownership of ${TEAM}` }).click();
      await maxs.getByRole('button', { name: 'Become owner' }).click();
      await maxs.getByText(`You are now the owner of “${TEAM}”.`).waitFor();
      await adas.reload();
      await goTo(adas, 'Settings');
      await adas.getByRole('button', { name: 'Leave team…' }).click();
      await adas.getByRole('dialog').getByRole('button', { name: 'Leave team' }).click();

      await adas.getByText('You are not in a team yet').waitFor();
      await maxs.getByRole('link', { name: TEAM }).click();
      await goTo(maxs, 'Members');
      await maxs.getByRole('status').getByText('1 member').waitFor();
    },
  );
});

const anAddress = (name: string) => `${name}-${crypto.randomUUID()}@example.com`;

const teamsBy = (api: Api, secret: string) => api.as({ secret }).get('/api/v1/teams');

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Team' });

async function goTo(page: Page, tab: string): Promise<void> {
  await tabs(page).getByRole('link', { name: tab }).click();
  await shows(page, new RegExp(`^(Team )?${tab}`));
}

async function choose(page: Page, member: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${member}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

async function signUp(api: Api, page: Page, email: string, firstName: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('First name').fill(firstName);
  await page.getByRole('button', { name: 'Create account' }).click();
  await shows(page, 'Check your email'); // its cookie is there: without it, the link asks for the password
  await page.goto(linkIn(await api.mailTo(email, /verify/i)));
  await page.getByRole('button', { name: 'Verify email' }).click();
  await page.getByRole('link', { name: 'Go to your teams' }).click();
  await shows(page, 'Your teams');
}

/** Somebody is invited to a role, and accepts in their own browser, with a new account the first time. */
async function join(api: Api, inviter: Page, invited: Page, email: string, role: string): Promise<void> {
  await goTo(inviter, 'Invitations');
  await inviter.getByRole('button', { name: 'Invite people' }).first().click();
  const dialog = inviter.getByRole('dialog');
  await dialog.getByLabel('Email addresses').fill(email);
  await dialog.getByLabel(role, { exact: true }).check();
  await dialog.getByRole('button', { name: 'Send invitation' }).click();
  await dialog.getByText('1 invited.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await invited.goto(await newInvitationLink(api, email));
  await shows(invited, `Join “${TEAM}”`);
  const newcomer = invited.getByRole('link', { name: 'Sign up to accept' });
  const accept = invited.getByRole('button', { name: 'Accept invitation' });
  await newcomer.or(accept).waitFor();
  if ((await newcomer.count()) === 0) {
    await accept.click();
    await shows(invited, 'Overview');
    await invited.getByText(`You are now a member of “${TEAM}”.`).waitFor();
    await invited.goto('/');
  } else {
    await newcomer.click();
    await invited.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await invited.getByLabel('First name').fill('Max');
    await invited.getByRole('button', { name: 'Create account' }).click();
  }
  await shows(invited, 'Your teams');
  await invited.getByRole('link', { name: TEAM }).waitFor();
}

const opened = new Set<string>();

/** The link of the latest invitation. Of one who is invited again, the email of before can be the latest for a while. */
async function newInvitationLink(api: Api, email: string): Promise<string> {
  let link = '';
  const isOpened = async () => opened.has((link = linkIn(await api.mailTo(email, /invitation/i))));
  await expect.poll(isOpened).toBe(false);
  opened.add(link);
  return link;
}

/** The secret of a key, from the dialog that shows it once. */
async function secretOnce(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog');
  const value = dialog.locator('dl > div', { has: page.locator('dt', { hasText: 'Secret' }) }).locator('code');
  const secret = await value.innerText();
  await dialog.getByRole('button', { name: 'Done' }).click();
  return secret;
}
