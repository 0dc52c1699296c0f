import { DEFAULT_LANGUAGE, describeLanguage, type Language } from '../../messages/languages.ts';
import { LANGUAGE_KEY } from '../stored.ts';
import { chooseLanguage } from './choose-language.ts';

/** The texts of one language, by area and name. */
export type Translation = { readonly [name: string]: string | Translation };

export type Translations = Readonly<
  Record<Exclude<Language, typeof DEFAULT_LANGUAGE>, () => Promise<{ readonly default: Translation }>>
>;

/** The texts before the sign-in. Each is loaded only for its readers, by start.ts as soon as their language is known. */
const TRANSLATIONS: Translations = {
  de: () => import('./de.json?first'),
  fr: () => import('./fr.json?first'),
  es: () => import('./es.json?first'),
  'pt-BR': () => import('./pt-BR.json?first'),
  ja: () => import('./ja.json?first'),
  ar: () => import('./ar.json?first'),
};

/** The language of the console: that of the account that was signed in here last, else of the browser. */
export const language: Language = chooseLanguage();

export const { direction } = describeLanguage(language);

/** What separates the parts of a list. */
export const SEPARATOR = describeLanguage(language).separator ?? ', ';

// Texts are formatted when their modules load, and those modules wait for this one.
export const translation: Translation = language === DEFAULT_LANGUAGE ? {} : (await TRANSLATIONS[language]()).default;

/** Keeps the language of the account that is signed in, and reloads the page if it is in another one. */
export function followLanguage(preferredLocale: string | null): void {
  const wanted = chooseLanguage(preferredLocale);
  if (wanted === language) return;
  try {
    localStorage.setItem(LANGUAGE_KEY, wanted);
  } catch {
    return; // Storage can be forbidden. Then the browser decides.
  }
  location.reload();
}
