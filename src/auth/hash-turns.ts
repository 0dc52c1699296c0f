import { HASHES_MAX, tooManyChecks } from '../crypto/argon2.ts';
import { CallerGoneError, currentCaller } from '../db/caller.ts';
import { BusyError, Turns } from '../db/turns.ts';
import { addressBucket, siteBucket } from '../rate-limit/address-bucket.ts';
import { SECOND_MS } from '../time.ts';

const WAITING_PER_ADDRESS = 20;
const WAIT_MS = 10 * SECOND_MS;

/** The key of jobs, and of what is computed for all callers. */
const BACKGROUND = 'background';

/**
 * Creates the queue of password checks, in which client addresses take turns: nobody has an account yet. What a client
 * has hung up on leaves it. @param limits the number of checks at once, and how many can wait for an address
 */
export function createHashTurns({ total = HASHES_MAX, queuePerKey = WAITING_PER_ADDRESS, waitMs = WAIT_MS } = {}) {
  const turns = new Turns({ total, perKey: total, queuePerKey, waitMs });
  return async <Result>(work: () => Promise<Result>, isShared: boolean): Promise<Result> => {
    const caller = isShared ? undefined : currentCaller();
    const keys =
      caller === undefined ? [BACKGROUND] : [...new Set([siteBucket(caller.address), addressBucket(caller.address)])];
    try {
      return await turns.run({ keys, caller }, () => {
        if (caller?.over.aborted) throw new CallerGoneError();
        return work();
      });
    } catch (error) {
      throw error instanceof BusyError ? tooManyChecks() : error;
    }
  };
}
