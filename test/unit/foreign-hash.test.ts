import { pbkdf2Sync } from 'node:crypto';
import { hashSync } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { needsRehash, verifyPassword } from '../../src/crypto/password-hash.ts';
import { createDummyHash, readForeignHash, UnsupportedHashError } from '../../src/crypto/foreign-hash.ts';
import { FIREBASE, foreignHashes } from '../support/foreign-hashes.ts';

const PASSWORD = 'caf\u00e9 \u{1F511} 42';

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');

const COST = { memoryKib: 19 * 1024, passes: 2 };

describe('a password hash of another system', () => {
  test.each(foreignHashes(PASSWORD))('%s accepts its password alone, and is replaced', async (_name, hash) => {
    expect(await verifyPassword(PASSWORD, hash)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, hash)).toBe(false);
    expect(await verifyPassword('', hash)).toBe(false);
    expect(hash.startsWith('$argon2id$') || needsRehash(hash, COST)).toBe(true);
  });

  test('of published examples accepts its password', async () => {
    // https://github.com/firebase/scrypt and the article on bcrypt in Wikipedia.
    expect(await verifyPassword('user1password', FIREBASE)).toBe(true);
    expect(await verifyPassword('abc123xyz', '$2a$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW')).toBe(
      true,
    );
  });

  test('accepts a password that it hashed without Unicode normalization, and one with it', async () => {
    const decomposed = 'cafe\u0301 au lait';
    const salt = Buffer.alloc(16, 1);
    const hashOf = (text: string) =>
      `$pbkdf2-sha256$i=1000$${base64(salt)}$${base64(pbkdf2Sync(text, salt, 1000, 32, 'sha256'))}`;

    expect(await verifyPassword(decomposed, hashOf(decomposed))).toBe(true);
    expect(await verifyPassword(decomposed, hashOf(decomposed.normalize('NFKC')))).toBe(true);
    expect(await verifyPassword('cafe au lait', hashOf(decomposed))).toBe(false);
  });

  test.each([
    ['too many iterations', `$pbkdf2-sha256$i=2000001$${base64('salt')}$${base64(Buffer.alloc(32))}`],
    ['too many iterations in all parts', `$pbkdf2-sha1$i=1999999$${base64('salt')}$${base64(Buffer.alloc(64))}`],
    ['too high a cost of bcrypt', `$2b$15$${'a'.repeat(53)}`],
    ['too low a cost of bcrypt', `$2b$03$${'a'.repeat(53)}`],
    ['the broken bcrypt of old PHP', `$2x$10$${'a'.repeat(53)}`],
    ['too much memory of scrypt', `$scrypt$ln=18,r=8,p=1$${base64('salt')}$${base64(Buffer.alloc(32))}`],
    ['too much work of scrypt', `$scrypt$ln=17,r=8,p=3$${base64('salt')}$${base64(Buffer.alloc(32))}`],
    ['scrypt of nothing', `$scrypt$ln=0,r=8,p=1$${base64('salt')}$${base64(Buffer.alloc(32))}`],
    ['too much memory of Argon2', `$argon2id$v=19$m=262145,t=1,p=1$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`],
    ['too much work of Argon2', `$argon2i$v=19$m=262144,t=5,p=1$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`],
    ['too many passes of Argon2', `$argon2id$v=19$m=8,t=257,p=1$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`],
    ['too many passes of lanes', `$argon2id$v=19$m=128,t=8192,p=16$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`],
    ['too many lanes of Argon2', `$argon2id$v=19$m=136,t=1,p=17$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`],
    [
      'scrypt of an N that its blocks do not allow',
      `$scrypt$ln=17,r=1,p=16$${base64('salt')}$${base64(Buffer.alloc(32))}`,
    ],
    ['too large blocks of scrypt', `$scrypt$ln=1,r=33,p=1$${base64('salt')}$${base64(Buffer.alloc(32))}`],
    ['too many lanes of scrypt', `$scrypt$ln=1,r=1,p=17$${base64('salt')}$${base64(Buffer.alloc(32))}`],
    [
      'too much work of Firebase',
      `$fbscrypt$v=1,n=17,r=8,p=3,ss=Bw==,sk=AAAA$${base64('salt')}$${base64(Buffer.alloc(32))}`,
    ],
    ['an old version of Argon2', `$argon2id$v=16$m=65536,t=2,p=1$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`],
    [
      'Argon2 with less memory than its lanes need',
      `$argon2id$v=19$m=8,t=1,p=2$${base64('saltsalt')}$${base64(Buffer.alloc(32))}`,
    ],
    ['a short tag, which is easy to meet', `$pbkdf2-sha256$i=1000$${base64('salt')}$${base64(Buffer.alloc(8))}`],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
    ['a plain password', 'correct horse'],
    ['nothing', ''],
    ['a line end', `$2b$10$${'a'.repeat(53)}\n`],
  ])('with %s is refused with its reason', (_what, hash) => {
    expect(() => readForeignHash(hash)).toThrow(UnsupportedHashError);
  });

  test.each(foreignHashes(PASSWORD))('%s has a scheme whose work can be done without a hash', async (_name, hash) => {
    const { scheme, work } = readForeignHash(hash);
    const dummy = readForeignHash(createDummyHash(scheme));
    expect([dummy.work, await dummy.matches(PASSWORD)]).toEqual([work, false]);
  });

  test('is not verified on the event loop', async () => {
    const hash = hashSync('a password', 11);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await verifyPassword('wrong', hash);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});

test('the hashes of the tests are of all kinds', () => {
  const kinds = foreignHashes(PASSWORD).map(([, hash]) => hash.split('$')[1]);
  expect(new Set(kinds)).toEqual(
    new Set(
      'argon2id argon2i argon2d 2a 2b 2y scrypt fbscrypt pbkdf2-sha1 pbkdf2-sha256 pbkdf2-sha512 pbkdf2'.split(' '),
    ),
  );
});
