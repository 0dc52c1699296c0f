import { hashSync } from 'bcryptjs';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { z } from 'zod';
import { hashPassword } from '../../src/crypto/password-hash.ts';
import { computeHash } from '../../src/crypto/hash-threads.ts';
import { countSchemes } from '../../src/jobs/count-schemes.ts';
import { appRouter } from '../../src/router.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { foreignHashes } from '../support/foreign-hashes.ts';
import { anAddress, aPerson, codeOf, OTHER_PASSWORD, PASSWORD, signIn } from './people.ts';

vi.mock('../../src/crypto/hash-threads.ts', async (importOriginal) => {
  const { computeHash: compute } = await importOriginal<{ computeHash: typeof computeHash }>();
  return { computeHash: vi.fn<typeof computeHash>(compute) };
});

/** The algorithms of the hashes that a call has the service compute, with their costs. */
async function hashesOf(call: () => Promise<unknown>): Promise<string[]> {
  const computed = vi.mocked(computeHash).mockClear();
  await call().catch(() => undefined);
  return computed.mock.calls.map(([name, ...args]) => {
    if (name === 'bcrypt') return (args as string[])[1]?.slice(0, 7) ?? '';
    if (name === 'argon2') {
      const [algorithm, { memory, passes, parallelism }] = args as [
        string,
        { memory: number; passes: number; parallelism: number },
      ];
      return `${algorithm} ${memory} ${passes} ${parallelism}`;
    }
    return name;
  });
}

const NATIVE = 'argon2id 19456 2 1';

/** The same password for its user, typed on a keyboard that composes letters differently. */
const DECOMPOSED = 'cafe\u0301 au lait 42';

/** Longer than a password that can be set here, and nearly as long as a body. */
const LONG = 'correct horse '.repeat(6000);

const guess = (api: Api, email: string, password = OTHER_PASSWORD) =>
  hashesOf(() => signIn(api.visitor(), email, password));

async function withHash(api: Api, passwordHash: string | null) {
  const account = await api.anAccount({ email: anAddress() });
  await api.rows('update account set password_hash = $2 where id = $1', [account.id, passwordHash]);
  return account;
}

/** A service whose accounts have hashes of several schemes, which are counted. */
async function aMixedService(counts: Readonly<Record<string, number>>) {
  const api = await startApi({ SIGN_IN_LIMIT: '1000000' });
  onTestFinished(() => api.close());
  for (const [hash, count] of Object.entries(counts)) for (let i = 0; i < count; i += 1) await withHash(api, hash);
  await countSchemes(api.services, {});
  return api;
}

