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

/** With so many other characters, the name helps an attacker no more than another word. */
const REST_LENGTH_MIN = 6;

/**
 * Rejects a new password that an attacker would try first: a common one, the account's email address, or hardly more than
 * the name of the product or of this instance. The input schema checks the length. There are no composition rules.
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
  const name = findGuessedName(guess, [PRODUCT_NAME, brandName]);
  if (name !== undefined)
    throw invalidInput(
      pointer,
      `The password is hardly more than the name ${name}, which is guessed first. Choose another one.`,
    );
}

/**
 * Returns a name that a password contains, if little is left without all of them. Ignores spaces and punctuation, which
 * people put into names.
 */
function findGuessedName(guess: string, names: readonly string[]): string | undefined {
  const written = toCharacters(guess);
  const found = names
    .map((name) => ({ name, characters: toCharacters(fold(name)) }))
    .filter(({ characters }) => Array.from(characters).length >= NAME_LENGTH_MIN && written.includes(characters))
    // One name can be a part of the other.
    .toSorted((a, b) => b.characters.length - a.characters.length);
  const rest = found.reduce((text, { characters }) => text.replaceAll(characters, ' '), written);
  return Array.from(rest.replace(/[\p{N} ]/gu, '')).length < REST_LENGTH_MIN ? found[0]?.name : undefined;
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

const toCharacters = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}\p{So}]/gu, '');

let commonPasswords: ReadonlySet<string> | undefined;

/** Returns the common passwords. The file is read on first use, because most processes never need it. */
const getCommonPasswords = (): ReadonlySet<string> =>
  (commonPasswords ??= new Set(
    readFileSync(`${import.meta.dirname}/common-passwords.txt`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  ));
