import { SECOND_MS } from '../time.ts';
import { isKnown } from './catalogue.ts';

// In a rolling upgrade, replicas of a newer version record events of types that an older one does not know. It leaves
// them to the newer ones, for a bounded time, because after a rollback there is none.

/** How long an older replica waits for a newer one to number an event, which takes one of them about a second. */
export const NUMBERING_MS = 10 * SECOND_MS;

/** How long feeds and webhooks of an older replica stop before an event, so that a newer one shows or delivers it. */
export const STOP_INTERVAL = '1 hour';

/** The event that the numbering of a database waits for, and since when, by the clock of `performance.now()`. */
const waitingFor = new WeakMap<object, { readonly id: string; readonly since: number }>();

/**
 * Returns whether to leave events to a newer replica, because one of them is of an unknown type.
 * @param key the database
 */
export function isLeftToNewer(
  key: object,
  events: readonly { readonly id: string; readonly event: string }[],
): boolean {
  const unknown = events.find(({ event }) => !isKnown(event));
  if (unknown === undefined) return false;
  const now = performance.now();
  const waiting = waitingFor.get(key);
  if (waiting?.id === unknown.id) return now - waiting.since < NUMBERING_MS;
  waitingFor.set(key, { id: unknown.id, since: now });
  return true;
}
