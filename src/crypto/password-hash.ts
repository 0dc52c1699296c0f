import { randomBytes } from 'node:crypto';
import { PASSWORD_COST } from '../config/password-cost.ts';
import { deriveTag, withHashSlot } from './argon2.ts';
import { createDummyHash, readForeignHash, readHash, UnsupportedHashError, type StoredHash } from './foreign-hash.ts';

/** The length of a new password in code points. Imported ones can have other lengths. */
export const PASSWORD_LENGTH = { min: 8, max: 128 } as const;

/** The cost of one hash. Configuration can raise it; {@link MIN_COST} is the minimum. */
export type PasswordCost = { readonly memoryKib: number; readonly passes: number };

export const MIN_COST: PasswordCost = { memoryKib: PASSWORD_COST.memoryKib.min, passes: PASSWORD_COST.passes.min };

const PARALLELISM = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Returns the scheme of new hashes: their text up to the salt. */
export function schemeOf(cost: PasswordCost): string {
  const { memoryKib, passes } = applyMinCost(cost);
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${PARALLELISM}`;
}

/** Creates an Argon2id hash in the PHC format, which contains its own salt and cost. */
export async function hashPassword(password: string, cost: PasswordCost = MIN_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const parameters = { salt, ...applyMinCost(cost), parallelism: PARALLELISM, tagLength: TAG_BYTES };
  const tag = await withHashSlot(() => deriveTag(normalize(password), parameters));
  return `${schemeOf(cost)}$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(tag)}`;
}

/**
 * Compares a password with a stored hash. Without one, a hash of `scheme` is computed instead. All forms of the password
 * are hashed, also after one was right, so that the number of hashes depends on the password alone.
 */
export async function verifyPassword(
  password: string,
  storedHash: string | null,
  scheme: string = schemeOf(MIN_COST),
): Promise<boolean> {
  const stored = storedHash === null ? null : readVerifiable(storedHash);
  const { matches } = stored ?? readHash(createDummyHash(scheme));
  return withHashSlot(async () => {
    let isRight = false;
    for (const candidate of listCandidates(password)) if (await matches(candidate)) isRight = true;
    return isRight && stored !== null;
  });
}

/** Returns the forms of a password that can have been hashed: normalized, and as other systems hash it. */
const listCandidates = (password: string): ReadonlySet<string> => new Set([normalize(password), password]);

/**
 * Reads a hash that can be verified. The cost of this service's own is the operator's choice. Hashes of other systems that
 * an earlier version imported beyond the present bounds would take the turns of others: their users reset the password.
 */
export function readVerifiable(storedHash: string): StoredHash | null {
  try {
    return isOfOperatorsCost(storedHash) ? readHash(storedHash) : readForeignHash(storedHash);
  } catch (error) {
    if (error instanceof UnsupportedHashError) return null;
    throw error;
  }
}

const NATIVE = new RegExp(`^\\$argon2id\\$v=19\\$m=(\\d+),t=(\\d+),p=${PARALLELISM}\\$`);

/** Returns whether configuration can have set the cost of a hash. Others have the bounds of imported ones. */
function isOfOperatorsCost(storedHash: string): boolean {
  const [, memory, passes] = NATIVE.exec(storedHash) ?? [];
  return isWithin(Number(memory), PASSWORD_COST.memoryKib) && isWithin(Number(passes), PASSWORD_COST.passes);
}

const isWithin = (value: number, { min, max }: { readonly min: number; readonly max: number }): boolean =>
  value >= min && value <= max;

/** Returns whether a hash has another algorithm or cost than new ones, so that the next sign-in replaces it. */
export const needsRehash = (storedHash: string, cost: PasswordCost): boolean =>
  !storedHash.startsWith(`${schemeOf(cost)}$`);

const applyMinCost = ({ memoryKib, passes }: PasswordCost) => ({
  memoryKib: Math.max(memoryKib, MIN_COST.memoryKib),
  passes: Math.max(passes, MIN_COST.passes),
});

const toUnpaddedBase64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Several times the longest password that can be set. */
const NORMALIZED_LENGTH_MAX = 1024;

// Keyboards compose an accented letter differently; for the user it is the same password. The time grows with the square of
// the number of accents on one letter: those of a whole body take seconds, so longer passwords are hashed as typed.
const normalize = (password: string): string =>
  password.length > NORMALIZED_LENGTH_MAX ? password : password.normalize('NFKC');
