type Work<Item> = (part: readonly Item[]) => Promise<void> | void;

/** A list of hundreds or thousands of items that is read while it is worked on, so that never all of it is in memory. */
export class LongList<Item> {
  /**
   * Reads the list, once for each call. All parts but the last one have `PART_ITEMS` items.
   * @throws BusyError, CallerGoneError
   */
  readonly forEachPart: (work: Work<Item>) => Promise<void>;

  constructor(forEachPart: (work: Work<Item>) => Promise<void>) {
    this.forEachPart = forEachPart;
  }
}

/** A list as it is read: at once, or in parts if it is long. */
export type Listed<Item> = Item[] | LongList<Item>;

/** Reads all of a list. */
export async function collect<Item>(list: Listed<Item>): Promise<Item[]> {
  if (Array.isArray(list)) return list;
  const items: Item[] = [];
  await list.forEachPart((part) => void items.push(...part));
  return items;
}
