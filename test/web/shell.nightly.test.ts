import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { codeOf, signIn } from '../trpc/people.ts';
import { aPerson, linkIn, PASSWORD, shows, signInAs, test } from './console.ts';

/** What the first page may load, in bytes of gzipped JavaScript. */
const FIRST_PAGE_BYTES = 200_000;

describe.skipIf(!hasChromium)('the web shell', () => {
  test('who has neither signed up nor in is sent from the page of the email to the sign-in', async ({ open }) => {
    const page = await open('/check-email');
    await shows(page, 'Sign in');
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  });

  test('a new user signs up, verifies the email address, signs in and creates a team', async ({ api, open }) => {
    const email = `new-${crypto.randomUUID()}@example.com`;
    const page = await open('/sign-in');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await shows(page, 'Create your account');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await shows(page, 'Check your email');

    // Signed in to the sign-up, which has nothing to show but what to do next.
    await page.goto('/account');
    await shows(page, 'Check your email');
    expect(await page.getByText(email).isVisible()).toBe(true);

    // Opening the link changes nothing, because mail scanners open links too.
    await page.goto(linkIn(await api.mailTo(email, /verify/i)));
    await shows(page, 'Verify your email address');
    expect(await isVerified()).toBe(false);
    await page.getByRole('button', { name: 'Verify email' }).click();
    await shows(page, 'Email address verified');
    expect(await isVerified()).toBe(true);

    await page.getByRole('link', { name: 'Go to your teams' }).click();
    await shows(page, 'Your teams');
    await page.getByText('You are not in a team yet').waitFor();
    expect(await page.getByText('Create a team and invite others').isVisible()).toBe(true);

    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByLabel('Team name').fill('Analytical Engine');
    await page.getByRole('dialog').getByRole('button', { name: 'Create team' }).click();
    await shows(page, 'Overview');
    expect(new URL(page.url()).pathname).toMatch(/^\/teams\/[^/]+$/);
    const team = page.getByRole('combobox', { name: 'Team: Analytical Engine' });
    expect(await team.innerText()).toMatch(/Analytical Engine[\s\S]*Owner/);

    async function isVerified(): Promise<boolean> {
      const [row] = await api.rows<{ verified: boolean }>(
        `select email_verified_at is not null as verified from account where email = $1`,
        [email],
      );
      return row?.verified ?? false;
    }
  });

  test('a link that was opened in another browser asks for the password, or for a new one', async ({ api, open }) => {
    const email = `new-${crypto.randomUUID()}@example.com`;
    await api.visitor().trpc.auth.signUp.mutate({ email, password: 'a password of somebody else' });
    const page = await open(linkIn(await api.mailTo(email, /verify/i)));
    await shows(page, 'Verify your email address');
    const verify = page.getByRole('button', { name: 'Verify email' });

    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await verify.click();
    await page.getByText('Incorrect password.').waitFor();
    await page.getByRole('button', { name: 'I don’t know this password' }).click();
    await page.getByLabel('New password').fill(PASSWORD);
    await verify.click();
    await shows(page, 'Email address verified');

    expect(await codeOf(signIn(api.visitor(), email, PASSWORD))).toBe('ok');
    expect(await codeOf(signIn(api.visitor(), email, 'a password of somebody else'))).toBe('sign_in_failed');
  });

  test('a sign-in link is emailed on request and signs in once, only by its button', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in');
    await page.getByRole('link', { name: 'Email me a sign-in link' }).click();
    await shows(page, 'Sign in by email');
    await page.getByLabel('Email').fill(person.email);
    await page.getByRole('button', { name: 'Email me a sign-in link' }).click();
    await shows(page, 'Check your email');

    const link = linkIn(await api.mailTo(person.email, /sign-in link/));
    await page.goto(link);
    await page.getByText(`Continue as ${person.email}.`).waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shows(page, 'Your teams');

    await page.goto(link);
    await page.getByRole('link', { name: 'Request another link' }).waitFor();
  });

  test('an unverified email address is shown at home, where a new link can be requested', async ({ api, open }) => {
    const account = await api.anAccount();
    await api.rows('update account set email_verified_at = null where id = $1', [account.id]);
    const page = await open('/', { as: account });

    await page.getByText('Email address not verified').waitFor();
    await page.getByRole('button', { name: 'Resend link' }).click();
    await page.getByText(`New link sent to ${account.email}.`).waitFor();

    expect(linkIn(await api.mailTo(account.email, /verify/i))).toMatch(/^\/verify-email\?token=/);
  });

  test('a page for people who are signed in leads to the sign-in and back, and never to another site', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    const page = await open('/account');
    await shows(page, 'Sign in');
    await signInAs(page, person.email);
    await shows(page, 'Your account');

    for (const next of ['//example.com/', '/\\example.com', 'https://example.com/']) {
      await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
      await signInAs(page, person.email);
      await shows(page, 'Your teams');
      expect(new URL(page.url()).pathname).toBe('/');
    }
  });

  test('signing in needs nothing but the keyboard', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in');
    await shows(page, 'Sign in');

    expect(await focused(page)).toBe('Email');
    await page.keyboard.type(person.email);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await shows(page, 'Your teams');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');

    // Everything can be reached, and the first stop skips the navigation.
    await page.goto('/account');
    await shows(page, 'Your account');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    const stops = new Set<string>();
    for (let i = 0; i < 40; i++) {
      stops.add(await focused(page));
      await page.keyboard.press('Tab');
    }
    for (const stop of [
      'Teams',
      'Account',
      'Your account and settings',
      'First name (optional)',
      'New email',
      'New password',
      'Add passkey',
      'Delete account…',
    ]) {
      expect(
        [...stops].some((name) => name.startsWith(stop)),
        `Tab reaches ${stop}`,
      ).toBe(true);
    }
  });

  test('a fault of the service shows its request ID, a wrong password only what to do', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in');
    await signInAs(page, person.email, 'not the password');
    const alert = page.getByRole('alert');
    await alert.getByText('Sign-in failed').waitFor();
    expect(await alert.innerText()).not.toContain('Request');

    const problem = {
      title: 'Internal server error',
      status: 500,
      code: 'internal_error',
      detail: '',
      requestId: 'r-1',
    };
    // A status of 500 would be a complaint of the browser’s console.
    await page.route('**/trpc/auth.signIn*', (route) =>
      route.fulfill({
        status: 400,
        json: {
          error: { message: '', code: -32603, data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, problem } },
        },
      }),
    );
    await signInAs(page, person.email, 'not the password');
    await alert.getByText('Request ID').waitFor();
    const requestId = await alert.locator('code').innerText();
    expect(requestId).toBe('r-1');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await alert.getByRole('button', { name: 'Copy request ID' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(requestId);
  });

  test('an invalid field shows its error, and gets the focus', async ({ open }) => {
    const page = await open('/sign-up');
    await page.getByLabel('Email').fill('nobody');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();

    const email = page.getByRole('textbox', { name: 'Email' });
    await page.getByText('Enter an email address, for example name@example.com.').waitFor();
    expect(await email.getAttribute('aria-invalid')).toBe('true');
    expect(await focused(page)).toBe('Email');
    expect(await page.getByText('Use at least 8 characters.').isVisible()).toBe(true);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('an unavailable service is shown, and the page works after the recovery', async ({ api, open }) => {
    const page = await open('/sign-in');
    await shows(page, 'Sign in');
    const person = await aPerson(api);
    // Aborted like a call without a network, whose line in the browser's console is not the page's.
    await page.route('**/trpc/auth.signIn', (route) => route.fulfill({ status: 404, body: 'no service here' }));
    await signInAs(page, person.email);
    await page.getByText('The service could not be reached').waitFor();

    await page.unroute('**/trpc/auth.signIn');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await shows(page, 'Your teams');
  });

  test('the form of the sign-in does not move when the page learns late that the user is signed in', async ({
    api,
    open,
  }) => {
    const page = await open('about:blank', { as: await aPerson(api) });
    let answer = () => {};
    const painted = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/getMe/, async (route) => {
      await painted;
      await route.continue();
    });
    await page.goto('/sign-in');
    const email = page.getByLabel('Email');
    await email.waitFor();
    const before = await email.boundingBox();
    answer();
    await page.getByText(/^You are signed in as/).waitFor();
    expect(await email.boundingBox()).toEqual(before);
  });

  test('an unknown path shows a page for that', async ({ open }) => {
    const page = await open('/no-such-page');
    await shows(page, 'Page not found');
    expect(await page.getByRole('navigation').count()).toBe(0);
  });

  test('an unknown path leaves who is signed in the navigation, and inside of a team the team', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada, name: 'Loom' });
    const page = await open('/no-such-page', { as: ada });
    await shows(page, 'Page not found');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).waitFor();
    await page.goto(`/teams/${team.slug}/no-such-page`);
    await shows(page, 'Page not found');
    await page.getByRole('combobox', { name: 'Team: Loom' }).waitFor();
    await page.getByRole('navigation', { name: 'Team' }).getByRole('link', { name: 'Members' }).click();
    await shows(page, 'Members');
  });

  test('light and dark follow the system until the user chooses, before anything is painted', async ({ open }) => {
    const page = await open('/sign-in', { colorScheme: 'dark' });
    await shows(page, 'Sign in');
    expect(await scheme()).toBe('dark');
    await page.getByRole('button', { name: 'Use light colors' }).click();
    expect(await scheme()).toBe('light');

    await page.route(/\/assets\/index-.*\.js$/, () => undefined); // the modules never arrive
    await page.reload({ waitUntil: 'commit' });
    await page.waitForSelector('#root', { state: 'attached' });
    expect(await scheme()).toBe('light');

    function scheme() {
      return page.evaluate("document.documentElement.getAttribute('data-mantine-color-scheme')");
    }
  });

  test('the first page loads less than 200 KB of gzipped JavaScript', async ({ api, open }) => {
    const scripts = new Set<string>();
    const page = await open('about:blank');
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.add(new URL(request.url()).pathname);
    });
    await page.goto('/sign-in');
    await shows(page, 'Sign in');
    await page.waitForLoadState('networkidle');

    let total = 0;
    for (const path of scripts) {
      const answer = await fetch(`http://127.0.0.1:${api.port}${path}`, { headers: { 'accept-encoding': 'identity' } });
      expect(answer.status).toBe(200);
      total += gzipSync(await answer.bytes()).length;
    }
    expect(scripts.size).toBeGreaterThan(1);
    expect(total).toBeLessThan(FIRST_PAGE_BYTES);
  });
});

/** What a screen reader calls the element with the focus, about. */
function focused(page: Page): Promise<string> {
  return page.evaluate(
    `(() => { const e = document.activeElement; return (e.labels?.[0]?.textContent || e.getAttribute('aria-label') || e.textContent || '').trim(); })()`,
  );
}
