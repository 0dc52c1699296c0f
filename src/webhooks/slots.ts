import { SECOND_MS } from '../time.ts';

/** Requests of healthy endpoints that began less than `SLOW_SECONDS` ago, at a time. */
const FAST_MAX = 256;
/** All other requests, at a time: slow ones, and those to endpoints that fail, which get at most half. */
const SLOW_MAX = 512;
/** A request of this age may hang. Its endpoint gets no further one meanwhile. */
export const SLOW_SECONDS = 0.5;

/** How many requests can be begun now. */
export type Free = { readonly healthy: number; readonly failing: number };

/**
 * The requests of a process. A request to a healthy endpoint holds a fast slot for at most half a second, whatever its
 * receiver does and however many hang: then it moves to a slow slot. If none is free, the oldest slow request is
 * aborted, and is repeated like one that failed.
 */
export function createSlots(onFree: () => void, { fastMax, slowMax } = { fastMax: FAST_MAX, slowMax: SLOW_MAX }) {
  let fast = 0;
  const slow = new Set<AbortController>(); // oldest first

  function becomeSlow(request: AbortController): void {
    const [oldest] = slow;
    if (slow.size >= slowMax && oldest !== undefined) {
      slow.delete(oldest);
      oldest.abort(new Error('Aborted without an answer: too many receivers do not respond.'));
    }
    slow.add(request);
  }

  return {
    free: (): Free => ({ healthy: fastMax - fast, failing: Math.max(0, Math.floor(slowMax / 2) - slow.size) }),

    /** @param isFailing whether the last attempt of the endpoint failed: the request gets a slow slot at once */
    async run<Result>(isFailing: boolean, send: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      const request = new AbortController();
      let isFast = !isFailing;
      if (isFast) fast += 1;
      else becomeSlow(request);
      const leaveFast = () => {
        if (isFast) fast -= 1;
        isFast = false;
      };
      const timer = setTimeout(() => {
        if (!isFast) return;
        leaveFast();
        becomeSlow(request);
        onFree();
      }, SLOW_SECONDS * SECOND_MS);
      try {
        return await send(request.signal);
      } finally {
        clearTimeout(timer);
        leaveFast();
        slow.delete(request);
        onFree();
      }
    },
  };
}
