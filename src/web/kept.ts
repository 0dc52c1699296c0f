import { useEffect, useEffectEvent, useState, type Dispatch, type SetStateAction } from 'react';

/** What the user entered on a page, by name. A value that is undefined is not in its entry. */
export type Entries = Readonly<Record<string, { readonly value?: unknown }>>;

/** How an entry of the page is read, and what it was before the user entered anything. */
type Shown = { readonly read: () => unknown; readonly initial: () => unknown };

const shown = new Map<string, Shown>();

/** What the names begin with that something new is entered under: only those are kept as drafts. */
const NEW = 'new ';

/** What dialogs for something new held that were closed without a word, by name. */
const drafts = new Map<string, { readonly path: string; readonly initial: string; readonly value: unknown }>();

/** The entries of dialogs that are closed, and whose calls still run. */
const sent = new Set<Readonly<Record<string, unknown>>>();

/** The entries with which a page is opened again, until its parts have taken them. */
let returned: { readonly path: string; readonly entries: Map<string, { readonly value?: unknown }> } | undefined;

/** Returns what the user has entered on this page, and which dialogs are open. */
export function readEntries(): Entries {
  const values = [...shown].map(([name, { read }]) => [name, read()] as const);
  const all = [...values, ...[...sent].flatMap((each) => Object.entries(each))];
  return Object.fromEntries(all.map(([name, value]) => [name, { value }]));
}

/** Gives entries to the parts of the page at a path, which is opened next. */
export function returnEntries(path: string, entries: Entries): void {
  returned = { path: new URL(path, window.location.origin).pathname, entries: new Map(Object.entries(entries)) };
}

/**
 * Keeps what was entered for something new in a dialog that its user closes without a word, until it is opened again at
 * the same path. Changes of something that exists are not kept: they could be taken for those of another row.
 */
export function keepDraft(): void {
  const path = window.location.pathname;
  const before = [...shown]
    .filter(([name]) => name.startsWith(NEW))
    .map(([name, { read, initial }]) => ({ name, value: read(), initial: toText(initial()) }));
  // By then it is no longer in the page.
  setTimeout(() => {
    for (const { name, value, initial } of before)
      if (!shown.has(name) && toText(value) !== initial) drafts.set(name, { path, initial, value });
  });
}

/** Forgets what was entered, before the page is left without asking: it ended, or is of a user who has gone. */
export function forgetEntered(): void {
  drafts.clear();
  shown.clear();
}

/** Whether a form of the page has been changed since it was shown or saved. */
export const hasUnsaved = (): boolean =>
  [...shown].some(([name, { read, initial }]) => FORM.test(name) && toText(read()) !== toText(initial()));

const FORM = /^(?:new )?form /;

/** Names the entry of a form by its fields. */
export const nameForm = (fields: readonly string[], isNew: boolean): string =>
  `${isNew ? NEW : ''}form ${fields.join(' ')}`;

const toText = (value: unknown): string => JSON.stringify(value) ?? '';

/** Finds what was entered under this name before the page or the dialog was opened again. */
function findReturned(name: string, initial: unknown): { readonly value?: unknown } | undefined {
  if (returned?.path !== window.location.pathname) returned = undefined;
  const draft = drafts.get(name);
  // A dialog can begin with other values, such as an address to invite.
  const isOfThis = draft?.path === window.location.pathname && draft.initial === toText(initial);
  return returned?.entries.get(name) ?? (isOfThis ? draft : undefined);
}

/** Keeps the entries of a dialog that is closed before its call ends. @returns what ends that */
export function keepWhileSent(entries: Readonly<Record<string, unknown>>): () => void {
  sent.add(entries);
  return () => void sent.delete(entries);
}

/** Returns the entry that the page or the dialog was opened again with, if there is one. */
export function useReturned(name: string, initial: unknown): { readonly value?: unknown } | undefined {
  const [entry] = useState(() => findReturned(name, initial));
  return entry;
}

/** Has an entry read when the page is left. @param initial what it is before the user enters anything */
export function useEntry(name: string, read: () => unknown, initial: () => unknown): void {
  const readLatest = useEffectEvent(read);
  const readInitial = useEffectEvent(initial);
  useEffect(() => {
    // It is taken. Not while rendering, which can begin again if code or data is missing.
    returned?.entries.delete(name);
    drafts.delete(name);
    const own = { read: () => readLatest(), initial: () => readInitial() };
    shown.set(name, own);
    return () => {
      if (shown.get(name) === own) shown.delete(name);
    };
  }, [name]);
}

/**
 * State like that of `useState`, which survives that the user opens the emailed link of a proof in this tab. It is kept
 * in the tab until then, so it must be no secret.
 * @param name what it is, unique on the page. One that begins with `new ` also survives that its dialog is closed
 */
export function useKept<Value>(name: string, initial: Value): [Value, Dispatch<SetStateAction<Value>>] {
  const before = useReturned(name, initial);
  const [value, setValue] = useState<Value>(
    before === undefined ? initial : (before.value as Value), // which this hook has kept
  );
  useEntry(
    name,
    () => value,
    () => initial,
  );
  return [value, setValue];
}
