import { randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { invalidInput } from '../errors.ts';
import { deriveTag, withHashSlot } from './argon2.ts';
import { createDummyHash, readForeignHash } from './foreign-hash.ts';

/** The length of a password in code points. */
export const PASSWORD_LENGTH = { min: 8, max: 128 } as const;

/** The cost of one hash. Configuration can raise it; {@link MIN_COST} is the minimum. */
export type PasswordCost = { readonly memoryKib: number; readonly passes: number };

export const MIN_COST: PasswordCost = { memoryKib: 19 * 1024, passes: 2 };

const PARALLELISM = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Creates an Argon2id hash in the PHC format, which contains its own salt and cost. */
export async function hashPassword(password: string, cost: PasswordCost = MIN_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const parameters = { salt, ...applyMinCost(cost), parallelism: PARALLELISM, tagLength: TAG_BYTES };
  const tag = await withHashSlot(() => deriveTag(normalize(password), parameters));
  return format(cost, salt, tag);
}

/**
 * Compares a password with a stored hash. The work is the same without a hash, and for a hash of another
 * cost than the configured one, so that the time reveals neither that an account exists nor its history.
 * @param schemes the most expensive schemes of other systems that are stored: each verification takes at least as long
 */
export async function verifyPassword(
  password: string,
  storedHash: string | null,
  cost: PasswordCost = MIN_COST,
  schemes: readonly string[] = [],
): Promise<boolean> {
  const floorMs = await findFloor(schemes, cost);
  let startedAt = 0;
  const isRight = await withHashSlot(async () => {
    startedAt = performance.now();
    for (const candidate of listCandidates(password)) if (await matches(candidate, storedHash, cost)) return true;
    return false;
  });
  // Not in the slot, so that waiting takes no one's turn.
  await sleep(Math.max(0, startedAt + floorMs - performance.now()));
  return isRight;
}

/** Returns the forms of a password that can have been hashed: the normalized one first, and as other systems hash it. */
const listCandidates = (password: string): ReadonlySet<string> => new Set([normalize(password), password]);

async function matches(message: string, storedHash: string | null, cost: PasswordCost): Promise<boolean> {
  if (storedHash !== null && !PHC.test(storedHash)) return readForeignHash(storedHash).matches(message);
  const { salt, tag, parallelism, passesOfDummy, ...stored } = planVerification(storedHash, cost);
  const tagLength = tag?.length ?? TAG_BYTES;
  const actual = tag === null ? null : await deriveTag(message, { salt, ...stored, parallelism, tagLength });
  if (passesOfDummy > 0) {
    const { memoryKib } = applyMinCost(cost);
    await deriveTag(message, { salt, memoryKib, passes: passesOfDummy, parallelism, tagLength });
  }
  return tag !== null && actual !== null && timingSafeEqual(actual, tag);
}

/** Verifications can take longer than the measured one by this factor before their time differs from that of others. */
const FLOOR_MARGIN = 1.5;

const MEASURED_AGAIN_MS = 300_000;

const durations = new Map<string, { readonly duration: Promise<number>; readonly at: number }>();

/**
 * Returns the minimum duration of a verification in milliseconds, while hashes of other systems are stored. Their work
 * cannot be added to that of an Argon2id hash, so this process measures each scheme.
 */
async function findFloor(schemes: readonly string[], cost: PasswordCost): Promise<number> {
  if (schemes.length === 0) return 0;
  // Argon2id can be filled up with passes instead.
  for (const [, memoryKib, passes] of schemes.flatMap((scheme) => [...scheme.matchAll(ARGON2ID_COST)]))
    highestWork = Math.max(highestWork, Number(memoryKib) * Number(passes));
  const foreign = schemes.filter((scheme) => !scheme.startsWith('$argon2id$'));
  if (foreign.length === 0) return 0;
  const native = await measure(`argon2id ${highestWork}`, null, cost);
  const others = await Promise.all(foreign.map((scheme) => measure(scheme, createDummyHash(scheme), cost)));
  return FLOOR_MARGIN * Math.max(native, ...others);
}

const ARGON2ID_COST = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),/g;

