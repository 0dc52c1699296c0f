import type { SharedCount } from './redis-store.ts';

export type RateDecision = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

type Limits = { readonly limit: number; readonly windowSeconds: number };

/** Counts in the memory of this process: all requests if Redis is not configured, else from the last count that Redis returned. */
export function createMemoryWindows({ limit, windowSeconds }: Limits) {
  const length = windowSeconds * 1000;
  const windows = new Windows(length);

  const decision = (allowed: boolean, used: number, millisecondsLeft: number): RateDecision => ({
    allowed,
    limit,
    remaining: Math.max(limit - used, 0),
    // Floating-point: now + length - now can be slightly more than length.
    resetSeconds: Math.min(Math.max(Math.ceil(millisecondsLeft / 1000), 1), windowSeconds),
  });

  return {
    /** Denies a cost that exceeds the count known here: Redis can only have counted more. @returns undefined if Redis has to decide */
    findDenial(bucket: string, cost: number): RateDecision | undefined {
      const now = performance.now();
      const window = windows.find(bucket, now);
      if (window === undefined || window.used + cost <= limit) return undefined;
      return decision(false, window.used, window.endsAt - now);
    },

    consume(bucket: string, cost: number): RateDecision {
      const now = performance.now();
      const window = windows.find(bucket, now);
      const used = window?.used ?? 0;
      if (used + cost > limit) return decision(false, used, window === undefined ? length : window.endsAt - now);

      const current = window ?? windows.open(bucket, now, now + length);
      current.used = used + cost;
      return decision(true, current.used, current.endsAt - now);
    },

    peek(bucket: string): RateDecision {
      const now = performance.now();
      const window = windows.find(bucket, now);
      if (window === undefined) return decision(true, 0, length);
      return decision(window.used < limit, window.used, window.endsAt - now);
    },

    refund(bucket: string): void {
      const window = windows.find(bucket, performance.now());
      if (window !== undefined) window.used = Math.max(window.used - 1, 0);
    },

    /**
     * Decides by the count of Redis and stores it, so that the window continues from it during an outage. If Redis
     * lost its count (restart, failover), the count of this process still applies: it never allows more than `limit`
     * in one window.
     */
    settle(bucket: string, cost: number, sentAt: number, count: SharedCount): RateDecision {
      const now = performance.now();
      // From the time of sending, so that a window never lasts longer here than in Redis.
      const endsAt = sentAt + Math.min(count.millisecondsLeft, length);
      const known = windows.find(bucket, now);
      const window = known ?? (count.used > 0 ? windows.open(bucket, now, endsAt) : { used: 0, endsAt });

      const knownUsed = known?.used ?? 0;
      const allowed = !count.isDenied && knownUsed + cost <= limit;
      window.used = Math.max(allowed ? knownUsed + cost : knownUsed, count.used);
      window.endsAt = Math.min(window.endsAt, endsAt);
      return decision(cost === 0 ? window.used < limit : allowed, window.used, window.endsAt - now);
    },
  };
}

type Window = { used: number; endsAt: number };

/**
 * Windows by bucket in two generations of a map instead of one timer per bucket: after each window length the older
 * map is dropped and the recent one takes its place.
 */
export class Windows {
  readonly #length: number;
  #recent = new Map<string, Window>();
  #older = new Map<string, Window>();
  #rotatesAt = 0;

  constructor(length: number) {
    this.#length = length;
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  find(bucket: string, now: number): Window | undefined {
    const window = this.#recent.get(bucket) ?? this.#older.get(bucket);
    return window !== undefined && window.endsAt > now ? window : undefined;
  }

  /** @param endsAt at most one window length after `now` */
  open(bucket: string, now: number, endsAt: number): Window {
    if (now >= this.#rotatesAt) this.#rotate(now);
    const window = { used: 0, endsAt };
    this.#recent.set(bucket, window);
    return window;
  }

  #rotate(now: number): void {
    this.#older = now < this.#rotatesAt + this.#length ? this.#recent : new Map();
    this.#recent = new Map();
    this.#rotatesAt = now + this.#length;
  }
}
