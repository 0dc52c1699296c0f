import { readFileSync } from 'node:fs';
import { invalidInput } from '../problems/error.ts';

/** What an attacker knows of the account and the instance that a password is for. */
export type PasswordContext = {
  readonly email: string | null;
  /** The configured name of this instance. */
  readonly brandName: string;
};

const PRODUCT_NAME = 'Roster';

/** A shorter name is part of too many words, so that a password which contains it is not easier to guess. */
const NAME_LENGTH_MIN = 4;

/**
 * Rejects a new password that an attacker would try first: a common one, the account's email address, or one with the
 * name of the product or of this instance. The input schema checks the length. There are no composition rules.
 * @param pointer the member of the body that holds the password
 */
export function requireUncommon(password: string, { email, brandName }: PasswordContext, pointer: string): void {
  const guess = fold(password);
  const address = fold(email ?? '');
  const [mailbox = ''] = address.split('@', 1);
  if (getCommonPasswords().has(guess))
    throw invalidInput(pointer, 'This is one of the most common passwords. Choose another one.');
  if (guess === address || guess === mailbox) {
    throw invalidInput(pointer, 'The password is the email address of the account. Choose another one.');
  }
  const name = [PRODUCT_NAME, brandName].find((known) => containsName(guess, known));
  if (name !== undefined)
    throw invalidInput(pointer, `The password contains the name ${name}, which is guessed first. Choose another one.`);
}

/** Ignores spaces and punctuation, which people put into names. */
function containsName(guess: string, name: string): boolean {
  const letters = toLetters(fold(name));
  return Array.from(letters).length >= NAME_LENGTH_MIN && toLetters(guess).includes(letters);
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

const toLetters = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}]/gu, '');

let commonPasswords: ReadonlySet<string> | undefined;

/** Returns the common passwords. The file is read on first use, because most processes never need it. */
const getCommonPasswords = (): ReadonlySet<string> =>
  (commonPasswords ??= new Set(
    readFileSync(`${import.meta.dirname}/common-passwords.txt`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  ));
