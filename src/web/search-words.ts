/** Returns a text without case and accents. */
export const foldText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Returns the words of a search, folded. */
export const toSearchWords = (search: string): readonly string[] => foldText(search).split(/\s+/).filter(Boolean);
