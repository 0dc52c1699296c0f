import type { RosterEvent } from './generated/events.ts';

export type EventPage = { readonly events: readonly RosterEvent[]; readonly cursor: string; readonly hasMore: boolean };

type FeedInput = { readonly after?: string; readonly wait: number };
type FeedCall = (input: FeedInput, options: { readonly signal?: AbortSignal }) => Promise<EventPage>;

export type FollowOptions = {
  /**
   * The `cursor` that you have stored, or `now` for events from now on. Without it, the feed starts with the oldest
   * event. To go on from a snapshot, read a page `after: 'now'` first, then the snapshot, and pass the page’s `cursor`.
   */
  readonly after?: string | undefined;
  /** For how many seconds a call waits for new events, 0 to 20. With 0, the iteration ends when there are no more. */
  readonly wait?: number;
  readonly signal?: AbortSignal;
};

/**
 * Follows a feed of events, a page at a time. Handle the events of a page, then store its `cursor`: after a stop you
 * see no event twice but those of the page that you were at, and miss none.
 * @param read calls the feed, such as `(input, options) => trpc.events.list.query({ teamId, ...input }, options)`
 */
export async function* followEvents(
  read: FeedCall,
  { after, wait = 20, signal }: FollowOptions = {},
): AsyncGenerator<EventPage, void, void> {
  for (let cursor = after; ;) {
    signal?.throwIfAborted();
    const page = await read({ ...(cursor !== undefined && { after: cursor }), wait }, signal ? { signal } : {});
    cursor = page.cursor;
    if (page.events.length > 0) yield page;
    if (wait === 0 && !page.hasMore) return;
  }
}
