import { describeLanguage, type Language } from '../messages/languages.ts';

const NAME_LENGTH_MAX = 100;

/** Everything that looks like a quotation mark, except apostrophes. */
const QUOTATION_MARKS = /(?!['‘’])[\p{Quotation_Mark}❛-❠❮❯〈-》≪≫]/gu;

/** Letters that are written from right to left (blocks of the Unicode standard). */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Keeps the direction of the text between them from changing that around it (FSI and PDI of UAX #9). */
const isolate = (text: string): string => `\u2068${text}\u2069`;

export type Quote = (name: string, lengthMax?: number) => string;

/**
 * Creates a function that quotes a name that a user chose, neutralised for an email: one line of limited length, in
 * quotation marks of the language that it cannot close, with a space after every dot and colon, so that no email
 * program turns `example.com`, `https://…` or an email address into a link. A name whose direction can differ from that
 * of the language is isolated, and cannot contain characters that end the isolation.
 */
export function createQuote(language: Language): Quote {
  const { direction, quotes } = describeLanguage(language);
  const [open, close] = quotes;
  return (name, lengthMax = NAME_LENGTH_MAX) => {
    const line = name
      .replace(/[\p{Cc}\p{Z}\s]+/gu, ' ')
      .replace(/[\p{Cf}\p{Cs}\p{Co}]/gu, '')
      .replace(QUOTATION_MARKS, "'")
      .replace(/([.:．。｡․﹒：﹕])(?=\S)/gu, '$1 ')
      .trim();
    const characters = Array.from(line);
    const bounded = characters.length > lengthMax ? `${characters.slice(0, lengthMax - 1).join('')}…` : line;
    const isIsolated = direction === 'rtl' || RIGHT_TO_LEFT.test(bounded);
    return `${open}${isIsolated ? isolate(bounded) : bounded}${close}`;
  };
}
