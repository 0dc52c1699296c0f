import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../../time.ts';
import { BACKGROUND, CallerGoneError, Turns, type Claim } from '../../turns.ts';
import { currentCaller } from './request-caller.ts';
import { isLockTimeout } from '../errors.ts';

/** How many transactions of an account, and of a team, have a connection: one that works, and one that waits for its lock. */
const PER_KEY = 2;
const QUEUE_PER_KEY = 100;
const WAIT_MS = 10 * SECOND_MS;
/** How long work that takes seconds waits for others like it. */
const LONG_WAIT_MS = 30 * SECOND_MS;

/** How long a transaction waits for a lock inside PostgreSQL, with a connection that others miss meanwhile. */
export const LOCK_MS = 200;
/** How long a transaction waits for a lock in all, again and again for {@link LOCK_MS}. */
const LOCK_TOTAL_MS = 3 * SECOND_MS;
/** How long it gives up its connection in between. */
const PAUSE_MS = 50;

/**
 * Runs work that can wait for a lock, in the turn of its caller and of what it locks first, such as a team. It waits without a
 * connection, so that waiting for one team or account does not delay others. Work that PostgreSQL lets wait too long
 * for a lock begins anew, so it must not change anything outside of its transaction.
 * @throws BusyError, CallerGoneError
 */
export type WriteQueue = {
  run<Result>(work: () => Promise<Result>, turn?: string): Promise<Result>;
  /** Runs work with the same key one after another. Call it before `run`, so that what waits has no connection. */
  runAlone<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** Runs work that takes seconds one after another, like `runAlone`. */
  runLong<Result>(work: () => Promise<Result>): Promise<Result>;
  /** How much runs or waits. */
  readonly length: number;
};

/** The lock of a team or account, as long as something runs or waits that needs it. */
type Lock = {
  /** How much runs or waits. */
  uses: number;
  /** Whether it was not free in time. What waits for it then leaves half of the places to others. */
  isHeld: boolean;
};

/** @param connections of the pool; one is left to what does not wait here, such as single look-ups */
export function createWriteQueue(connections: number): WriteQueue {
  const total = Math.max(1, connections - 1);
  const limits = { queuePerKey: QUEUE_PER_KEY, waitMs: WAIT_MS };
  const turns = new Turns({ ...limits, total, perKey: PER_KEY });
  const alone = new Turns({ ...limits, total: Infinity, perKey: 1 });
  const long = new Turns({ ...limits, waitMs: LONG_WAIT_MS, total: 1, perKey: 1 });
  const locks = new Map<string, Lock>();
  const patient = new Turns({ ...limits, total: Math.max(1, Math.floor(total / 2)), perKey: 1 });
  let admitted = 0;

  /** @returns nothing if the lock was held meanwhile: then it is the turn of others, and this one has to be patient */
  const runInTurn = <Result>(claim: Claim, lock: Lock, work: () => Promise<Result>) => {
    const isPatient = lock.isHeld;
    const run = () => turns.run(claim, async () => (isPatient || !lock.isHeld ? { result: await work() } : undefined));
    if (!isPatient) return run();
    return patient.run(claim, async () => {
      admitted += 1;
      return run().finally(() => (admitted -= 1));
    });
  };

  const runUntilFree = async <Result>(claim: Claim, lock: Lock, work: () => Promise<Result>): Promise<Result> => {
    let firstAt = Infinity;
    const attempt = () => {
      firstAt = Math.min(firstAt, performance.now());
      return work();
    };
    for (;;) {
      try {
        const done = await runInTurn(claim, lock, attempt);
        if (done === undefined) continue;
        lock.isHeld = false;
        return done.result;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        lock.isHeld = true;
        if (performance.now() - firstAt >= LOCK_TOTAL_MS) throw error;
        await pause(claim.caller);
      }
    }
  };

  return {
    runAlone: (key, work) => alone.run({ keys: [key], caller: currentCaller() }, work),
    runLong(work) {
      const caller = currentCaller();
      return long.run({ keys: [caller?.account ?? BACKGROUND], caller }, work);
    },
    async run(work, turn) {
      const caller = currentCaller();
      const account = caller === undefined ? BACKGROUND : `account ${caller.account}`;
      const keys = turn === undefined ? [account] : [account, `on ${turn}`];
      const name = keys.at(-1) ?? account;
      const lock = locks.get(name) ?? { uses: 0, isHeld: false };
      locks.set(name, lock);
      lock.uses += 1;
      try {
        return await runUntilFree({ keys, caller, queueMax: caller?.queueMax }, lock, work);
      } finally {
        lock.uses -= 1;
        if (lock.uses === 0) locks.delete(name);
      }
    },
    get length() {
      return turns.queued + patient.queued - admitted;
    },
  };
}

/** @throws CallerGoneError if the caller has gone meanwhile */
async function pause(caller: Claim['caller']): Promise<void> {
  await sleep(PAUSE_MS);
  if (caller?.over.aborted) throw new CallerGoneError();
}
