import type { RunInSpan } from '../telemetry/span.ts';
import type { Counted } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createMemoryWindows, type RateDecision } from './memory-windows.ts';
import type { RedisServer } from '../config/redis-url.ts';
import { openRedisWindows, type RedisWindows } from './redis-store.ts';

export type { RateDecision } from './memory-windows.ts';

export type Limiter = {
  /**
   * Consumes `cost` requests of `bucket`, or none if they do not fit into the rest of the window.
   * At most one Redis round trip. Never rejects.
   */
  consume(bucket: string, cost?: number): Promise<RateDecision>;
  /** Returns the state of a bucket without consuming; `allowed` if one more request would fit. Never rejects. */
  peek(bucket: string): Promise<RateDecision>;
  /** Refunds one request in the current window. Never rejects. */
  refund(bucket: string): Promise<void>;
  /** Whether Redis counts now; null if none is configured. Never rejects. */
  isShared(): Promise<boolean | null>;
  close(): Promise<void>;
};

type LimiterOptions = Observers & {
  /** `undefined` counts in memory. */
  readonly redis: RedisServer | undefined;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Called once per outage, when counting falls back to memory. */
  readonly onFallback: (error: unknown) => void;
  /** Called once per outage, when Redis counts again. */
  readonly onRecovery: () => void;
};

type Observers = {
  readonly onDecision?: ((isAllowed: boolean) => void) | undefined;
  /** Wraps each round trip in a span. */
  readonly withSpan?: RunInSpan | undefined;
};

export function createLimiter(options: LimiterOptions): Limiter {
  const limiter = createWindows(options);
  const { onDecision } = options;
  if (onDecision === undefined) return limiter;
  return {
    ...limiter,
    async consume(bucket, cost) {
      const decision = await limiter.consume(bucket, cost);
      onDecision(decision.allowed);
      return decision;
    },
  };
}

/** Adds metrics and spans to the options of a limiter, as far as they are configured. */
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

function createWindows(options: LimiterOptions): Limiter {
  const memory = createMemoryWindows(options);
  if (options.redis === undefined) {
    return {
      consume: (bucket, cost = 1) => Promise.resolve(memory.consume(bucket, cost)),
      peek: (bucket) => Promise.resolve(memory.peek(bucket)),
      refund: (bucket) => Promise.resolve(memory.refund(bucket)),
      isShared: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    };
  }

  const redis = withSpans(openRedisWindows(options.redis, options), options.withSpan);

  return {
    consume(bucket, cost = 1) {
      const denial = memory.findDenial(bucket, cost);
      return denial === undefined ? count(bucket, cost) : Promise.resolve(denial);
    },
    peek(bucket) {
      const denial = memory.findDenial(bucket, 1);
      return denial === undefined ? count(bucket, 0) : Promise.resolve(denial);
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

  async function count(bucket: string, cost: number): Promise<RateDecision> {
    const sentAt = performance.now();
    const shared = await redis.count(bucket, cost);
    if (shared !== undefined) return memory.settle(bucket, cost, sentAt, shared);
    return cost === 0 ? memory.peek(bucket) : memory.consume(bucket, cost);
  }
}

const withSpans = (redis: RedisWindows, withSpan: RunInSpan | undefined): RedisWindows =>
  withSpan === undefined
    ? redis
    : { ...redis, count: (bucket, cost) => withSpan('redis', 'rate_limit', () => redis.count(bucket, cost)) };
