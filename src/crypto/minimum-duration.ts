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
