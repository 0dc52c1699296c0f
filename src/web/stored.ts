/** Where Mantine keeps the colors that the user chose. */
export const COLOR_SCHEME_KEY = 'roster-color-scheme';

/** Where the language of the account that was signed in last is kept. */
export const LANGUAGE_KEY = 'roster-language';

/** Reads what this browser keeps. @returns null if there is nothing, or if storage is forbidden */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
