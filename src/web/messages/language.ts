import { DEFAULT_LANGUAGE, describeLanguage, matchLanguage, type Language } from '../../messages/languages.ts';

/** The texts of one language, by area and name. */
type Translation = { readonly [name: string]: string | Translation };

/** Languages other than English. Each is loaded only for its readers. */
const TRANSLATIONS: Readonly<Partial<Record<Language, () => Promise<{ readonly default: Translation }>>>> = {
  de: () => import('./de.json'),
  fr: () => import('./fr.json'),
  es: () => import('./es.json'),
  'pt-BR': () => import('./pt-BR.json'),
  ja: () => import('./ja.json'),
  ar: () => import('./ar.json'),
};

const STORED = 'roster-language';

/** The language of the console: that of the account that was signed in here last, else of the browser. */
export const language: Language = choose(readStored());

export const { direction } = describeLanguage(language);

/** What separates the parts of a list. */
export const SEPARATOR = describeLanguage(language).separator ?? ', ';

// Texts are formatted when their modules load, and those modules wait for this one.
export const translation: Translation = (await TRANSLATIONS[language]?.())?.default ?? {};

/** Keeps the language of the account that is signed in, and reloads the page if it is in another one. */
export function followLanguage(preferredLocale: string | null): void {
  const wanted = choose(preferredLocale);
  if (wanted === language) return;
  try {
    localStorage.setItem(STORED, wanted);
  } catch {
    return; // Storage can be forbidden. Then the browser decides.
  }
  location.reload();
}

function choose(locale: string | null): Language {
  const found = matchLanguage(locale, ...navigator.languages) ?? DEFAULT_LANGUAGE;
  return found in TRANSLATIONS ? found : DEFAULT_LANGUAGE;
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
