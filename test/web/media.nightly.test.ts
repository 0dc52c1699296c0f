import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { setLastProof } from '../support/sessions.ts';
import { findViolations } from './axe.ts';
import { aPerson, linkIn, PASSWORD, shows, test } from './console.ts';

describe.skipIf(!hasChromium)('the console', () => {
  test('prints the content of a page without navigation and buttons', async ({ api, open }) => {
    const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner });
    const page = await open(`/teams/${team.id}/members`, { as: owner });
    await page.getByRole('rowheader', { name: /Ada Lovelace/ }).waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.getByRole('rowheader', { name: /Ada Lovelace/ }).isVisible()).toBe(true);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).color')).toBe('rgb(0, 0, 0)');
  });

  test('marks the current page and states by borders where colors are forced', async ({ api, open }) => {
    const owner = await aPerson(api);
    const team = await api.aTeam({ owner });
    const page = await open(`/teams/${team.id}/members`, { as: owner });
    const state = page.getByRole('row').getByText('Active', { exact: true });
    await state.waitFor();
    await page.emulateMedia({ forcedColors: 'active' });
    const styleOf = (selector: string) => `getComputedStyle(document.querySelector('${selector}'))`;
    expect(await page.evaluate(`${styleOf('nav [aria-current="page"]')}.outlineStyle`)).toBe('solid');
    expect(await page.evaluate(`${styleOf('td .mantine-Badge-root')}.borderTopStyle`)).toBe('solid');
    expect(await findViolations(page)).toEqual([]);
  });
});

describe.skipIf(!hasChromium)('a link in text', () => {
  // Guarantees that readers who see no colors recognize it.
  test('is underlined and not bold, in light, dark and forced colors', async ({ api, open }) => {
    const owner = await aPerson(api);
    await api.aTeam({ owner, name: 'Analytical Engine' });
    const page = await open('/', { as: owner });
    await page.getByRole('main').getByRole('link', { name: 'Analytical Engine' }).waitFor();
    for (const media of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { forcedColors: 'active' }] as const) {
      await page.emulateMedia(media);
      const style = `getComputedStyle(document.querySelector('main .mantine-Anchor-root'))`;
      expect(await page.evaluate(`${style}.textDecorationLine`)).toBe('underline');
      expect(Number(await page.evaluate(`${style}.fontWeight`))).toBeLessThan(600);
      expect(await findViolations(page)).toEqual([]);
    }
  });
});

describe.skipIf(!hasChromium)('a form with a password tells password managers whose it is', () => {
  const username = 'form:has(input[type="password"]) input[autocomplete~="username"]';

  test('in the account, at a recent proof, and at the verification in another browser', async ({ api, open }) => {
    const person = await aPerson(api);
    const page = await open('/account', { as: person });
    await shows(page, 'Your account');
    expect(await page.locator(username).inputValue()).toBe(person.email);

    await setLastProof(api, 60, person);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password', { exact: true }).waitFor();
    expect(await dialog.locator(username).inputValue()).toBe(person.email);

    const email = `new-${crypto.randomUUID()}@example.com`;
    await api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD });
    const elsewhere = await open(linkIn(await api.mailTo(email, /verify/i)));
    await elsewhere.getByLabel('Password', { exact: true }).waitFor();
    expect(await elsewhere.locator(username).inputValue()).toBe(email);
  });
});
