const clusters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Returns the first characters of a text, as readers see them. */
const takeCharacters = (text: string, count: number): string =>
  Array.from(clusters.segment(text), ({ segment }) => segment)
    .slice(0, count)
    .join('');

/** Returns the words that initials are made of: those of `A & B` are AB. */
const wordsOf = (name: string): string => name.replaceAll(/(?<=^|\s)[^\p{L}\p{N}]+/gu, '').trim() || name;

/** Returns the initials of a name: of the first two words, or the first two characters of one. */
export function getInitials(name: string): string {
  const [first = '', second] = wordsOf(name).split(' ');
  const initials =
    second === undefined ? takeCharacters(first, 2) : takeCharacters(first, 1) + takeCharacters(second, 1);
  return initials.toUpperCase();
}
