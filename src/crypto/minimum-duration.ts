import { setTimeout as sleep } from 'node:timers/promises';

const MIN_DURATION_MS = 100;

/**
 * Delays the result or error of the work to a minimum duration in milliseconds, which is longer than each of its branches,
 * so that the response time does not reveal what it found.
 */
export async function withMinimumDuration<Result>(work: Promise<Result>, minimumMs = MIN_DURATION_MS): Promise<Result> {
  const [outcome] = await Promise.allSettled([work, sleep(minimumMs)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** The least time of an answer that a secret is invalid: longer than a look-up, whose time tells whether it found a row. */
const INVALID_MS = 5;

/** Resolves when an answer that a secret is invalid can be sent. @param startedAt `performance.now()` before the look-up */
export async function untilLeastInvalidTime(startedAt: number): Promise<void> {
  const left = startedAt + INVALID_MS - performance.now();
  if (left > 0) await sleep(left, undefined, { ref: false });
}
