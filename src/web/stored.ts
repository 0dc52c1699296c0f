/** Where Mantine keeps the colors that the user chose. */
export const COLOR_SCHEME_KEY = 'roster-color-scheme';

/** Where the language of the account that was signed in last is kept. */
export const LANGUAGE_KEY = 'roster-language';

/** Where a page that waits for an emailed link says so to the tab of the link. */
export const PROOF_KEY = 'roster-proof';

/** Reads what this browser keeps. @returns null if there is nothing, or if storage is forbidden */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value in this browser or, with `sessionStorage`, in this tab. Does nothing if storage is forbidden. */
export function store(kind: 'localStorage' | 'sessionStorage', key: string, value: object | null): void {
  try {
    if (value === null) window[kind].removeItem(key);
    else window[kind].setItem(key, JSON.stringify(value));
  } catch {
    // What is kept is a convenience.
  }
}

/** Reads a value that `store` has kept. */
export function readValue(kind: 'localStorage' | 'sessionStorage', key: string): unknown {
  try {
    return JSON.parse(window[kind].getItem(key) ?? 'null');
  } catch {
    return null;
  }
}
