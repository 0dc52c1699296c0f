type LanguageDetails = {
  readonly direction: 'ltr' | 'rtl';
  /** The quotation marks, with the space that belongs to them. */
  readonly quotes: readonly [open: string, close: string];
  /** What separates the parts of a list, if not a comma and a space. */
  readonly separator?: string;
  /** The locale of dates, if the language alone is not specific enough. */
  readonly dates?: string;
};

/** The languages of messages, by BCP 47 tag. There is at most one variant of each language. */
export const LANGUAGES = {
  en: { direction: 'ltr', quotes: ['“', '”'], dates: 'en-GB' },
  de: { direction: 'ltr', quotes: ['„', '“'] },
  fr: { direction: 'ltr', quotes: ['«\u00a0', '\u00a0»'] },
  es: { direction: 'ltr', quotes: ['«', '»'] },
  'pt-BR': { direction: 'ltr', quotes: ['“', '”'] },
  ja: { direction: 'ltr', quotes: ['「', '」'], separator: '、' },
  ar: { direction: 'rtl', quotes: ['«', '»'], separator: '، ' },
} as const satisfies Readonly<Record<string, LanguageDetails>>;

export type Language = keyof typeof LANGUAGES;

export const DEFAULT_LANGUAGE = 'en' satisfies Language;

export const describeLanguage = (language: Language): LanguageDetails => LANGUAGES[language];

const NAMES = Object.keys(LANGUAGES) as Language[]; // the keys of the type

/**
 * Returns the language of messages for the first tag that has one: `de` for `de-CH`, `pt-BR` for `pt`. Invalid tags
 * have none.
 */
export function matchLanguage(...tags: readonly (string | null | undefined)[]): Language | undefined {
  for (const tag of tags) {
    const wanted = parseLanguage(tag);
    const found = wanted === undefined ? undefined : NAMES.find((name) => parseLanguage(name) === wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the primary language of a BCP 47 tag, or of one as `de_DE` that an earlier version imported, to which a lookup (RFC 4647 section 3.4) shortens the tag last. */
function parseLanguage(tag: string | null | undefined): string | undefined {
  try {
    return tag ? new Intl.Locale(tag.replaceAll('_', '-')).language : undefined;
  } catch {
    return undefined; // not a language tag
  }
}
