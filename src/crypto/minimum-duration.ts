import { setTimeout as sleep } from 'node:timers/promises';

const MIN_DURATION_MS = 100;

/**
 * Delays the result or error of the work to a minimum duration in milliseconds, which is longer than each of its branches, so that
 * response time does not reveal whether an account exists.
 */
export async function withMinimumDuration<Result>(work: Promise<Result>, minimumMs = MIN_DURATION_MS): Promise<Result> {
  const [outcome] = await Promise.allSettled([work, sleep(minimumMs)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** The least time of an answer that a secret is invalid: longer than a look-up, whose time tells whether it found a row. */
const INVALID_MS = 5;

/** Starts with a look-up, and resolves when an answer that its secret is invalid can be sent. */
export const leastInvalidTime = (): Promise<void> => sleep(INVALID_MS, undefined, { ref: false });
