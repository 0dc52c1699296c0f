import { createCipheriv, timingSafeEqual } from 'node:crypto';
import { computeHash } from './hash-threads.ts';

/** A number of a format that decides the work, with its limit for imported hashes. */
type Bound = { readonly what: string; readonly value: number; readonly max: number };

/** A stored password hash. */
export type StoredHash = {
  /** The text up to the salt: the algorithm and its cost. */
  readonly scheme: string;
  /** A measure of the cost, which compares hashes of one algorithm. */
  readonly work: number;
  readonly bounds: readonly Bound[];
  /** Compares a password as it was typed. Call it inside `withHashSlot`. */
  readonly matches: (password: string) => Promise<boolean>;
};

/** A hash that cannot be verified, or whose verification would take too long. The message is for the operator. */
export class UnsupportedHashError extends Error {}

// Numbers of the formats, so that a machine accepts the same hashes whatever it is doing. Each allows a second or two.
const BCRYPT_COST = { min: 4, max: 14 };
const PBKDF2_ITERATIONS_MAX = 2_000_000;
const SCRYPT_WORK_MAX = 2 ** 21;
const SCRYPT_MEMORY_MAX = 128 * 1024 * 1024;
const SCRYPT_BLOCKS_MAX = 32;
const SCRYPT_LANES_MAX = 16;
const ARGON2_MEMORY_KIB_MAX = 256 * 1024;
const ARGON2_WORK_KIB_MAX = 1024 * 1024;
const ARGON2_LANES_MAX = 16;
/** Each pass of a lane starts threads, which take longer than their work where the memory is small. */
const ARGON2_PASSES_OF_LANES_MAX = 256;
const DIGEST_BYTES = new Map([
  ['-sha256', 32],
  ['-sha512', 64],
]);
const TAG_BYTES = { min: 16, max: 128 };
const SALT_BYTES_MAX = 128;

const runScrypt = (password: string, salt: Buffer, length: number, ln: number, r: number, p: number): Promise<Buffer> =>
  computeHash('scrypt', password, salt, length, { N: 2 ** ln, r, p, maxmem: 2 * SCRYPT_MEMORY_MAX });

const BASE64 = '[A-Za-z0-9+/._-]+={0,2}';
const SALT_AND_TAG = `\\$(${BASE64})\\$(${BASE64})$`;

/** The formats, each with the function that reads what its pattern captures. Base64 can be padded, and that of passlib. */
const FORMATS: readonly (readonly [RegExp, (text: string, parts: readonly string[]) => StoredHash])[] = [
  [/^(\$2[aby]\$(\d\d)\$)[./A-Za-z0-9]{53}$/, readBcrypt],
  [new RegExp(`^(\\$(argon2(?:id|i|d))\\$v=19\\$m=(\\d{1,7}),t=(\\d{1,7}),p=(\\d{1,3}))${SALT_AND_TAG}`), readArgon2],
  [new RegExp(`^(\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,3}),p=(\\d{1,3}))${SALT_AND_TAG}`), readScrypt],
  [
    new RegExp(
      `^(\\$fbscrypt\\$v=1,n=(\\d{1,2}),r=(\\d{1,3}),p=(\\d{1,3}),ss=(${BASE64}|),sk=(${BASE64}))${SALT_AND_TAG}`,
    ),
    readFirebase,
  ],
  [new RegExp(`^(\\$pbkdf2(-sha1|-sha256|-sha512|)\\$(?:i=)?(\\d{1,8})(?:,l=\\d{1,3})?)${SALT_AND_TAG}`), readPbkdf2],
];

/**
 * Reads a hash of Argon2, bcrypt, scrypt, Firebase's scrypt or PBKDF2 in the PHC format.
 * @throws UnsupportedHashError
 */
export function readHash(text: string): StoredHash {
  for (const [pattern, read] of FORMATS) {
    const parts = pattern.exec(text);
    if (parts !== null) return read(text, parts.slice(1));
  }
  throw new UnsupportedHashError('The format of the password hash is unknown.');
}

/**
 * Reads a hash that another system created like `readHash`, and requires that its verification takes about a second at
 * most on one core: whoever knows the email address can have it verified.
 * @throws UnsupportedHashError
 */
export function readForeignHash(text: string): StoredHash {
  const hash = readHash(text);
  for (const { what, value, max } of hash.bounds) check(value <= max, `${what} must be at most ${max}.`);
  return hash;
}

/** Returns a hash of a scheme that matches no known password, whose verification takes the work of the scheme. */
export const createDummyHash = (scheme: string): string =>
  scheme.startsWith('$2') ? `${scheme}${'.'.repeat(53)}` : `${scheme}$${'A'.repeat(22)}$${'A'.repeat(27)}`;

function check(isMet: boolean, message: string): void {
  if (!isMet) throw new UnsupportedHashError(message);
}

function readSaltAndTag(salt = '', tag = ''): { salt: Buffer; tag: Buffer } {
  const decode = (text: string) => Buffer.from(text.replaceAll('.', '+'), 'base64');
  const bytes = { salt: decode(salt), tag: decode(tag) };
  check(bytes.salt.length <= SALT_BYTES_MAX, `The salt has more than ${SALT_BYTES_MAX} bytes.`);
  const { length } = bytes.tag;
  check(
    length >= TAG_BYTES.min && length <= TAG_BYTES.max,
    `The hash must have ${TAG_BYTES.min} to ${TAG_BYTES.max} bytes.`,
  );
  return bytes;
}

