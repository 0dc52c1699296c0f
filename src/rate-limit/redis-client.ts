import { Cluster, Redis } from 'ioredis';
import type { ClusterNode, RedisOptions } from 'ioredis';

// All waits are bounded, so that Redis adds at most 100 ms to a request. The defaults of ioredis are seconds.
// Auto-pipelining is off: a command would wait for the pipeline before it, up to two round trips and two timeouts.
const CONNECTION = {
  enableAutoPipelining: false,
  maxRetriesPerRequest: 0,
  // A failed request was decided in memory; sent again, it would count twice.
  autoResendUnfulfilledCommands: false,
  // Longer than the deadline of a request (`withDeadline` in redis-store.ts).
  commandTimeout: 400,
  socketTimeout: 500,
  connectTimeout: 500,
  disconnectTimeout: 500,
  // After a failover the connection can still lead to the former primary.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

const retryDelay = (attempt: number): number => Math.min(50 * attempt, 500);

/** Connects immediately and reconnects forever. Several URLs, separated by commas, are the nodes of one Redis Cluster. */
export function connectRedis(redisUrl: string): Redis | Cluster {
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
    // The first command connects a node; commands beside it can wait for that, within their deadline.
    enableOfflineQueue: true,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: 500,
    slotsRefreshInterval: 5000,
    clusterRetryStrategy: retryDelay,
    // A certificate names the host, which a resolved address would not match.
    ...(secure && { dnsLookup: (host, callback) => callback(null, host) }),
    redisOptions: {
      ...CONNECTION,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(secure && { tls: {} }),
    },
  });
}
