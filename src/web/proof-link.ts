import { readEntries, returnEntries, type Entries } from './kept.ts';
import { PROOF_KEY, readValue, store } from './stored.ts';

/** Where the page is that asked for a proof: in this tab before the link was opened in it, or in another one. */
type Asker = { readonly path: string; readonly entries: Entries } | 'another tab';

type Kept = { readonly email: string; readonly path: string; readonly at: number; readonly entries?: Entries };

/** After this, a page that waited is taken to be closed: emailed links have expired too. */
const WAIT_MS = 3_600_000;

/** Notes that this page waits for the emailed link of an account, and in this tab what was entered on it. */
export function awaitLink(email: string): void {
  const { pathname, search } = window.location;
  const kept: Kept = { email, path: pathname + search, at: Date.now() };
  store('localStorage', PROOF_KEY, kept);
  store('sessionStorage', PROOF_KEY, { ...kept, entries: readEntries() });
}

/** Returns the path of the page that waited, which is opened with what was entered on it. */
export function returnTo({ path, entries }: Exclude<Asker, 'another tab'>): string {
  returnEntries(path, entries);
  return path;
}

export function stopAwaitingLink(): void {
  store('localStorage', PROOF_KEY, null);
  store('sessionStorage', PROOF_KEY, null);
}

/** Finds the page that waits for a link to this address. */
export function findAsker(email: string): Asker | undefined {
  const isWaiting = (kept: unknown): kept is Kept => {
    const { email: of, at = 0 } = (kept ?? {}) as Partial<Kept>; // written by `awaitLink`
    return of === email && Date.now() - at < WAIT_MS;
  };
  const here = readValue('sessionStorage', PROOF_KEY);
  if (isWaiting(here)) return { path: here.path, entries: here.entries ?? {} };
  return isWaiting(readValue('localStorage', PROOF_KEY)) ? 'another tab' : undefined;
}
