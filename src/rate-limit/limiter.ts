import type { RunInSpan } from '../telemetry/span.ts';
import type { Counted } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { redisWindows } from './redis-store.ts';
import type { RedisWindows, SharedCount } from './redis-store.ts';

export type RateDecision = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

export type Limiter = {
  /**
   * Counts `cost` requests against `bucket`: all of them or, where they do not fit into what is left of the window,
   * none. At most one Redis round trip. Never rejects.
   */
  charge(bucket: string, cost?: number): Promise<RateDecision>;
  /** The bucket as it stands, without counting; `allowed` tells whether one more request would pass. Never rejects. */
  peek(bucket: string): Promise<RateDecision>;
  /** Takes one charged request back, in the window that is open now. Never rejects. */
  refund(bucket: string): Promise<void>;
  /** Whether Redis counts at the moment; null where none is configured. Never rejects. */
  isShared(): Promise<boolean | null>;
  close(): Promise<void>;
};

type LimiterOptions = Watched & {
  /** `undefined` counts in memory; several URLs, separated by commas, are the nodes of one Redis Cluster. */
  readonly redisUrl: string | undefined;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Called once per outage, when counting falls back to memory. */
  readonly onFallback: (error: unknown) => void;
  /** Called once per outage, when Redis counts again. */
  readonly onRecovery: () => void;
};

type Watched = {
  readonly onDecision?: ((isAllowed: boolean) => void) | undefined;
  /** Wraps each round trip in a span. */
  readonly withSpan?: RunInSpan | undefined;
};

export function createLimiter(options: LimiterOptions): Limiter {
  const limiter = windowsOf(options);
  const { onDecision } = options;
  if (onDecision === undefined) return limiter;
  return {
    ...limiter,
    async charge(bucket, cost) {
      const decision = await limiter.charge(bucket, cost);
      onDecision(decision.allowed);
      return decision;
    },
  };
}

/** The same options with those looking on who want to know. */
export function withTelemetry<Options extends LimiterOptions>(
  options: Options,
  counted: Counted,
  { metrics, tracing }: Telemetry,
): Options {
  const limit = metrics?.limit(counted);
  return {
    ...options,
    onDecision: limit?.onDecision,
    withSpan: tracing?.withSpan,
    onFallback(error) {
      limit?.onFallback();
      options.onFallback(error);
    },
  };
}

function windowsOf(options: LimiterOptions): Limiter {
  const memory = memoryWindows(options);
  if (options.redisUrl === undefined) {
    return {
      charge: (bucket, cost = 1) => Promise.resolve(memory.charge(bucket, cost)),
      peek: (bucket) => Promise.resolve(memory.peek(bucket)),
      refund: (bucket) => Promise.resolve(memory.refund(bucket)),
      isShared: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    };
  }

  const redis = traced(redisWindows(options.redisUrl, options), options.withSpan);

  return {
    charge(bucket, cost = 1) {
      const refusal = memory.refusal(bucket, cost);
      return refusal === undefined ? ask(bucket, cost) : Promise.resolve(refusal);
    },
    peek(bucket) {
      const refusal = memory.refusal(bucket, 1);
      return refusal === undefined ? ask(bucket, 0) : Promise.resolve(refusal);
    },
    async refund(bucket) {
      memory.refund(bucket);
      await redis.count(bucket, -1);
    },
    isShared: async () => (await redis.count('health', 0)) !== undefined,
    close() {
      redis.close();
      return Promise.resolve();
    },
  };

  async function ask(bucket: string, cost: number): Promise<RateDecision> {
    const sentAt = performance.now();
    const count = await redis.count(bucket, cost);
    if (count !== undefined) return memory.settle(bucket, cost, sentAt, count);
    return cost === 0 ? memory.peek(bucket) : memory.charge(bucket, cost);
  }
}

const traced = (redis: RedisWindows, withSpan: RunInSpan | undefined): RedisWindows =>
  withSpan === undefined
    ? redis
    : { ...redis, count: (bucket, cost) => withSpan('redis', 'rate_limit', () => redis.count(bucket, cost)) };

/** The windows as this process knows them: the whole truth without Redis, the last known one where Redis is lost. */
function memoryWindows({ limit, windowSeconds }: LimiterOptions) {
  const length = windowSeconds * 1000;
  const windows = new Windows(length);

  const decision = (allowed: boolean, used: number, millisecondsLeft: number): RateDecision => ({
    allowed,
    limit,
    remaining: Math.max(limit - used, 0),
    // The sum of a time and a length, less the time, can be a little more than the length.
    resetSeconds: Math.min(Math.max(Math.ceil(millisecondsLeft / 1000), 1), windowSeconds),
  });

  return {
    /** Redis can only have counted more, so what does not fit here needs no round trip. */
    refusal(bucket: string, cost: number): RateDecision | undefined {
      const now = performance.now();
      const window = windows.find(bucket, now);
      if (window === undefined || window.used + cost <= limit) return undefined;
      return decision(false, window.used, window.endsAt - now);
    },

    charge(bucket: string, cost: number): RateDecision {
      const now = performance.now();
      const window = windows.find(bucket, now);
      const used = window?.used ?? 0;
      if (used + cost > limit) return decision(false, used, window === undefined ? length : window.endsAt - now);

      const charged = window ?? windows.open(bucket, now, now + length);
      charged.used = used + cost;
      return decision(true, charged.used, charged.endsAt - now);
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
     * Decides by what Redis counted, and remembers it: when Redis is lost the window goes on from here instead of
     * starting anew. Where Redis has lost count (a restart, a failover), what this process has let through still
     * holds, so that it never lets more than `limit` through in one window.
     */
    settle(bucket: string, cost: number, sentAt: number, count: SharedCount): RateDecision {
      const now = performance.now();
      // From the sending on, so that a window never lasts longer here than in Redis.
      const endsAt = sentAt + Math.min(count.millisecondsLeft, length);
      const known = windows.find(bucket, now);
      const window = known ?? (count.used > 0 ? windows.open(bucket, now, endsAt) : { used: 0, endsAt });

      const knownUsed = known?.used ?? 0;
      const allowed = !count.isRefused && knownUsed + cost <= limit;
      window.used = Math.max(allowed ? knownUsed + cost : knownUsed, count.used);
      window.endsAt = Math.min(window.endsAt, endsAt);
      return decision(cost === 0 ? window.used < limit : allowed, window.used, window.endsAt - now);
    },
  };
}

type Window = { used: number; endsAt: number };

/**
 * Two generations instead of a timer per bucket: a map that has been filled for one window's length is set aside, and
 * dropped whole when the next one is.
 */
export class Windows {
  readonly #length: number;
  #recent = new Map<string, Window>();
  #older = new Map<string, Window>();
  #turnsAt = 0;

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

  /** `endsAt` is at most one window's length from now. */
  open(bucket: string, now: number, endsAt: number): Window {
    if (now >= this.#turnsAt) this.#turn(now);
    const window = { used: 0, endsAt };
    this.#recent.set(bucket, window);
    return window;
  }

  #turn(now: number): void {
    this.#older = now < this.#turnsAt + this.#length ? this.#recent : new Map();
    this.#recent = new Map();
    this.#turnsAt = now + this.#length;
  }
}
