import { DEFAULT_LANGUAGE } from '../../messages/languages.ts';
import { toTexts, type Texts, type Tree } from './define-texts.ts';
import { language, type Translation, type Translations } from './language.ts';

/** The texts of pages after the sign-in, loaded like those before it. */
const TRANSLATIONS: Translations = {
  de: () => import('./de.json?pages'),
  fr: () => import('./fr.json?pages'),
  es: () => import('./es.json?pages'),
  'pt-BR': () => import('./pt-BR.json?pages'),
  ja: () => import('./ja.json?pages'),
  ar: () => import('./ar.json?pages'),
};

const translation: Translation = language === DEFAULT_LANGUAGE ? {} : (await TRANSLATIONS[language]()).default;

/** Returns texts like `defineTexts`, of an area that no page before the sign-in needs. */
export const definePageTexts = <const Given extends Tree>(area: string, english: Given): Texts<Given> =>
  toTexts(english, translation[area]) as Texts<Given>; // as the types compute
