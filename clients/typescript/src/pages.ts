/** Where a page begins: nothing for the first one. Pass it on with the other input. */
export type ListPosition = { readonly cursor?: string; readonly after?: number };

/** A page of a list, with one array and the position of the next page. */
type Page = { readonly nextCursor: string | null } | { readonly next: number | null };
type Entry<Of> = { [Key in keyof Of]: Of[Key] extends ReadonlyArray<infer One> ? One : never }[keyof Of];

export type ListOptions = { readonly signal?: AbortSignal };

/**
 * Iterates over a list that comes in pages, an entry at a time. The next page is read when its first entry is asked for.
 * @param read reads a page, such as `(page, options) => operator.listAccounts({ ...page, name: 'ada' }, options)`
 */
export async function* listAll<Of extends Page>(
  read: (page: ListPosition, options: ListOptions) => Promise<Of>,
  options: ListOptions = {},
): AsyncGenerator<Entry<Of>, void, void> {
  for (let position: ListPosition | undefined = {}; position !== undefined;) {
    options.signal?.throwIfAborted();
    const page: Of = await read(position, options);
    yield* Object.values(page).find(Array.isArray) as Entry<Of>[]; // of a page
    position = nextOf(page);
  }
}

function nextOf(page: Page): ListPosition | undefined {
  if ('nextCursor' in page) return page.nextCursor === null ? undefined : { cursor: page.nextCursor };
  return page.next === null ? undefined : { after: page.next };
}
