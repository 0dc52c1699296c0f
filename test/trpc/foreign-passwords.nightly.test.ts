import { expect } from 'vitest';
import { FIREBASE, foreignHashes } from '../support/foreign-hashes.ts';
import { test } from '../support/api.ts';
import { anAddress, accountAt, codeOf, PASSWORD, signIn } from './people.ts';

const KINDS: [name: string, hash: string, password: string][] = [
  ...foreignHashes(PASSWORD).map(([name, hash]): [string, string, string] => [name, hash, PASSWORD]),
  ['the example of Firebase', FIREBASE, 'user1password'],
];

test.for(KINDS)(
  'an account with a hash of %s signs in with its password, and gets one of Argon2id',
  async ([, hash, password], { api }) => {
    const { id, email } = await api.anAccount({ email: anAddress() });
    await api.rows('update account set password_hash = $2 where id = $1', [id, hash]);
    const stored = async () => (await accountAt(api, email))?.['password_hash'];

    expect(await codeOf(signIn(api.visitor(), email, `${password}!`))).toBe('sign_in_failed');
    expect(await stored()).toBe(hash);

    const visitor = api.visitor();
    await signIn(visitor, email, password);
    expect(visitor.cookies.has('roster_session_3000')).toBe(true);
    expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signIn(api.visitor(), email, password);
    expect(await codeOf(signIn(api.visitor(), email, `${password}!`))).toBe('sign_in_failed');
  },
);
