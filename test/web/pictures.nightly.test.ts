import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { BLUE, halves, RED, SVG } from '../pictures/files.ts';
import { aPerson, shows, test } from './console.ts';

const png = async (left = RED, right = BLUE) => (await halves(left, right)).png().toBuffer();
const choose = (page: Page, name: string, mimeType: string, buffer: Buffer) =>
  page.locator('input[type="file"]').setInputFiles({ name, mimeType, buffer });
const sources = (page: Page) =>
  page.evaluate<string[]>(
    `[...new Set([...document.images].filter(({ complete, naturalWidth }) => complete && naturalWidth === 256).map(({ src }) => new URL(src).pathname))]`,
  );
const avatarOf = async (api: Api, { id }: { id: string }) =>
  (await api.rows<{ avatar: string | null }>('select avatar from account where id = $1', [id]))[0]?.avatar ?? null;

describe.skipIf(!hasChromium)('a picture', () => {
  test('of an account is chosen, replaced and removed, and shown to the members of its teams', async ({
    api,
    open,
  }) => {
    const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner: ada });
    const page = await open('/account', { as: ada });
    await shows(page, 'Your account');
    await choose(page, 'ada.png', 'image/png', await png());
    await page.getByText('Picture saved.').waitFor();
    await expect.poll(() => sources(page)).toEqual([expect.stringMatching(/^\/pictures\/[\w-]{43}\.webp$/)]);
    const [first] = await sources(page);

    await page.getByRole('button', { name: 'Replace picture…' }).waitFor();
    await choose(page, 'ada.webp', 'image/webp', await (await halves(BLUE, RED)).webp().toBuffer());
    await expect.poll(async () => (await sources(page))[0] !== first).toBe(true);
    await expect.poll(() => sources(page)).toHaveLength(1);
    const [second] = await sources(page);
    await page.goto(`/teams/${team.id}/members`);
    await page.getByText('Ada Lovelace').first().waitFor();
    await expect.poll(() => sources(page)).toContain(second);

    await page.goto('/account');
    await page.getByRole('button', { name: 'Remove picture' }).click();
    await page.getByText('Picture removed.').waitFor();
    await page.getByRole('button', { name: 'Choose picture…' }).waitFor();
    expect(await sources(page)).toEqual([]);
    expect(await avatarOf(api, ada)).toBeNull();
  });

  test('of a team is chosen by those who can change it', async ({ api, open }) => {
    const ada = await aPerson(api);
    const team = await api.aTeam({ owner: ada });
    const page = await open(`/teams/${team.id}/settings`, { as: ada });
    await shows(page, 'Settings');
    await choose(page, 'team.png', 'image/png', await png());
    await page.getByText('Picture saved.').waitFor();
    await expect.poll(async () => (await sources(page)).length).toBeGreaterThan(0);
    await page.goto('/');
    await expect.poll(() => sources(page)).toHaveLength(1);

    const member = await aPerson(api);
    await api.aMember(team, member, { role: 'member' });
    const theirs = await open(`/teams/${team.id}/settings`, { as: member });
    await shows(theirs, 'Settings');
    expect(await theirs.locator('input[type="file"]').count()).toBe(0);
  });

  test('is refused in plain words: another format, too large, damaged, unreachable, offline', async ({ api, open }) => {
    const ada = await aPerson(api);
    const page = await open('/account', { as: ada });
    await shows(page, 'Your account');
    const alert = page.getByRole('alert');
    await choose(page, 'ada.svg', 'image/svg+xml', SVG);
    await alert.getByText('Choose a JPEG, PNG or WebP file.').waitFor();
    await choose(page, 'ada.png', 'image/png', Buffer.alloc(2 * 1024 * 1024 + 1));
    await alert.getByText('The file is larger than 2 MB.').waitFor();
    await choose(page, 'ada.png', 'image/png', (await png()).subarray(0, 300));
    await alert.getByText('The picture is damaged or incomplete.').waitFor();
    await page.getByLabel('Picture URL').fill('http://example.com/a.png');
    await page.getByRole('button', { name: 'Fetch picture' }).click();
    await page.getByText('Enter a whole URL that begins with https://.').waitFor();
    expect(await alert.count()).toBe(0);
    await page.getByLabel('Picture URL').fill('https://127.0.0.1/a.png');
    await page.getByRole('button', { name: 'Fetch picture' }).click();
    await alert.getByText('The picture could not be fetched.').waitFor();
    await page.context().setOffline(true);
    await choose(page, 'ada.png', 'image/png', await png());
    await alert.getByText('No connection').waitFor();
    await page.context().setOffline(false);
    expect(await avatarOf(api, ada)).toBeNull();
  });

  test('that is being sent shows its progress, and is sent once', async ({ api, open }) => {
    const ada = await aPerson(api);
    const page = await open('/account', { as: ada });
    await shows(page, 'Your account');
    const { promise, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    await page.route('**/pictures/me', async (route) => {
      sent += 1;
      await promise;
      await route.continue();
    });
    await choose(page, 'ada.png', 'image/png', await png());
    await page
      .getByRole('status')
      .getByText(/^Uploading|^Processing/)
      .waitFor();
    await choose(page, 'ada.png', 'image/png', await png());
    resolve();
    await page.getByText('Picture saved.').waitFor();
    expect(sent).toBe(1);
  });
});
