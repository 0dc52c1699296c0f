import { isolate, isolateRightToLeft } from '../messages/direction.ts';
import { describeLanguage, type Language } from '../messages/languages.ts';
import { neutralize, replaceQuotationMarks } from '../messages/neutralize.ts';

const NAME_LENGTH_MAX = 100;

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
    const line = replaceQuotationMarks(neutralize(name))
      .replace(/[\p{Cc}\p{Z}\s]+/gu, ' ')
      .replace(/[\p{Cs}\p{Co}]/gu, '')
      .replace(/([.:．。｡․﹒：﹕])(?=\S)/gu, '$1 ')
      .trim();
    const bounded = Array.from(line).length > lengthMax ? `${cut(line, lengthMax - 1)}…` : line;
    return open + (direction === 'rtl' ? isolate(bounded) : isolateRightToLeft(bounded)) + close;
  };
}

const clusters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Returns the beginning of a text with at most so many code points, in whole characters as its readers see them. */
function cut(text: string, lengthMax: number): string {
  let length = 0;
  for (const { index, segment } of clusters.segment(text)) {
    length += Array.from(segment).length;
    if (length > lengthMax) return text.slice(0, index);
  }
  return text;
}
