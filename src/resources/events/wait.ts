import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { onEventsNumbered } from '../../events/wake.ts';
import { SECOND_MS } from '../../time.ts';

/** A caller that has more open waits than this is answered at once. */
const PER_CALLER_MAX = 3;
const TOTAL_MAX = 500;
/** Looks again after this time without new events, because rights can end without one. */
const RECHECK_MS = 5 * SECOND_MS;
/** Events of others wake a wait too, so it looks at most this often. */
const INTERVAL_MS = SECOND_MS / 2;

const waiting = new Map<string, number>();
let total = 0;

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
  let page = await read();
  const own = waiting.get(caller) ?? 0;
  if (!isEmpty(page) || seconds === 0 || own >= PER_CALLER_MAX || total >= TOTAL_MAX) return page;
  waiting.set(caller, own + 1);
  total += 1;
  try {
    const isGone = () => signal?.aborted === true;
    while (isEmpty(page) && Date.now() < deadline && !isGone()) {
      // Otherwise calls that wait would use up what their credential can read at a time.
      await db.listQueue.pause();
      await nextEvents(db, Math.min(RECHECK_MS, deadline - Date.now()), signal);
      if (!isGone()) page = await read();
      if (isEmpty(page)) await sleep(Math.min(INTERVAL_MS, Math.max(0, deadline - Date.now())));
    }
    return page;
  } finally {
    total -= 1;
    const left = (waiting.get(caller) ?? 1) - 1;
    if (left === 0) waiting.delete(caller);
    else waiting.set(caller, left);
  }
}

/** Resolves when events were numbered since the call, the time is over or the client has gone. */
async function nextEvents(db: Database, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopListening = onEventsNumbered(db, resolve);
  const timer = setTimeout(resolve, Math.max(0, ms));
  const stop = () => resolve();
  signal?.addEventListener('abort', stop);
  try {
    await promise;
  } finally {
    stopListening();
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
