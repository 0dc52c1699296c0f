import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { test } from './application.ts';
import { aPerson, authorizePath, shows, signInAs } from './console.ts';
import { approveButton, asks, isBack } from './consents.ts';

const opener = `window.opener !== null`;

describe.skipIf(!hasChromium)('a window that an application opens to sign its user in', () => {
  test('tells the application, and the console in it is out of its reach', async ({ api, app, open }) => {
    const person = await aPerson(api);
    const page = await open('/sign-in');
    await page.goto(app.redirectUri.replace('/callback', '/'));
    const url = `${api.services.config.baseUrl}${authorizePath(app, ['teams:read'])}`;
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(
        `window.told = new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)));
         window.popup = window.open(${JSON.stringify(url)}, 'sign-in', 'popup'); undefined`,
      ),
    ]);

    await signInAs(popup, person.email);
    await asks(popup);
    expect(await page.evaluate('window.popup.closed')).toBe(false);
    await popup.getByLabel('The whole account').check();
    await approveButton(popup).click();
    await isBack(popup);
    expect(await popup.evaluate(opener)).toBe(true);
    await popup.evaluate(`window.opener.postMessage(location.search, '*')`);
    expect(await page.evaluate('window.told')).toContain('code=');

    // Over the way of another request to the console.
    await popup.evaluate(`location.assign(${JSON.stringify(url)})`);
    await asks(popup);
    expect(await popup.evaluate(opener)).toBe(true);
    await popup.evaluate(`setTimeout(() => history.pushState(null, '', '/account'))`);
    await shows(popup, 'Your account');
    expect(await popup.evaluate(opener)).toBe(false);
  });
});
