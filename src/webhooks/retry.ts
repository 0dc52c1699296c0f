import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

/** The time between attempts, as Standard Webhooks recommends: ten attempts within about three days. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
export const ATTEMPTS_MAX = DELAYS_MS.length + 1;

const JITTER = 0.2;

/** The longest time in which all attempts are made, unless the receiver asks for more or others are in front. */
export const SCHEDULE_MS = DELAYS_MS.reduce((sum, delay) => sum + delay) * (1 + JITTER);

/** An endpoint without any success for this time is disabled when a delivery fails for the last time. */
export const FAILING_DAYS_MAX = 5;

const HOLD_MS_MAX = DAY_MS;

/**
 * Returns the delay before the next attempt; null after the last one.
 * @param attempts the number of attempts made
 * @param holdMs the least delay that the receiver asked for
 */
export function nextDelayMs(attempts: number, holdMs = 0, random = Math.random()): number | null {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? null : Math.max(Math.round(delay * (1 + JITTER * (random - 0.5) * 2)), holdMs);
}

/** Returns the delay of a `Retry-After` header, at most a day: seconds or a date (RFC 9110, section 10.2.3). */
export function parseRetryAfter(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  const ms = /^\d{1,10}$/.test(value) ? Number(value) * SECOND_MS : Date.parse(value) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), HOLD_MS_MAX);
}
