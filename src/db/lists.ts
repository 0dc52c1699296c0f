import type { Pool } from 'pg';
import { beginList, endLists } from './batch-lists.ts';
import { CallerGoneError, currentCaller, type Caller } from './caller.ts';
import { cancelStatement } from './cancel.ts';
import { ListPlaces, PLACE_LIMITS, type PlaceLimits } from './list-places.ts';
import { PreparedBatch } from './prepared-batch.ts';
import type { BoundQuery, Rows } from './prepared-statement.ts';
import { Turns } from './turns.ts';

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
 * Creates a queue of queries that can return thousands of rows. Each account runs one at a time, and accounts take
 * turns, so that nobody waits for more than one list of another. A query ends when its client has gone.
 */
export function createListQueue(pool: Pool, limits: PlaceLimits = PLACE_LIMITS): ListQueue {
  const { queuePerKey, waitMs } = limits;
  const places = new ListPlaces(limits);
  const statements = new Turns({ queuePerKey, waitMs, total: pool.options.max, perKey: 1 });
  const taken = new WeakMap<Caller, Promise<() => void>>();

  /** @returns a function that gives up the place, once */
  const takePlace = async (caller: Caller): Promise<() => void> => {
    const giveUp = await places.enter(caller);
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
      if (caller !== undefined) {
        const place = taken.get(caller) ?? takePlace(caller);
        taken.set(caller, place);
        await place;
      }
      const keys = [caller?.account ?? BACKGROUND];
      return statements.run({ keys, caller }, () => runAlone(pool, query, caller?.over));
    },
    async pause() {
      await endLists();
      const caller = currentCaller();
      const place = caller && taken.get(caller);
      if (caller === undefined || place === undefined) return;
      taken.delete(caller);
      const leave = await place;
      leave();
    },
    get length() {
      return places.length;
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
