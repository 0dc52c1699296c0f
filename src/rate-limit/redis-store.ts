import { Cluster, Redis } from 'ioredis';
import type { ClusterNode, RedisOptions } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

// Every wait is bounded, so that Redis can slow a request by 100 ms at most. ioredis waits for seconds by default.
// Auto-pipelining is off: a charge would wait for the pipeline before it, up to two round trips and two timeouts.
const CONNECTION = {
  enableAutoPipelining: false,
  maxRetriesPerRequest: 0,
  // A charge that failed has been decided in memory; sent again, it would count twice.
  autoResendUnfulfilledCommands: false,
  // Longer than `inTime` waits, which is what bounds a request.
  commandTimeout: 400,
  socketTimeout: 500,
  connectTimeout: 500,
  disconnectTimeout: 500,
  // After a failover the connection may still lead to the former primary.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

const retryDelay = (attempt: number): number => Math.min(50 * attempt, 500);

/** Connects at once and for good. Several URLs, separated by commas, are the nodes of one Redis Cluster. */
function connect(redisUrl: string): Redis | Cluster {
  const urls = redisUrl.split(',').map((url) => url.trim());
  const [first = ''] = urls;
  return urls.length > 1
    ? connectCluster(urls, new URL(first))
    : new Redis(first, { ...CONNECTION, enableOfflineQueue: false, retryStrategy: retryDelay });
}

function connectCluster(urls: string[], { protocol, username, password }: URL): Cluster {
  const secure = protocol === 'rediss:';
  const nodes = urls.map((url): ClusterNode => {
    const { hostname, port } = new URL(url);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  });

  return new Cluster(nodes, {
    // A node is connected by its first command, and those beside it may wait for that, within their 100 ms.
    enableOfflineQueue: true,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: 500,
    slotsRefreshInterval: 5000,
    clusterRetryStrategy: retryDelay,
    // A certificate names the host, which a resolved address would no longer match.
    ...(secure && { dnsLookup: (host, callback) => callback(null, host) }),
    redisOptions: {
      ...CONNECTION,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(secure && { tls: {} }),
    },
  });
}

// Unlike the library's own script, this one does not count what it refuses: a batch that does not fit leaves the rest
// of the window to smaller ones. A result above the limit is a refusal. A cost of 0 only looks, and a
// negative one is given back.
const CHARGE = `
local cost, windowSeconds, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local millisecondsLeft = redis.call('pttl', KEYS[1])
if millisecondsLeft < 0 then
  if cost > 0 and cost <= limit then redis.call('set', KEYS[1], cost, 'EX', windowSeconds) end
  return {cost, 1000 * windowSeconds}
end
local used = tonumber(redis.call('get', KEYS[1])) + cost
if cost > 0 and used <= limit or cost < 0 and used >= 0 then redis.call('incrby', KEYS[1], cost) end
return {used, millisecondsLeft}`;

export type SharedCount = { readonly isRefused: boolean; readonly used: number; readonly millisecondsLeft: number };

export type RedisWindows = {
  /** One key, one round trip; a negative cost gives back. `undefined`, and during an outage at once, where Redis does not count. Never rejects. */
  count(bucket: string, cost: number): Promise<SharedCount | undefined>;
  close(): void;
};

type Options = {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly onFallback: (error: unknown) => void;
  readonly onRecovery: () => void;
};

const ANSWER_MILLISECONDS = 100;
const START_MILLISECONDS = 100;
const PROBE_MILLISECONDS = 100;

/**
 * Fixed windows in Redis, opened by a bucket's first request. The first failure begins an outage, in which nothing is
 * asked but a probe, ten times a second, until Redis counts again.
 */
export function redisWindows(
  redisUrl: string,
  { limit, windowSeconds, onFallback, onRecovery }: Options,
): RedisWindows {
  let state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  let prober: NodeJS.Timeout | undefined;
  let isProbing = false;

  const client = connect(redisUrl);
  const gather = client instanceof Redis ? gatherWrites(client) : () => undefined;
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: 'roster:rate',
    points: limit,
    duration: windowSeconds,
    rejectIfRedisNotReady: true,
    customIncrTtlLuaScript: CHARGE,
  });

  // The first requests wait for the connection a little, so that they are counted where the others will be.
  const started = Promise.withResolvers<void>();
  const startTimer = setTimeout(started.resolve, START_MILLISECONDS);
  client.once('ready', () => {
    if (state === 'starting') state = 'up';
    started.resolve();
  });
  client.on('error', (error) => fail(error, ''));
  client.on('close', () => fail(new Error('The connection to Redis was lost'), ''));

  function fail(error: unknown, bucket: string): void {
    if (state === 'down' || state === 'closed') return;
    state = 'down';
    started.resolve();
    prober = setInterval(probe, PROBE_MILLISECONDS, bucket).unref();
    onFallback(error);
  }

  // A real charge: Redis can answer a PING and still refuse to write. On a cluster, the hash tag sends it to the node
  // that failed.
  async function probe(bucket: string): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    const isCounting = await limiter.consume(`probe:{${limiter.getKey(bucket)}}`).then(() => true, isRefusal);
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
      gather();
      try {
        const { consumedPoints, msBeforeNext } = await inTime(limiter.consume(bucket, cost));
        return { isRefused: false, used: consumedPoints, millisecondsLeft: msBeforeNext };
      } catch (reason) {
        if (isRefusal(reason)) {
          return { isRefused: true, used: reason.consumedPoints - cost, millisecondsLeft: reason.msBeforeNext };
        }
        fail(reason, bucket);
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
 * From now to the end of this turn of the event loop, commands leave in one write. Each is answered for
 * itself, unlike with the library's pipelining, where one waits for those before it.
 */
function gatherWrites(client: Redis): () => void {
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

const isRefusal = (reason: unknown): reason is RateLimiterRes => reason instanceof RateLimiterRes;

/**
 * The answer, unless it takes longer than a request may wait. After a pause of this process it may
 * lie unread in the socket, so the sockets are looked at once more before Redis is given up.
 */
function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer in ${ANSWER_MILLISECONDS} ms`));
    const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MILLISECONDS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
