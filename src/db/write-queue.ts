import { currentCaller } from './caller.ts';
import { Turns } from './turns.ts';

/** How many transactions of an account, and of a team, have a connection: one that works, and one that waits for its lock. */
const PER_KEY = 2;
const QUEUE_PER_KEY = 100;
const WAIT_MS = 10_000;

/** The key of jobs and of commands. */
const BACKGROUND = 'background';

/**
 * Runs work that can wait for a lock, in the turn of its caller and of the team that it locks. It waits without a
 * connection, so that waiting for one team or account does not delay others.
 * @throws BusyError, CallerGoneError
 */
export type WriteQueue = {
  run<Result>(work: () => Promise<Result>, teamId?: string): Promise<Result>;
  /** Runs work with the same key one after another. Call it before `run`, so that what waits has no connection. */
  runAlone<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** How much runs or waits. */
  readonly length: number;
};

/** @param connections of the pool; one is left to what does not wait here, such as single look-ups */
export function createWriteQueue(connections: number): WriteQueue {
  const total = Math.max(1, connections - 1);
  const turns = new Turns({ total, perKey: PER_KEY, queuePerKey: QUEUE_PER_KEY, waitMs: WAIT_MS });
  const alone = new Turns({ total: Infinity, perKey: 1, queuePerKey: QUEUE_PER_KEY, waitMs: WAIT_MS });
  return {
    runAlone: (key, work) => alone.run({ keys: [key], caller: currentCaller() }, work),
    run(work, teamId) {
      const caller = currentCaller();
      const account = caller === undefined ? BACKGROUND : `account ${caller.account}`;
      return turns.run({ keys: teamId === undefined ? [account] : [account, `team ${teamId}`], caller }, work);
    },
    get length() {
      return turns.queued;
    },
  };
}
