import { DEFAULT_LANGUAGE, matchLanguage, type Language } from '../../messages/languages.ts';
import { LANGUAGE_KEY, readStored, readValue, store } from '../stored.ts';

const ASKED_KEY = 'roster-asked-language';

/** Reads the query of the page. Tests of texts have no page. */
const readSearch = () => new URLSearchParams(typeof window === 'undefined' ? '' : window.location.search);

/** Returns the language that an application asked for (`ui_locales`), for the pages that its request leads through. */
function readAsked(): string | null {
  const asked = readSearch().get('ui_locales');
  if (asked !== null) store('sessionStorage', ASKED_KEY, [asked]);
  const [kept] = [readValue('sessionStorage', ASKED_KEY) ?? asked].flat();
  return typeof kept === 'string' ? kept : null;
}

/**
 * Returns the language of the console for an account that prefers one, or else for an application that asks, or the browser.
 * @param preferred that of the account that was signed in here last, if not given
 */
export const chooseLanguage = (preferred: string | null = readStored(LANGUAGE_KEY)): Language =>
  matchLanguage(preferred, readAsked(), ...navigator.languages) ?? DEFAULT_LANGUAGE;
