import { setTimeout as sleep } from 'node:timers/promises';

const MIN_DURATION_MS = 100;

/**
 * Delays the result or error of the work to a minimum duration, which is longer than each of its branches, so that
 * response time does not reveal whether an account exists.
 */
export async function withMinimumDuration<Result>(work: Promise<Result>): Promise<Result> {
  const [outcome] = await Promise.allSettled([work, sleep(MIN_DURATION_MS)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
