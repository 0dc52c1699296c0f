import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, linkIn, PASSWORD, shows, signInAs, test } from './console.ts';

/** An invitation that was mailed, and the path of its link. */
async function invite(api: Api, email: string) {
  const owner = await api.anAccount({ firstName: 'Charles', lastName: 'Babbage' });
  const team = await api.aTeam({ owner, name: `Engine ${crypto.randomUUID().slice(0, 8)}` });
  const { trpc } = await signedIn(api, owner);
  await trpc.createTeamInvitation.mutate({ teamId: team.id, email, roleId: 'member', isSystemRole: true });
  return { team, link: linkIn(await api.mailTo(email, /invitation/i)) };
}

/** The same, with the path of a link that the inviter has copied. */
async function inviteWithLink(api: Api, email: string) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner, name: `Engine ${crypto.randomUUID().slice(0, 8)}` });
  const { trpc } = await signedIn(api, owner);
  const { link } = await trpc.invitations.create.mutate({ teamId: team.id, email });
  const { pathname, search } = new URL(link);
  return { team, link: pathname + search };
}

const stateOf = (api: Api, team: { id: string }) =>
  api.rows(
    `select (select count(*) from membership where team_id = $1)::int as members,
            (select count(*) from invitation where team_id = $1 and accepted_at is null)::int as pending`,
    [team.id],
  );

describe.skipIf(!hasChromium)('the page of an invitation', () => {
  test('opening it changes nothing; signing up with it creates a member', async ({ api, open }) => {
    const email = `invited-${crypto.randomUUID()}@example.com`;
    const { team, link } = await invite(api, email);
    const page = await open(link);
    await shows(page, `Join “${team.name}”`);
    expect(await page.getByRole('main').innerText()).toMatch(/Charles Babbage[\s\S]*Member/);
    await page.reload();
    await shows(page, `Join “${team.name}”`);
    expect(await stateOf(api, team)).toEqual([{ members: 1, pending: 1 }]);

    await page.getByRole('link', { name: 'Sign up to accept' }).click();
    await shows(page, 'Create your account');
    expect(await page.getByLabel('Email').inputValue()).toBe(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();

    await shows(page, 'Your teams');
    const row = page.getByRole('listitem').filter({ hasText: team.name });
    await row.waitFor();
    expect(await row.innerText()).toContain('Member');
    expect(await page.getByText('Email address not verified').count()).toBe(0);
    expect(await stateOf(api, team)).toEqual([{ members: 2, pending: 0 }]);
  });

  test('a user with an account signs in with it and accepts', async ({ api, open }) => {
    const person = await aPerson(api);
    const { team, link } = await invite(api, person.email);
    const page = await open(link);
    await page.getByRole('link', { name: 'Sign in to accept' }).click();
    await signInAs(page, person.email);
    await shows(page, `Join “${team.name}”`);
    await page.getByRole('button', { name: 'Accept invitation' }).click();

    await shows(page, 'Overview');
    await page.getByText(`You are now a member of “${team.name}”.`).waitFor();
    expect(page.url()).toContain(team.slug);
  });

  // Guarantees that who holds a copied link sees nothing of the account there may be, and gets in by the mailbox alone.
  test('signing up with a copied link requires the verification email before accepting', async ({ api, open }) => {
    const email = `invited-${crypto.randomUUID()}@example.com`;
    const { team, link } = await inviteWithLink(api, email);
    const page = await open(link);
    await page.getByRole('link', { name: 'Sign in to accept' }).waitFor();
    await page.getByRole('link', { name: 'Sign up to accept' }).click();
    await shows(page, 'Create your account');
    await page.getByText('Because this link was shared').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await shows(page, 'Check your email');
    await page.getByText(`to join the team “${team.name}”`).waitFor();
    expect(await stateOf(api, team)).toEqual([{ members: 1, pending: 1 }]);

    const other = await page.context().newPage();
    await other.goto(linkIn(await api.mailTo(email, /verify/i)));
    await other.getByRole('button', { name: 'Verify email' }).click();
    await shows(other, 'Email address verified');
    await page.getByRole('link', { name: 'Open the invitation' }).click();
    await shows(page, `Join “${team.name}”`);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await shows(page, 'Overview');
    expect(await stateOf(api, team)).toEqual([{ members: 2, pending: 0 }]);
  });

  test('another account sees whom it is for, and cannot accept', async ({ api, open }) => {
    const { team, link } = await invite(api, (await aPerson(api)).email);
    const other = await aPerson(api);
    const page = await open(link, { as: other });
    await page.getByText('This invitation is for another email').waitFor();
    expect(await page.getByRole('main').innerText()).toContain(other.email);
    expect(await page.getByRole('button', { name: 'Accept invitation' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Sign out and continue' }).click();
    await page.getByRole('link', { name: 'Sign in to accept' }).waitFor();
    expect(await stateOf(api, team)).toEqual([{ members: 1, pending: 1 }]);
  });

  test('it is declined after a confirmation, and its link stops working', async ({ api, open }) => {
    const { team, link } = await invite(api, `invited-${crypto.randomUUID()}@example.com`);
    const page = await open(link);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await stateOf(api, team)).toEqual([{ members: 1, pending: 1 }]);
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await shows(page, 'Invitation declined');
    expect(await stateOf(api, team)).toEqual([{ members: 1, pending: 0 }]);

    await page.goto(link);
    await shows(page, 'This invitation could not be shown');
    await page.getByRole('alert').getByText('Invalid or expired link', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Go to your teams' }).count()).toBe(0);
    const ofAda = await open('/invitation?token=bad', { as: await aPerson(api) });
    await ofAda.getByRole('link', { name: 'Go to your teams' }).click();
    await shows(ofAda, 'Your teams');
  });
});
