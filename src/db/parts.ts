/** How many items are worked on before others get the event loop: about a millisecond. */
const PART_ITEMS = 200;

/** Whether a list is too long to be worked on in one go. */
export const isLong = (items: readonly unknown[]): boolean => items.length > PART_ITEMS;

const waiting: (() => void)[] = [];

/** Resolves when it is the turn of the next part. The event loop runs one part of all long lists in each round. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(runOne);
  });

function runOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(runOne);
}

/** Calls `work` with one part of the list after the other, so that long lists do not delay other requests. */
export async function forEachPart<Item>(
  items: readonly Item[],
  work: (part: readonly Item[]) => Promise<void> | void,
): Promise<void> {
  for (let start = 0; start < items.length; start += PART_ITEMS) {
    await nextTurn();
    await work(items.slice(start, start + PART_ITEMS));
  }
}

/** Converts each item, as `map` of arrays does; long lists in parts. */
export async function mapInParts<Item, Result>(
  items: readonly Item[],
  convert: (item: Item) => Result,
): Promise<Result[]> {
  if (!isLong(items)) return items.map((item) => convert(item));
  const results: Result[] = [];
  await forEachPart(items, (part) => {
    for (const item of part) results.push(convert(item));
  });
  return results;
}