// Guarantees that neither the time nor the CPU time of a sign-in tells whether an address has an account.
describe('a sign-in computes', () => {
  test('as many hashes whoever the account is, and whether it exists, for each form of the password', async ({
    api,
  }) => {
    const bcrypt = hashSync(DECOMPOSED, 4);
    const disabled = await aPerson(api);
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.id]);
    const addresses = {
      unknown: anAddress(),
      native: (await aPerson(api)).email,
      composed: (await withHash(api, await hashPassword(DECOMPOSED))).email,
      disabled: disabled.email,
      withoutPassword: (await withHash(api, null)).email,
      imported: (await withHash(api, bcrypt)).email,
    };
    for (const [password, number] of [
      [OTHER_PASSWORD, 1],
      [`${DECOMPOSED}!`, 2],
      [LONG, 1],
      // Normalizing it would stop everybody for seconds.
      [`a${'\u0301\u0316'.repeat(20_000)}`, 1],
    ] as const)
      for (const [name, address] of Object.entries(addresses))
        expect([name, password, (await guess(api, address, password)).length]).toEqual([name, password, number]);

    const right = () => hashesOf(() => signIn(api.visitor(), addresses.composed, DECOMPOSED));
    expect(await right()).toEqual([NATIVE, NATIVE]);
    expect(await codeOf(signIn(api.visitor(), addresses.imported, DECOMPOSED))).toBe('ok');
  });

  test('what the account has, however expensive the hashes of others are', async () => {
    const api = await aMixedService({ [hashSync('another password', 12)]: 1, [await hashPassword(PASSWORD)]: 1 });
    const { email } = await aPerson(api);

    expect(await hashesOf(() => signIn(api.visitor(), email))).toEqual([NATIVE]);
  });

  test('what another scheme takes at unknown addresses, in the shares of accounts, always the same at one address', async () => {
    const [, pbkdf2 = ''] = foreignHashes(PASSWORD).find(([name]) => name === 'PBKDF2 with SHA-256') ?? [];
    const api = await aMixedService({ [hashSync(PASSWORD, 4)]: 20, [pbkdf2]: 10, [await hashPassword(PASSWORD)]: 10 });
    const addresses = Array.from({ length: 120 }, (_, i) => `nobody-${i}@example.com`);

    const work = await mapOneByOne(addresses, (address) => guess(api, address));

    // The key and the addresses are the same each time.
    const share = (scheme: string) => work.filter(([only]) => only === scheme).length / addresses.length;
    expect([share('$2b$04$'), share('pbkdf2'), share(NATIVE)].map((part) => Math.round(part * 10) / 10)).toEqual([
      0.5, 0.3, 0.3,
    ]);
    const again = addresses.slice(0, 20).map((address) => address.toUpperCase());
    expect(await mapOneByOne(again, (address) => guess(api, address))).toEqual(work.slice(0, 20));
  });

  test('nothing of a hash beyond the bounds of imports, which an earlier version stored', async ({ api }) => {
    const { email } = await withHash(api, `$argon2id$v=19$m=128,t=8192,p=16$${'A'.repeat(22)}$${'A'.repeat(43)}`);

    expect(await guess(api, email)).toEqual([NATIVE]);
  });
});

describe('a password of another system can be longer than one that is set here', () => {
  type Procedure = { readonly _def: { readonly inputs: readonly z.ZodObject[] } };
  const accepts = (input: z.ZodObject, password: string) =>
    (input.shape['password'] as z.ZodType | undefined)?.safeParse(password).success === true;

  test('wherever one is verified', () => {
    const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>); // flat by path
    const verifying = procedures.filter(([, { _def }]) => _def.inputs.some((input) => accepts(input, 'x')));

    expect(verifying.map(([path]) => path).toSorted()).toEqual(['account.prove', 'auth.signIn', 'auth.verifyEmail']);
    expect(
      verifying.filter(([, { _def }]) => !_def.inputs.some((input) => accepts(input, LONG))).map(([path]) => path),
    ).toEqual([]);
  });

  test('and signs in, proves, and is hashed anew', async ({ api }) => {
    const [, scrypt = ''] = foreignHashes(LONG).find(([, hash]) => hash.startsWith('$scrypt$')) ?? [];
    const { email } = await withHash(api, scrypt);
    const visitor = api.visitor();

    expect(await codeOf(signIn(visitor, email, `${LONG}!`))).toBe('sign_in_failed');
    expect(await codeOf(signIn(visitor, email, LONG))).toBe('ok');
    expect(await codeOf(visitor.trpc.account.prove.mutate({ password: LONG }))).toBe('ok');
    expect(await guess(api, email, LONG)).toEqual([NATIVE]);
  });
});

test('the schemes of accounts are counted once an hour, and within a minute of an import', async ({ api }) => {
  await api.rows('delete from password_scheme');
  const counted = () =>
    api.rows<{ scheme: string; accounts: number }>('select scheme, accounts from password_scheme order by 1');
  const { id } = await withHash(api, hashSync(PASSWORD, 5));
  await countSchemes(api.services, {});
  expect(await counted()).toContainEqual({ scheme: '$2b$05$', accounts: 1 });

  await api.rows('update account set password_hash = null where id = $1', [id]);
  await countSchemes(api.services, {});
  expect(await counted()).toContainEqual({ scheme: '$2b$05$', accounts: 1 });

  // What an import notes.
  await api.rows(`update password_scheme set updated_at = '1970-01-01' where scheme = '$2b$05$'`);
  await countSchemes(api.services, {});
  expect((await counted()).map(({ scheme }) => scheme)).not.toContain('$2b$05$');
});

async function mapOneByOne<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
