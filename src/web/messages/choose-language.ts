import { DEFAULT_LANGUAGE, matchLanguage, type Language } from '../../messages/languages.ts';
import { LANGUAGE_KEY, readStored } from '../stored.ts';

/**
 * Returns the language of the console for an account that prefers one, or else for the browser.
 * @param preferred that of the account that was signed in here last, if not given
 */
export const chooseLanguage = (preferred: string | null = readStored(LANGUAGE_KEY)): Language =>
  matchLanguage(preferred, ...navigator.languages) ?? DEFAULT_LANGUAGE;
