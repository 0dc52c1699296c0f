import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { hasChromium } from '../support/chromium.ts';
import { test } from './application.ts';
import { aPerson, authorizePath, chooseOf, linkIn, openMenuOf, openUserMenu, shows, type Open } from './console.ts';

type Case = (api: Api, open: Open) => Promise<{ readonly page: Page; readonly button: Locator }>;

const button = (page: Page, name: string | RegExp) => ({ page, button: page.getByRole('button', { name }) });

async function anItem(page: Page, name: RegExp) {
  await openMenuOf(page, /^Actions for/);
  return { page, button: page.getByRole('menuitem', { name }) };
}

async function aTeamPage(
  api: Api,
  open: Open,
  path: string,
  prepare: (teamId: string, owner: { id: string }) => unknown,
) {
  const owner = await aPerson(api);
  const team = await api.aTeam({ owner });
  await prepare(team.id, owner);
  return open(`/teams/${team.id}/${path}`, { as: owner });
}

const anEndpoint = (api: Api) => async (teamId: string, owner: { id: string }) => {
  const { trpc } = await signedIn(api, owner);
  await trpc.webhooks.create.mutate({ teamId, url: 'https://example.com/hooks', types: [] });
};

/** The procedure that two clicks on a button call, and how the button is reached. */
const CASES: Readonly<Record<string, Case>> = {
  'auth.resendVerification': async (_api, open) => {
    const page = await open('/sign-up');
    await page.getByLabel('Email').fill(`new-${crypto.randomUUID()}@example.com`);
    await page.getByLabel('Password', { exact: true }).fill('wandering heron 42');
    await page.getByRole('button', { name: 'Create account' }).click();
    await shows(page, 'Check your email');
    return button(page, 'Resend link');
  },
  'auth.signOut': async (api, open) => {
    const page = await open('/', { as: await aPerson(api) });
    await openUserMenu(page);
    return { page, button: page.getByRole('menuitem', { name: 'Sign out' }) };
  },
  revokeMySession: async (api, open) => {
    const person = await aPerson(api);
    await api.aSession(person, { browser: 'Firefox' });
    await api.aSession(person, { browser: 'Firefox' });
    const page = await open('/account', { as: person });
    const rows = page.getByRole('region', { name: 'Sessions' });
    return { page, button: rows.getByRole('button', { name: /^Sign out Firefox/ }).first() };
  },
  'sessions.revokeOthers': async (api, open) => {
    const person = await aPerson(api);
    await api.aSession(person);
    return button(await open('/account', { as: person }), 'Sign out everywhere else');
  },
  updateApiKey: async (api, open) => {
    const owner = await aPerson(api);
    await api.anApiKey(owner, { scopes: ['teams:read'] });
    const page = await open('/api-keys', { as: owner });
    await chooseOf(page, /^Actions for/, /^Change scopes/);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { checked: false }).first().check();
    return { page, button: dialog.getByRole('button', { name: 'Save' }) };
  },
  'teams.withdrawOwnershipOffer': async (api, open) => {
    const nominee = await aPerson(api);
    const page = await aTeamPage(api, open, 'members', async (teamId, owner) => {
      await api.aMember({ id: teamId }, nominee, { role: 'member' });
      const { trpc } = await signedIn(api, owner);
      await trpc.teams.offerOwnership.mutate({ teamId, userId: nominee.id });
    });
    return button(page, 'Withdraw offer');
  },
  'webhooks.sendTest': async (api, open) =>
    anItem(await aTeamPage(api, open, 'webhooks', anEndpoint(api)), /^Send test/),
  'webhooks.pause': async (api, open) => anItem(await aTeamPage(api, open, 'webhooks', anEndpoint(api)), /^Pause/),
  'auth.revokeRemainingAccess': async (api, open) => {
    const person = await aPerson(api);
    await api.anApiKey(person);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email: person.email });
    const page = await open(linkIn(await api.mailTo(person.email, /reset/i)));
    await page.getByLabel('New password').fill('a bird on the moon 7');
    await page.getByRole('button', { name: 'Set password' }).click();
    return button(page, 'Revoke all');
  },
};

/** Counts the calls of a procedure. */
function countCalls(page: Page, procedure: string): () => number {
  let calls = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === `/trpc/${procedure}`) calls += 1;
  });
  return () => calls;
}

describe.skipIf(!hasChromium)('a double click calls once:', () => {
  test.for(Object.entries(CASES))('%s', async ([procedure, reach], { api, open }) => {
    const { page, button: target } = await reach(api, open);
    const calls = countCalls(page, procedure);
    await target.dblclick();
    await expect.poll(calls).toBe(1);
    await page.waitForLoadState('networkidle');
    expect(calls()).toBe(1);
  });

  test('the consent', async ({ api, app, open }) => {
    const page = await open(authorizePath(app, ['teams:read']), { as: await aPerson(api) });
    await page.getByLabel('The whole account').check();
    const calls = countCalls(page, 'authorizations.approve');
    await page.getByRole('button', { name: 'Approve' }).dblclick();
    await shows(page, 'Back in the application');
    expect(calls()).toBe(1);
  });

  test('also where the answer comes between the clicks, and another row is under the pointer', async ({
    api,
    open,
  }) => {
    const person = await aPerson(api);
    await api.aSession(person, { browser: 'Firefox' });
    await api.aSession(person, { browser: 'Firefox' });
    const page = await open('/account', { as: person });
    const target = page.getByRole('region', { name: 'Sessions' }).getByRole('button', { name: /^Sign out Firefox/ });
    await expect.poll(() => target.count()).toBe(2);
    const calls = countCalls(page, 'revokeMySession');
    await target.first().scrollIntoViewIfNeeded();
    const box = await target.first().boundingBox();
    const at = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2] as const;
    await page.mouse.click(...at);
    await expect.poll(() => target.count()).toBe(1);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await target.click();
    await expect.poll(() => target.count()).toBe(0);
    expect(calls()).toBe(2);
  });
});
