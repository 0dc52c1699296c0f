import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** The length of a password in code points. */
export const PASSWORD_LENGTH = { min: 8, max: 128 } as const;

const MEMORY_KIB = 19 * 1024;
const PASSES = 2;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const derive = promisify(argon2);

/** A new Argon2id hash in the PHC format, which carries its own salt and cost. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const cost = { memory: MEMORY_KIB, passes: PASSES, parallelism: PARALLELISM, tagLength: TAG_BYTES };
  return format(salt, await derive('argon2id', { message: normalized(password), nonce: salt, ...cost }));
}

/**
 * Whether the password is the one that was hashed. Without a hash it is false after the same work,
 * so that the time does not tell whether an account exists or has a password.
 */
export async function verifyPassword(password: string, storedHash: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(storedHash ?? NOBODYS_HASH) ?? [];
  if (tag === '') throw new Error('A stored password hash is not in the PHC format of Argon2id.');
  const expected = Buffer.from(tag, 'base64');
  const actual = await derive('argon2id', {
    message: normalized(password),
    nonce: Buffer.from(salt, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected) && storedHash !== null;
}

function format(salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(tag)}`;
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

// Keyboards differ in how they compose an accented letter; to its owner it is one password.
const normalized = (password: string): string => password.normalize('NFKC');

const NOBODYS_HASH = format(Buffer.alloc(SALT_BYTES), Buffer.alloc(TAG_BYTES));
