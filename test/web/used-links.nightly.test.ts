import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { aPerson, linkIn, PASSWORD, shows, signInAs, test } from './console.ts';

const anEmail = () => `used-${crypto.randomUUID()}@example.com`;

// Guarantees that who opens a link again is told what became of it and led on, and nobody else is told anything.
describe.skipIf(!hasChromium)('the page of a used link', () => {
  test('of an accepted invitation leads to the team', async ({ api, open }) => {
    const [owner, person] = [await api.anAccount(), await aPerson(api)];
    const team = await api.aTeam({ owner, name: 'Engine' });
    const { trpc } = await signedIn(api, owner);
    await trpc.createTeamInvitation.mutate({ teamId: team.id, email: person.email });
    const link = linkIn(await api.mailTo(person.email, /invitation/i));
    const page = await open(link, { as: person });
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await shows(page, 'Overview');

    await page.goto(link);
    await shows(page, 'Invitation already accepted');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('main').getByRole('link').click();
    await shows(page, 'Overview');

    for (const other of [await open(link), await open(link, { as: await aPerson(api) })]) {
      await shows(other, 'This invitation could not be shown');
      expect(await other.getByRole('main').innerText()).not.toContain('Engine');
    }
  });

  test('that verified an address leads to the teams', async ({ api, open }) => {
    const email = anEmail();
    const page = await open('/sign-up');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await shows(page, 'Check your email');
    const link = linkIn(await api.mailTo(email, /verify/i));
    await page.goto(link);
    await page.getByRole('button', { name: 'Verify email' }).click();
    await shows(page, 'Email address verified');

    await page.goto(link);
    await shows(page, 'Email address already verified');
    await page.getByText(email).waitFor();
    await page.getByRole('link', { name: 'Go to your teams' }).click();
    await shows(page, 'Your teams');

    const other = await open(link);
    await other.getByRole('alert').getByText('Invalid or expired link', { exact: true }).waitFor();
    expect(await other.getByText(email).count()).toBe(0);
  });

  test('that changed the address leads to the teams', async ({ api, open }) => {
    const [person, newEmail] = [await aPerson(api), anEmail()];
    const { trpc } = await signedIn(api, person);
    await trpc.account.changeEmail.mutate({ newEmail });
    const link = linkIn(await api.mailTo(newEmail, /^Confirm/));
    const page = await open(link);
    await page.getByRole('button', { name: 'Confirm email' }).click();
    await shows(page, 'Email address changed');
    await page.goto('/sign-in');
    await signInAs(page, newEmail);
    await shows(page, 'Your teams');

    await page.goto(link);
    await shows(page, 'Email address already verified');
    await page.getByText(newEmail).waitFor();
    await page.getByRole('link', { name: 'Go to your teams' }).click();
    await shows(page, 'Your teams');

    for (const other of [await open(link), await open(link, { as: await aPerson(api) })]) {
      await other.getByRole('alert').getByText('Invalid or expired link', { exact: true }).waitFor();
      expect(await other.getByText(newEmail).count()).toBe(0);
    }
  });
});
