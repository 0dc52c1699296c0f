import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { invalidInput } from '../errors.ts';

/** The length of a password in code points. */
export const PASSWORD_LENGTH = { min: 8, max: 128 } as const;

/** What one hash takes. Configuration raises it, and never goes below {@link LEAST_COST}. */
export type PasswordCost = { readonly memoryKib: number; readonly passes: number };

export const LEAST_COST: PasswordCost = { memoryKib: 19 * 1024, passes: 2 };

const PARALLELISM = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const derive = promisify(argon2);

/** A new Argon2id hash in the PHC format, which carries its own salt and cost. */
export async function hashPassword(password: string, cost: PasswordCost = LEAST_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const { memory, passes } = boundedCost(cost);
  const tag = await derive('argon2id', {
    message: normalized(password),
    nonce: salt,
    memory,
    passes,
    parallelism: PARALLELISM,
    tagLength: TAG_BYTES,
  });
  return format(cost, salt, tag);
}

/**
 * Whether the password is the one that was hashed. Without a hash it is false after the same work,
 * so that the time does not tell whether an account exists or has a password.
 * @param cost the work where there is no hash, which is the one of new hashes
 */
export async function verifyPassword(
  password: string,
  storedHash: string | null,
  cost: PasswordCost = LEAST_COST,
): Promise<boolean> {
  const hash = storedHash ?? format(cost, Buffer.alloc(SALT_BYTES), Buffer.alloc(TAG_BYTES));
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? [];
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

/** Whether a hash was made at less than the cost of new ones, so that the next sign-in makes it anew. */
export function isCheaper(storedHash: string, cost: PasswordCost): boolean {
  const [, memory, passes] = PHC.exec(storedHash) ?? [];
  const wanted = boundedCost(cost);
  return Number(memory) < wanted.memory || Number(passes) < wanted.passes;
}

/**
 * Refuses a new password that anybody would try first: a common one, or the account's own address.
 * The length is the input's rule, and there is no rule of composition.
 * @param pointer the member of the body that holds it
 */
export function requireUncommon(password: string, email: string | null, pointer: string): void {
  const guess = normalized(password).toLowerCase();
  const address = normalized(email ?? '').toLowerCase();
  const [mailbox = ''] = address.split('@', 1);
  if (common().has(guess)) throw invalidInput(pointer, 'This is one of the most common passwords. Choose another one.');
  if (guess === address || guess === mailbox) {
    throw invalidInput(pointer, 'The password is the address of the account. Choose another one.');
  }
}

let commonPasswords: ReadonlySet<string> | undefined;

/** Read when the first password is chosen, not by every process that imports this. */
const common = (): ReadonlySet<string> =>
  (commonPasswords ??= new Set(
    readFileSync(`${import.meta.dirname}/common-passwords.txt`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  ));

const boundedCost = ({ memoryKib, passes }: PasswordCost) => ({
  memory: Math.max(memoryKib, LEAST_COST.memoryKib),
  passes: Math.max(passes, LEAST_COST.passes),
});

function format(cost: PasswordCost, salt: Buffer, tag: Buffer): string {
  const { memory, passes } = boundedCost(cost);
  return `$argon2id$v=19$m=${memory},t=${passes},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(tag)}`;
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

// Keyboards differ in how they compose an accented letter; to its owner it is one password.
const normalized = (password: string): string => password.normalize('NFKC');