/**
 * Measures a verification, once for each name, and again after a while, because the first time can have been a busy one.
 * Only the first caller waits. @returns milliseconds
 */
function measure(name: string, storedHash: string | null, cost: PasswordCost): Promise<number> {
  const known = durations.get(name);
  const now = performance.now();
  if (known !== undefined && now - known.at < MEASURED_AGAIN_MS) return known.duration;
  const measured = withHashSlot(
    async () => {
      const startedAt = performance.now();
      await matches('a password', storedHash, cost);
      return performance.now() - startedAt;
    },
    { isShared: true },
  );
  if (known === undefined) {
    durations.set(name, { duration: measured, at: now });
    measured.catch(() => durations.delete(name));
    return measured;
  }
  durations.set(name, { ...known, at: now });
  measured.then(
    () => durations.set(name, { duration: measured, at: now }),
    () => undefined, // too busy now
  );
  return known.duration;
}

/** The highest work of a stored hash that this process has seen: after the cost was lowered, all others have to match it. */
let highestWork = 0;

const toWork = ({ memoryKib, passes }: PasswordCost): number => memoryKib * passes;

/**
 * Returns what to derive for a verification: the stored hash, if any, and as many passes of a dummy at the
 * configured memory as it takes to reach the work that every verification does.
 */
export function planVerification(storedHash: string | null, cost: PasswordCost) {
  const configured = applyMinCost(cost);
  const { salt, tag, ...stored } = storedHash === null ? NO_HASH : parse(storedHash);
  highestWork = Math.max(highestWork, toWork(stored));
  const missing = Math.max(highestWork, toWork(configured)) - toWork(stored);
  return { ...stored, salt, tag, passesOfDummy: Math.round(missing / configured.memoryKib) };
}

/** Returns whether a hash has another algorithm or cost than new ones, so that the next sign-in replaces it. */
export function needsRehash(storedHash: string, cost: PasswordCost): boolean {
  if (!PHC.test(storedHash)) return true;
  const { memoryKib, passes } = parse(storedHash);
  const wanted = applyMinCost(cost);
  return memoryKib !== wanted.memoryKib || passes !== wanted.passes;
}

const NO_HASH = { memoryKib: 0, passes: 0, parallelism: PARALLELISM, salt: Buffer.alloc(SALT_BYTES), tag: null };

function parse(storedHash: string) {
  const [, memoryKib, passes, parallelism, salt = '', tag = ''] = PHC.exec(storedHash) ?? [];
  if (tag === '') throw new Error('A stored password hash is not in the PHC format of Argon2id.');
  return {
    memoryKib: Number(memoryKib),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/**
 * Rejects a new password that an attacker would try first: a common one, or the account's email address.
 * The input schema checks the length. There are no composition rules.
 * @param pointer the member of the body that holds the password
 */
export function requireUncommon(password: string, email: string | null, pointer: string): void {
  const guess = normalize(password).toLowerCase();
  const address = normalize(email ?? '').toLowerCase();
  const [mailbox = ''] = address.split('@', 1);
  if (getCommonPasswords().has(guess))
    throw invalidInput(pointer, 'This is one of the most common passwords. Choose another one.');
  if (guess === address || guess === mailbox) {
    throw invalidInput(pointer, 'The password is the email address of the account. Choose another one.');
  }
}

let commonPasswords: ReadonlySet<string> | undefined;

/** Returns the common passwords. The file is read on first use, because most processes never need it. */
const getCommonPasswords = (): ReadonlySet<string> =>
  (commonPasswords ??= new Set(
    readFileSync(`${import.meta.dirname}/common-passwords.txt`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  ));

const applyMinCost = ({ memoryKib, passes }: PasswordCost) => ({
  memoryKib: Math.max(memoryKib, MIN_COST.memoryKib),
  passes: Math.max(passes, MIN_COST.passes),
});

function format(cost: PasswordCost, salt: Buffer, tag: Buffer): string {
  const { memoryKib, passes } = applyMinCost(cost);
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${PARALLELISM}$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(tag)}`;
}

const toUnpaddedBase64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

// Keyboards compose an accented letter differently; for the user it is the same password.
const normalize = (password: string): string => password.normalize('NFKC');
