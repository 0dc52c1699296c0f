import { setTimeout as sleep } from 'node:timers/promises';

const MIN_DURATION_MS = 100;

/**
 * Resolves or rejects with the work's outcome, but not before a minimum duration that covers all of its
 * branches, so that the response time does not reveal whether an account exists.
 */
export async function withMinimumDuration<Result>(work: Promise<Result>): Promise<Result> {
  const [outcome] = await Promise.allSettled([work, sleep(MIN_DURATION_MS)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
