import { expect } from 'vitest';
import { CLEANUPS } from '../../src/jobs/cleanup.ts';
import { readForeignHash } from '../../src/crypto/foreign-hash.ts';
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
    const { scheme, work } = readForeignHash(hash);
    await api.rows(
      `insert into password_scheme values (split_part($1, '$', 2), $1, $2, now())
     on conflict (kind) do update set scheme = excluded.scheme, work = excluded.work`,
      [scheme, work],
    );
    const stored = async () => (await accountAt(api, email))?.['password_hash'];

    expect(await codeOf(signIn(api.visitor(), email, `${password}!`))).toBe('sign_in_failed');
    expect(await stored()).toBe(hash);

    const visitor = api.visitor();
    await signIn(visitor, email, password);
    expect(visitor.cookies.has('roster_session')).toBe(true);
    expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signIn(api.visitor(), email, password);
    expect(await codeOf(signIn(api.visitor(), email, `${password}!`))).toBe('sign_in_failed');
  },
);

// Guarantees that sign-ins take longer only while such hashes are stored.
test('a kind of hashes is forgotten a day after none is left', async ({ api }) => {
  const { id } = await api.anAccount();
  await api.rows('delete from password_scheme');
  await api.rows(
    `insert into password_scheme values ('2b', '$2b$05$', 32, now() - interval '2 days'),
       ('2a', '$2a$05$', 32, now() - interval '2 days'), ('2y', '$2y$05$', 32, now())`,
  );
  const [, hash] = foreignHashes(PASSWORD).find(([name]) => name === 'bcrypt 2b') ?? [];
  await api.rows('update account set password_hash = $2 where id = $1', [id, hash]);

  await api.rows(CLEANUPS.cleanup_password_schemes.batch(api.services.config));

  const kinds = await api.rows<{ kind: string }>('select kind from password_scheme order by 1');
  expect(kinds.map(({ kind }) => kind)).toEqual(['2b', '2y']);
});
