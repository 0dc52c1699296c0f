import type { Services } from '../../service/services.ts';
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
  /** Checks the credential again. Called for each look but the first, for which it was just authenticated. */
  readonly requireLive?: () => Promise<void>;
};

/** Reads a page of a feed. */
export const readOrWait = (
  { db, encryption }: Services,
  { wait, caller, signal, findReader, requireLive, after, ...options }: Options,
): Promise<FeedPage> => {
  let looks = 0;
  let from = after;
  return waitForEvents({
    db,
    caller,
    seconds: wait,
    signal,
    read: async () => {
      if ((looks += 1) > 1) await requireLive?.();
      const page = await readFeed(db, encryption, await findReader(), { ...options, after: from });
      from = page.cursor;
      return page;
    },
    isEmpty: ({ events, hasMore }) => events.length === 0 && !hasMore,
  });
};
