import { CallerGoneError } from '../../turns.ts';
import { currentCaller, msSinceLastRequest } from '../turns/caller.ts';

/** From how many items a list is too long to be worked on in one go, or beside others on a connection. */
export const LONG_ITEMS = 200;

/** How many items are worked on in one go: for less than a millisecond. */
export const PART_ITEMS = 100;

/** If a request arrived within this time, others are probably at work. */
const RECENT_MS = 20;

/** How long other requests have for each millisecond of a long list. */
const OTHERS_SHARE = 3;

export const isLong = (items: readonly unknown[]): boolean => items.length > LONG_ITEMS;

const waiting: (() => void)[] = [];

/** When the part before began. */
let beganAt = 0;

/** Resolves when it is the turn of the next part. The event loop runs one part of all long lists in each round. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) schedule();
  });

/** Leaves three quarters of the time to other requests, if there are any. */
function schedule(): void {
  const tookMs = performance.now() - beganAt;
  if (msSinceLastRequest() < RECENT_MS && tookMs < RECENT_MS) setTimeout(runOne, OTHERS_SHARE * tookMs);
  else setImmediate(runOne);
}

function runOne(): void {
  beganAt = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(schedule);
}

/**
 * Calls `work` with one part of the list after the other, so that long lists do not delay other requests.
 * @throws CallerGoneError if the client hangs up meanwhile
 */
export async function forEachPart<Item>(
  items: readonly Item[],
  work: (part: readonly Item[]) => Promise<void> | void,
): Promise<void> {
  const over = currentCaller()?.over;
  for (let start = 0; start < items.length; start += PART_ITEMS) {
    await nextTurn();
    if (over?.aborted) throw new CallerGoneError();
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
