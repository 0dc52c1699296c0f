import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { hasChromium } from '../support/chromium.ts';
import { chooseOf, linkIn, shows, test } from './console.ts';
import { plugIn } from './virtual-authenticator.ts';

const passkeysOn = (page: Page) => page.getByRole('region', { name: 'Passkeys' });

async function add(page: Page, name: string): Promise<void> {
  await passkeysOn(page).getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click();
}

/** A page whose owner has just added a passkey. */
async function withPasskey(api: Api, open: (path: string, options: { as: { id: string } }) => Promise<Page>) {
  const account = await api.anAccount();
  const page = await open('/account', { as: account });
  const authenticator = await plugIn(page);
  await add(page, 'Laptop');
  await passkeysOn(page).getByRole('listitem').filter({ hasText: 'Laptop' }).waitFor();
  return { account, page, authenticator };
}

const namesOf = async (api: Api, { id }: { id: string }) =>
  (await api.rows<{ name: string }>('select name from passkey where account_id = $1', [id])).map(({ name }) => name);

const passkeySessions = (api: Api, { id }: { id: string }) =>
  api.rows(`select id from session where account_id = $1 and authentication_type = 'passkey'`, [id]);

describe.skipIf(!hasChromium)('passkeys in a browser', () => {
  // Guarantees that people need to remember nothing: neither a name nor a password.
  test('a synchronized passkey signs in from another browser', async ({ api, open }) => {
    const { account, authenticator } = await withPasskey(api, open);
    const [credential] = await authenticator.credentials();
    expect(credential).toMatchObject({ isResidentCredential: true, rpId: 'localhost' });
    expect(Buffer.from(credential?.userHandle ?? '', 'base64').toString()).toBe(account.id);

    const elsewhere = await open('/verify-email');
    await (await plugIn(elsewhere)).hold(await authenticator.credentials());
    await elsewhere.goto('/sign-in?next=%2Faccount');

    // The authenticator answers the offer that the page makes by itself.
    await shows(elsewhere, 'Your account');
    expect(await passkeySessions(api, account)).toHaveLength(1);
  });

  // Guarantees that a mailbox to which the operator moved an account opens it to its user alone.
  test('a passkey shows on the page of the link that a moved account is one’s own; a stranger gets another', async ({
    api,
    open,
  }) => {
    const { account, authenticator } = await withPasskey(api, open);
    const email = `moved-${account.email}`;
    const operator = api.as(await api.anOperatorKey());
    await operator.patch(`/operator/v1/accounts/${account.id}`, { email });
    const link = linkIn(await api.mailTo(email, /verify/i));

    const elsewhere = await open(link);
    await elsewhere.getByText('ask the operator').waitFor();
    await (await plugIn(elsewhere)).hold(await authenticator.credentials());
    await elsewhere.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await shows(elsewhere, 'Email address verified');
    await elsewhere.getByText('Laptop').waitFor();

    const other = `other-${account.email}`;
    await operator.patch(`/operator/v1/accounts/${account.id}`, { email: other });
    const stranger = await open(linkIn(await api.mailTo(other, /verify/i)));
    await stranger.getByRole('button', { name: 'This is not my account' }).click();
    await stranger.getByLabel('New password').fill('a password of my own 42');
    await stranger.getByRole('button', { name: 'Create my own account' }).click();
    await shows(stranger, 'Email address verified');
    expect(await api.rows('select email from account where id = $1', [account.id])).toEqual([{ email }]);
    expect(await namesOf(api, account)).toEqual(['Laptop']);
  });

  test('an authenticator is added once', async ({ api, open }) => {
    const { account, page } = await withPasskey(api, open);

    await add(page, 'Laptop again');
    await page.getByRole('dialog').getByRole('alert').waitFor();

    expect(await namesOf(api, account)).toEqual(['Laptop']);
  });

  test('a user whom the authenticator cannot verify adds no passkey', async ({ api, open }) => {
    const account = await api.anAccount();
    const page = await open('/account', { as: account });
    await (await plugIn(page)).verify(false);

    await add(page, 'Not mine');
    await page.getByRole('dialog').getByText('No passkey was created.').waitFor();

    expect(await namesOf(api, account)).toEqual([]);
  });

  // Guarantees that a copy which is behind its original, and so is no synchronized one, is noticed.
  test('a clone whose counter decreases cannot sign in', async ({ api, open }) => {
    const { account, authenticator } = await withPasskey(api, open);
    await api.rows('update passkey set counter = 100 where account_id = $1', [account.id]);

    const elsewhere = await open('/verify-email');
    await (await plugIn(elsewhere)).hold(await authenticator.credentials(), { signCount: 1 });
    await elsewhere.goto('/sign-in');
    await elsewhere.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await elsewhere.getByText('Passkey not accepted').waitFor();

    expect(await passkeySessions(api, account)).toEqual([]);
  });

  test('a passkey that was removed here cannot sign in, although the device still has it', async ({ api, open }) => {
    const { account, page, authenticator } = await withPasskey(api, open);
    await api.rows(`update account set password_hash = 'a hash' where id = $1`, [account.id]);
    await chooseOf(page, 'Laptop', 'Remove the passkey Laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await passkeysOn(page).getByText('You have no passkeys.').waitFor();

    const elsewhere = await open('/verify-email');
    await (await plugIn(elsewhere)).hold(await authenticator.credentials());
    await elsewhere.goto('/sign-in');
    await elsewhere.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await elsewhere.getByText('Passkey not accepted').waitFor();

    expect(await passkeySessions(api, account)).toEqual([]);
  });

  test('the last way into an account is not removed', async ({ api, open }) => {
    const { account, page } = await withPasskey(api, open);

    await chooseOf(page, 'Laptop', 'Remove the passkey Laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();

    expect(await namesOf(api, account)).toEqual(['Laptop']);
  });
});
