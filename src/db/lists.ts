import type { Pool } from 'pg';
import { beginList, endLists } from './batch-lists.ts';
import { CallerGoneError, currentCaller, type Caller } from './caller.ts';
import { cancelStatement } from './cancel.ts';
import { PreparedBatch } from './prepared-batch.ts';
import type { BoundQuery, Rows } from './prepared-statement.ts';
import { Turns } from './turns.ts';

/** How many requests of a credential read lists at once; each keeps its place until its response is sent. */
const REQUESTS_PER_CREDENTIAL = 2;
const QUEUE_PER_CREDENTIAL = 100;
const WAIT_MS = 10_000;

/** The key of jobs and of commands. */
const BACKGROUND = 'background';

export type ListQueue = {
  run(query: BoundQuery): Promise<Rows>;
  /** Gives up the place of the present request until its next list, because it waits without one. */
  pause(): Promise<void>;
  /** How many requests read a list, send it or wait for that. */
  readonly length: number;
};

/**
 * Creates a queue of queries that can return thousands of rows. Each credential runs one at a time, and credentials
 * take turns, so that nobody waits for more than one list of another. A query ends when its client has gone.
 */
export function createListQueue(pool: Pool): ListQueue {
  const limits = { queuePerKey: QUEUE_PER_CREDENTIAL, waitMs: WAIT_MS };
  // Bounds the rows in memory: a client that does not read gets no more of them.
  const requests = new Turns({ ...limits, total: Infinity, perKey: REQUESTS_PER_CREDENTIAL });
  const statements = new Turns({ ...limits, total: pool.options.max, perKey: 1 });
  const places = new WeakMap<Caller, Promise<() => void>>();

  /** @returns a function that gives up the place, once */
  const takePlace = async (caller: Caller, keys: readonly string[]): Promise<() => void> => {
    const giveUp = await requests.enter({ keys, caller });
    let isTaken = true;
    const leave = () => {
      caller.over.removeEventListener('abort', leave);
      if (isTaken) giveUp();
      isTaken = false;
    };
    if (caller.over.aborted) leave();
    else caller.over.addEventListener('abort', leave);
    return leave;
  };

  return {
    async run(query) {
      await beginList();
      const caller = currentCaller();
      const keys = [caller?.credential ?? BACKGROUND];
      if (caller !== undefined) {
        const place = places.get(caller) ?? takePlace(caller, keys);
        places.set(caller, place);
        await place;
      }
      return statements.run({ keys, caller }, () => runAlone(pool, query, caller?.over));
    },
    async pause() {
      await endLists();
      const caller = currentCaller();
      const place = caller && places.get(caller);
      if (caller === undefined || place === undefined) return;
      places.delete(caller);
      const leave = await place;
      leave();
    },
    get length() {
      return requests.queued;
    },
  };
}

/** Runs a query on a connection of its own. @throws CallerGoneError if `over` aborts before it has ended */
const runAlone = (pool: Pool, query: BoundQuery, over: AbortSignal | undefined): Promise<Rows> =>
  new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        reject(connectError ?? new Error('The pool returned no connection.'));
        return;
      }
      if (over?.aborted) {
        release();
        reject(new CallerGoneError());
        return;
      }
      let gone: Error | undefined;
      const onGone = () => {
        gone = new CallerGoneError();
        cancelStatement(pool, client);
      };
      over?.addEventListener('abort', onGone, { once: true });
      const batch = new PreparedBatch([query], client, (error, [rows = []]) => {
        over?.removeEventListener('abort', onGone);
        // Closes a connection with a cancel request, which could otherwise hit the next statement.
        release(gone ?? error ?? undefined);
        if (gone ?? error) reject(gone ?? error);
        else resolve(rows);
      });
      client.query(batch);
    });
  });
