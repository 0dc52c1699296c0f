import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import type { AnAccount } from '../support/factories.ts';
import { setLastProof } from '../support/sessions.ts';
import { aPerson, linkIn, PASSWORD, type Open } from './console.ts';
import type { Action, Setting } from './proof-actions.ts';

export const proofOn = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });

export const age = (api: Api, { id }: AnAccount) => setLastProof(api, 11, { id });

export async function proveByPassword(page: Page): Promise<void> {
  await proofOn(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
  await proofOn(page).getByRole('button', { name: 'Confirm', exact: true }).click();
}

/** Opens the page of an action with a session whose last proof is old, fills in its form and sends it. */
export async function attempt(action: Action, api: Api, open: Open): Promise<Setting> {
  const owner = await aPerson(api);
  const team = await api.aTeam({ owner });
  await api.aSubscription(team);
  const page = await open(await action.path({ api, owner, team }), { as: owner });
  const setting = { api, owner, team, page, dialog: page.getByRole('dialog') };
  await page.getByRole('heading', { level: 1 }).waitFor();
  await age(api, owner);

  await action.fill(setting);
  await send(action, setting);
  await proofOn(page).waitFor();
  expect(await action.stored(setting)).toEqual([]);
  return setting;
}

export const send = (action: Action, { dialog }: Setting) =>
  dialog.getByRole('button', { name: action.send, exact: typeof action.send === 'string' }).click();

export const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

export const mailLink = async (api: Api, page: Page, { email }: AnAccount): Promise<string> => {
  await proofOn(page).getByRole('button', { name: 'Email me a sign-in link' }).click();
  await proofOn(page).getByText('Open the link that was emailed to you').waitFor();
  return linkIn(await api.mailTo(email, /sign-in link/));
};

/** Expects that an action whose proof is an emailed link, opened in its own tab, is made with what was entered before. */
export async function expectKept(action: Action, api: Api, open: Open): Promise<void> {
  const setting = await attempt(action, api, open);
  const { page, owner } = setting;
  await page.goto(await mailLink(api, page, owner));
  await click(page, 'Sign in');
  await send(action, setting);

  await expect.poll(() => action.stored(setting)).toEqual(action.expected);
}
