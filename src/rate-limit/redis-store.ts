import { Redis, type Cluster } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisServer } from '../config/redis-url.ts';
import { connectRedis } from './redis-client.ts';

// Unlike the library's script, this one does not count what it denies, so that a large batch does not use up the
// window. A result above the limit is a denial. A cost of 0 only reads; a negative cost is a refund.
const CONSUME = `
local cost, windowSeconds, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local millisecondsLeft = redis.call('pttl', KEYS[1])
if millisecondsLeft < 0 then
  if cost > 0 and cost <= limit then redis.call('set', KEYS[1], cost, 'EX', windowSeconds) end
  return {cost, 1000 * windowSeconds}
end
local used = tonumber(redis.call('get', KEYS[1])) + cost
if cost > 0 and used <= limit or cost < 0 and used >= 0 then redis.call('incrby', KEYS[1], cost) end
return {used, millisecondsLeft}`;

const PROBE_MS = 100;

export type SharedCount = { readonly isDenied: boolean; readonly used: number; readonly millisecondsLeft: number };

export type RedisWindows = {
  /**
   * Counts in one key and one round trip; a negative cost is a refund. Never rejects.
   * @returns undefined if Redis does not count; during an outage without waiting
   */
  count(bucket: string, cost: number): Promise<SharedCount | undefined>;
  close(): void;
};

type Options = {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly onFallback: (error: unknown) => void;
  readonly onRecovery: () => void;
};

/** The library's Redis limiter with our script and a deadline. docs/decisions/0007 says why it has no insurance limiter. */
class RedisLimiter extends RateLimiterRedis {
  readonly #gatherWrites: () => void;
  readonly #answerMs: number;

  constructor(client: Redis | Cluster, { answerMs }: RedisServer, { limit, windowSeconds }: Options) {
    super({
      storeClient: client,
      keyPrefix: 'roster:rate',
      points: limit,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: CONSUME,
    });
    this.#answerMs = answerMs;
    this.#gatherWrites = client instanceof Redis ? createWriteGathering(client) : () => undefined;
  }

  override consume(bucket: string, cost = 1): Promise<RateLimiterRes> {
    this.#gatherWrites();
    return withDeadline(super.consume(bucket, cost), this.#answerMs);
  }
}

/**
 * Opens fixed windows in Redis; a bucket's first request starts its window. The first failure begins an outage:
 * until Redis counts again, only a probe is sent, ten times a second.
 */
export function openRedisWindows(server: RedisServer, options: Options): RedisWindows {
  const { onFallback, onRecovery } = options;
  let state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  let prober: NodeJS.Timeout | undefined;
  let isProbing = false;

  const client = connectRedis(server);
  const limiter = new RedisLimiter(client, server, options);

  // The first requests wait for the connection briefly, so that all replicas count them together.
  const started = Promise.withResolvers<void>();
  const startTimer = setTimeout(started.resolve, server.answerMs);
  client.once('ready', () => {
    if (state === 'starting') state = 'up';
    started.resolve();
  });
  client.on('error', (error) => beginOutage(error, ''));
  client.on('close', () => beginOutage(new Error('The connection to Redis was lost'), ''));

  function beginOutage(error: unknown, bucket: string): void {
    if (state === 'down' || state === 'closed') return;
    state = 'down';
    started.resolve();
    prober = setInterval(probe, PROBE_MS, bucket).unref();
    onFallback(error);
  }

  // Consumes for real: Redis can answer a PING and still reject writes. On a cluster, the hash tag selects the node
  // that failed.
  async function probe(bucket: string): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    const isCounting = await limiter.consume(`probe:{${limiter.getKey(bucket)}}`).then(() => true, isDenial);
    isProbing = false;
    if (!isCounting || state !== 'down') return;
    state = 'up';
    clearInterval(prober);
    onRecovery();
  }

  return {
    async count(bucket, cost) {
      if (state === 'starting') await started.promise;
      if (state !== 'up') return undefined;
      try {
        const { consumedPoints, msBeforeNext } = await limiter.consume(bucket, cost);
        return { isDenied: false, used: consumedPoints, millisecondsLeft: msBeforeNext };
      } catch (reason) {
        if (isDenial(reason)) {
          return { isDenied: true, used: reason.consumedPoints - cost, millisecondsLeft: reason.msBeforeNext };
        }
        beginOutage(reason, bucket);
        return undefined;
      }
    },

    close() {
      state = 'closed';
      clearTimeout(startTimer);
      clearInterval(prober);
      started.resolve();
      client.disconnect();
    },
  };
}

/**
 * Returns a function that sends all commands of this turn of the event loop in one write. Each is answered on its
 * own, unlike with auto-pipelining, where a command waits for those before it.
 */
function createWriteGathering(client: Redis): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    const { stream } = client;
    stream.cork();
    setImmediate(() => {
      isGathering = false;
      stream.uncork();
    });
  };
}

const isDenial = (reason: unknown): reason is RateLimiterRes => reason instanceof RateLimiterRes;

/**
 * Rejects if the answer takes longer than a request can wait. After a pause of this process the answer can lie
 * unread in the socket, so the sockets are read once more before.
 */
function withDeadline<Answer>(answer: Promise<Answer>, answerMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onTimeout = () => reject(new Error(`Redis did not answer in ${answerMs} ms`));
    const timer = setTimeout(() => setImmediate(onTimeout), answerMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
