import type { Services } from '../../app-services.ts';
import type { EventName } from '../../events/catalogue.ts';
import { readFeed, type FeedPage, type FeedReader } from '../../events/feed/read.ts';
import { waitForEvents } from './wait.ts';

type Options = {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly types?: readonly EventName[] | undefined;
  /** How many seconds to wait if there is nothing new. */
  readonly wait: number;
  readonly caller: string;
  readonly signal: AbortSignal | undefined;
  /** Called for each look, so that a wait ends with the rights of its caller. */
  readonly findReader: () => Promise<FeedReader> | FeedReader;
};

/** Reads a page of a feed. */
export const readOrWait = (
  { db, encryption }: Services,
  { wait, caller, signal, findReader, ...options }: Options,
): Promise<FeedPage> =>
  waitForEvents({
    db,
    caller,
    seconds: wait,
    signal,
    read: async () => readFeed(db, encryption, await findReader(), options),
    isEmpty: ({ events, hasMore }) => events.length === 0 && !hasMore,
  });
