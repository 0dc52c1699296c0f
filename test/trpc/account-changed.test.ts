import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { withKey } from './console.ts';
import { accountAt, aPerson, aSignedIn, codeOf, signIn } from './people.ts';

describe('a page that shows an account', () => {
  test('cannot act for another one that the browser has signed in as', async ({ api }) => {
    const first = await aSignedIn(api);
    const second = await aPerson(api);
    const { visitor } = first;
    visitor.headers['x-roster-account'] = first.id;
    expect(await codeOf(visitor.trpc.updateMe.mutate({ firstName: 'Ada', lastName: 'Lovelace' }))).toBe('ok');

    delete visitor.headers['x-roster-account'];
    await signIn(visitor, second.email);
    const before = await accountAt(api, second.email);
    visitor.headers['x-roster-account'] = first.id;

    const save = visitor.trpc.updateMe.mutate({ firstName: 'Grace', lastName: 'Hopper' });
    expect(await problemOf(save)).toMatchObject({ code: 'account_changed', status: 409 });
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('account_changed');
    expect(await codeOf(visitor.trpc.account.delete.mutate())).toBe('account_changed');
    expect(await accountAt(api, second.email)).toEqual(before);
  });

  test('reports a signed-out browser, if it is one', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api);
    visitor.headers['x-roster-account'] = id;
    visitor.cookies.delete('roster_session_3000');

    expect(await codeOf(visitor.trpc.getMe.query())).toBe('credential_missing');
  });
});

// Guarantees that the header gives nothing: the credential alone decides who acts.
test('a bearer credential acts for its own account, whatever account the call names', async ({ api }) => {
  const account = await aPerson(api);
  const key = await api.anApiKey(account, { scopes: ['profile:read'] });
  const visitor = api.visitor();
  visitor.headers['authorization'] = `Bearer ${key.secret}`;
  visitor.headers['x-roster-account'] = (await aPerson(api)).id;

  expect((await visitor.trpc.getMe.query()).id).toBe(account.id);
  expect((await withKey(api, key).getMe.query()).id).toBe(account.id);
});
