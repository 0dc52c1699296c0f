import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { onEventsNumbered } from '../../events/wake.ts';
import { SECOND_MS } from '../../time.ts';
import { Turns } from '../../turns.ts';

/** A caller that has more open waits than this is answered at once. */
const PER_CALLER_MAX = 3;
const TOTAL_MAX = 500;
/** Looks again after this time without new events, because rights can end without one. */
const RECHECK_MS = 5 * SECOND_MS;
/** Events of others wake a wait too, so it looks at most this often. */
const INTERVAL_MS = SECOND_MS / 2;

const turns = new Turns({ total: TOTAL_MAX, perKey: PER_CALLER_MAX });

type Wait<Page> = {
  readonly db: Database;
  /** Whom the bound applies to. */
  readonly caller: string;
  readonly seconds: number;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal | undefined;
  readonly read: () => Promise<Page>;
  readonly isEmpty: (page: Page) => boolean;
};

/** Reads until there is something, for at most so many seconds. @returns the last page that was read */
export async function waitForEvents<Page>({ db, caller, seconds, signal, read, isEmpty }: Wait<Page>): Promise<Page> {
  const deadline = Date.now() + seconds * SECOND_MS;
  const news = seconds === 0 ? null : watchEvents(db, signal);
  try {
    const page = await read();
    const leave = news === null || !isEmpty(page) ? undefined : turns.tryEnter([caller]);
    if (news === null || leave === undefined) return page;
    try {
      return await readUntil({ signal, read, isEmpty, deadline, news, page });
    } finally {
      leave();
    }
  } finally {
    news?.stop();
  }
}

type Wanted<Page> = Omit<Wait<Page>, 'db' | 'caller' | 'seconds'> & {
  readonly deadline: number;
  readonly news: ReturnType<typeof watchEvents>;
  readonly page: Page;
};

async function readUntil<Page>({ signal, read, isEmpty, deadline, news, page }: Wanted<Page>): Promise<Page> {
  const isGone = () => signal?.aborted === true;
  let last = page;
  while (isEmpty(last) && Date.now() < deadline && !isGone()) {
    await news.next(Math.min(RECHECK_MS, deadline - Date.now()));
    if (!isGone()) last = await read();
    if (isEmpty(last)) await sleep(Math.min(INTERVAL_MS, Math.max(0, deadline - Date.now())));
  }
  return last;
}

/** Notes that events were numbered, also during a look and between two of them. */
function watchEvents(db: Database, signal: AbortSignal | undefined) {
  let isNew = false;
  let wake: () => void = () => undefined;
  const onAbort = () => wake();
  signal?.addEventListener('abort', onAbort);
  const stopListening = onEventsNumbered(db, () => {
    isNew = true;
    wake();
  });
  return {
    /** Resolves when events were numbered since it last resolved, the time is over or the client has gone. */
    async next(ms: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (isNew || signal?.aborted === true) resolve();
      const timer = setTimeout(resolve, Math.max(0, ms));
      await promise;
      clearTimeout(timer);
      isNew = false;
    },
    stop(): void {
      stopListening();
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
