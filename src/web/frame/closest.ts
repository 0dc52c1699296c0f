import { foldText, toSearchWords } from '../search-words.ts';

/** The number of entries of a long list that are in the page. */
const SHOWN_MAX = 50;

type Found<Item> = { readonly shown: readonly Item[]; readonly count: number };

/**
 * Finds what has all words of a search: what is named like it first, then what begins so, then the others in their
 * order. Returns as many as a list shows, and the number of all.
 */
export function findClosest<Item>(
  items: readonly Item[],
  sought: string,
  termsOf: (item: Item) => readonly string[],
): Found<Item> {
  const text = foldText(sought.trim());
  const words = toSearchWords(sought);
  const ranks: Item[][] = [[], [], []];
  for (const item of items) {
    const terms = termsOf(item).map(foldText);
    if (!words.every((word) => terms.some((term) => term.includes(word)))) continue;
    const rank = terms.includes(text) ? 0 : terms.some((term) => term.startsWith(text)) ? 1 : 2;
    ranks[rank]?.push(item);
  }
  const found = ranks.flat();
  return { shown: found.slice(0, SHOWN_MAX), count: found.length };
}
