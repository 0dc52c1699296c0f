import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { parseRedisUrl, type RedisServer, type RedisUrl } from '../config/redis-url.ts';

// All waits are bounded, so that Redis adds no more to a request than its time to answer. The defaults of ioredis are seconds.
// Auto-pipelining is off: a command would wait for the pipeline before it, up to two round trips and two timeouts.
const CONNECTION = {
  enableAutoPipelining: false,
  maxRetriesPerRequest: 0,
  // A failed request was decided in memory; sent again, it would count twice.
  autoResendUnfulfilledCommands: false,
  // After a failover the connection can still lead to the former primary.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

const retryDelay = (attempt: number): number => Math.min(50 * attempt, 500);

/** Connects immediately and reconnects forever. */
export function connectRedis(server: RedisServer): Redis | Cluster {
  const url = parseRedisUrl(server.url);
  const options = connectionOptions(url, server);
  if (url.kind === 'cluster') return connectCluster(url, options);
  const single = { ...options, db: url.database, enableOfflineQueue: false, retryStrategy: retryDelay };
  if (url.kind === 'sentinel') return connectThroughSentinels(url, single);
  const [{ host, port } = {}] = url.hosts;
  return new Redis({ ...single, ...(host !== undefined && { host }), ...(port !== undefined && { port }) });
}

function connectionOptions(url: RedisUrl, { tls: files = {}, answerMs }: RedisServer) {
  const tls = url.isTls ? Object.fromEntries(Object.entries(files).filter(([, pem]) => pem !== undefined)) : undefined;
  return {
    ...CONNECTION,
    // Longer than the deadline of a request (`withDeadline` in redis-store.ts).
    commandTimeout: 4 * answerMs,
    socketTimeout: 5 * answerMs,
    connectTimeout: 5 * answerMs,
    disconnectTimeout: 5 * answerMs,
    ...(url.username !== undefined && { username: url.username }),
    ...(url.password !== undefined && { password: url.password }),
    ...(tls !== undefined && { tls }),
  };
}

type Options = ReturnType<typeof connectionOptions>;

/** Asks the Sentinels for the primary at each connection, and follows a failover when they announce it. */
function connectThroughSentinels({ hosts, primary, sentinel }: RedisUrl, options: Options): Redis {
  const { tls } = options;
  return new Redis({
    ...options,
    sentinels: [...hosts],
    name: primary,
    failoverDetector: true,
    sentinelCommandTimeout: 500,
    sentinelRetryStrategy: retryDelay,
    ...(sentinel.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
    ...(tls !== undefined && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  });
}

function connectCluster({ hosts, isTls }: RedisUrl, redisOptions: Options): Cluster {
  return new Cluster([...hosts], {
    // The first command connects a node; commands beside it can wait for that, within their deadline.
    enableOfflineQueue: true,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: 500,
    slotsRefreshInterval: 5000,
    clusterRetryStrategy: retryDelay,
    // A certificate names the host, which a resolved address would not match.
    ...(isTls && { dnsLookup: (host, callback) => callback(null, host) }),
    redisOptions,
  });
}
