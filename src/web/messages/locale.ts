import { matchLanguage } from '../../messages/languages.ts';
import { language } from './language.ts';

/**
 * Returns the locale of dates and numbers: the region of the reader, in the language of the console. Otherwise a reader
 * whose language the console does not have would get dates in it, in the middle of texts in another.
 * @param preferred the locale of the account; the browser decides if it is null
 */
export function chooseLocale(preferred: string | null | undefined): string {
  const wanted = [preferred, ...navigator.languages].map(parse).find((locale) => locale !== undefined);
  if (wanted === undefined) return language;
  if (matchLanguage(wanted.toString()) === language) return wanted.toString();
  return wanted.region === undefined ? language : new Intl.Locale(language, { region: wanted.region }).toString();
}

function parse(tag: string | null | undefined): Intl.Locale | undefined {
  try {
    return tag ? new Intl.Locale(tag) : undefined;
  } catch {
    return undefined; // not a language tag
  }
}

let current = chooseLocale(null);

/** Returns the locale in which texts format numbers. */
export const getLocale = (): string => current;

/** Lets texts format numbers as the account that is signed in prefers. */
export function followLocale(preferred: string | null): void {
  current = chooseLocale(preferred);
}
