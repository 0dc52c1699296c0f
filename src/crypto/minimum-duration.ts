import { setTimeout as sleep } from 'node:timers/promises';

const EVEN_MS = 100;

/**
 * Waits until work is done that takes the longer the more there is to do, and at least for a time
 * that is longer than all of it, so that nobody reads from the clock whether an address has an account.
 */
export async function inEvenTime<Result>(work: Promise<Result>): Promise<Result> {
  const [result] = await Promise.all([work, sleep(EVEN_MS)]);
  return result;
}
