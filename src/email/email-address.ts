/** Returns whether two spellings are the same email address. Case does not matter. */
export const isSameEmailAddress = (a: string | null | undefined, b: string): boolean =>
  a?.toLowerCase() === b.toLowerCase();