function readBcrypt(hash: string, [scheme = '', cost]: readonly string[]): StoredHash {
  const rounds = Number(cost);
  check(rounds >= BCRYPT_COST.min, `The cost of bcrypt must be at least ${BCRYPT_COST.min}.`);
  return {
    scheme,
    work: 2 ** rounds,
    bounds: [{ what: 'The cost of bcrypt', value: rounds, max: BCRYPT_COST.max }],
    matches: (password) => computeHash('bcrypt', password, hash),
  };
}

function readArgon2(_text: string, [scheme = '', name, m, t, p, ...encoded]: readonly string[]): StoredHash {
  const [memory, passes, parallelism] = [Number(m), Number(t), Number(p)];
  const { salt: nonce, tag } = readSaltAndTag(...encoded);
  check(nonce.length >= 8, 'The salt of Argon2 has less than 8 bytes.');
  check(passes >= 1 && parallelism >= 1 && memory >= 8 * parallelism, 'The parameters of Argon2 are invalid.');
  const algorithm = name === 'argon2i' || name === 'argon2d' ? name : 'argon2id';
  const options = { nonce, memory, passes, parallelism, tagLength: tag.length };
  return {
    scheme,
    work: memory * passes,
    bounds: [
      { what: 'The memory of Argon2 in KiB', value: memory, max: ARGON2_MEMORY_KIB_MAX },
      { what: 'The memory of Argon2 in KiB times passes', value: memory * passes, max: ARGON2_WORK_KIB_MAX },
      { what: 'The number of lanes of Argon2', value: parallelism, max: ARGON2_LANES_MAX },
      { what: 'Passes times lanes of Argon2', value: passes * parallelism, max: ARGON2_PASSES_OF_LANES_MAX },
    ],
    matches: async (message) => timingSafeEqual(await computeHash('argon2', algorithm, { ...options, message }), tag),
  };
}

/** Requires numbers with which scrypt is defined. @returns what bounds its work */
function boundScrypt(ln: number, r: number, p: number): Bound[] {
  // RFC 7914, section 2: N is less than 2^(128 × r / 8).
  check(ln >= 1 && r >= 1 && p >= 1 && ln < 16 * r, 'The parameters of scrypt are invalid.');
  return [
    { what: 'The memory of scrypt in bytes', value: 128 * 2 ** ln * r, max: SCRYPT_MEMORY_MAX },
    { what: 'N × r × p of scrypt', value: 2 ** ln * r * p, max: SCRYPT_WORK_MAX },
    { what: 'r of scrypt', value: r, max: SCRYPT_BLOCKS_MAX },
    { what: 'p of scrypt', value: p, max: SCRYPT_LANES_MAX },
  ];
}

function readScrypt(_text: string, [scheme = '', n, blocks, lanes, ...encoded]: readonly string[]): StoredHash {
  const [ln, r, p] = [Number(n), Number(blocks), Number(lanes)];
  const { salt, tag } = readSaltAndTag(...encoded);
  return {
    scheme,
    work: 2 ** ln * r * p,
    bounds: boundScrypt(ln, r, p),
    matches: async (password) => timingSafeEqual(await runScrypt(password, salt, tag.length, ln, r, p), tag),
  };
}

/** Firebase encrypts the key of the project with the key that scrypt derives; the hash is the ciphertext. */
function readFirebase(_text: string, parts: readonly string[]): StoredHash {
  const [, n, blocks, lanes, separator = '', signer = '', ...encoded] = parts;
  const [ln, r, p] = [Number(n), Number(blocks), Number(lanes)];
  const { salt, tag } = readSaltAndTag(...encoded);
  const [salted, signerKey] = [Buffer.concat([salt, Buffer.from(separator, 'base64')]), Buffer.from(signer, 'base64')];
  return {
    // Without the key of the project.
    scheme: `$fbscrypt$v=1,n=${ln},r=${r},p=${p},ss=,sk=AAAA`,
    work: 2 ** ln * r * p,
    bounds: boundScrypt(ln, r, p),
    async matches(password) {
      const key = await runScrypt(password, salted, 32, ln, r, p);
      const actual = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(signerKey);
      return actual.length === tag.length && timingSafeEqual(actual, tag);
    },
  };
}

function readPbkdf2(_text: string, [, name = '', i, ...encoded]: readonly string[]): StoredHash {
  const iterations = Number(i);
  const { salt, tag } = readSaltAndTag(...encoded);
  check(iterations >= 1, 'The iterations of PBKDF2 must be at least 1.');
  // Each part of the size of a digest takes all iterations.
  const work = iterations * Math.ceil(tag.length / (DIGEST_BYTES.get(name) ?? 20));
  const digest = name === '' ? 'sha1' : name.slice(1);
  return {
    scheme: `$pbkdf2${name}$i=${work}`,
    work,
    bounds: [{ what: 'The iterations of PBKDF2 in all parts', value: work, max: PBKDF2_ITERATIONS_MAX }],
    matches: async (password) =>
      timingSafeEqual(await computeHash('pbkdf2', password, salt, iterations, tag.length, digest), tag),
  };
}
