import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { exchange, test } from './application.ts';
import { approveButton, asks, boxes, consentsOf, isBack, isOver } from './consents.ts';
import { aPerson, authorizePath, shows, signInAs } from './console.ts';

describe.skipIf(!hasChromium)('the consent page', () => {
  test('leads through the sign-in, and gives for the whole account what stays ticked', async ({ api, app, open }) => {
    const person = await aPerson(api);
    const page = await open(authorizePath(app, ['teams:read', 'profile:read', 'teams:write']));
    await shows(page, 'Sign in');
    await page.waitForLoadState('networkidle');
    // Whoever made it chose its name. It is told with that on the page that asks.
    expect(await page.getByRole('main').innerText()).not.toContain('Planner');
    await signInAs(page, person.email);
    await asks(page);
    const words = await page.getByRole('main').innerText();
    expect(words).toContain(person.email);
    expect(words).toContain('Not verified by the operator');
    expect(words).toContain(`You will be sent to ${new URL(app.redirectUri).host}`);
    expect(words).toContain('You are not in a team');
    expect(words).toContain('Access lasts 90 days');
    expect((await boxes(page)).map(({ scope }) => scope)).toEqual(['profile:read', 'teams:read', 'teams:write']);

    // Nothing is given in passing: the reach has to be chosen, and something to be left.
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    expect(await approveButton(page).isDisabled()).toBe(true);
    await page.getByText('To approve, choose what the application can access.').waitFor();
    await page.getByLabel('The whole account').check();
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
    await page.getByText('To approve, select at least one permission.').waitFor();
    expect(await approveButton(page).isDisabled()).toBe(true);
    await page.getByLabel('See your profile').check();
    await page.getByLabel('See teams').check();
    await approveButton(page).click();
    await isBack(page);

    const { query, headers } = app.arrivals.at(-1) ?? {};
    expect(query).toEqual({ code: expect.any(String), state: 'a state', iss: api.services.config.baseUrl });
    expect(headers?.referer).toBeUndefined();
    expect(await consentsOf(api, person)).toEqual([{ team_id: null, scopes: ['profile:read', 'teams:read'] }]);
    expect(await exchange(api, app, query?.['code'])).toMatchObject({ scope: 'profile:read teams:read' });

    await page.goBack();
    await isOver(page);
    await page.reload();
    await isOver(page);
  });
});
