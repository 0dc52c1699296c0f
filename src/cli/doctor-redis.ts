import type { Config } from '../config/config.ts';
import { parseRedisUrl } from '../config/redis-url.ts';
import { errorSummary } from './failure.ts';

const WAIT_MS = 3000;

/** Counts in Redis. @throws with the reason and the variable to change */
export async function checkRedis({ redis }: Config): Promise<string> {
  if (redis === undefined) return 'not configured: requests are counted in memory, which supports only one replica';
  const { openRedisWindows } = await import('../rate-limit/redis-store.ts');
  let fault: unknown;
  const windows = openRedisWindows(redis, {
    limit: 1000,
    windowSeconds: 60,
    onFallback: (error) => (fault ??= error),
    onRecovery: () => undefined,
  });
  try {
    // Connecting can take longer than the timeout of one count.
    for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline && fault === undefined;) {
      if ((await windows.count('doctor', 1)) !== undefined) return 'reachable; requests are counted';
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    windows.close();
  }
  throw new Error(fault === undefined ? `no response within ${WAIT_MS} ms` : redisFault(fault, redis.url));
}

/** Says what is wrong with TLS, of which a connection that the server ended says nothing. */
function redisFault(error: unknown, redisUrl: string): string {
  const summary = errorSummary(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isEnded = /ECONNRESET|EPIPE|was lost|is closed|socket hang up/i.test(`${code} ${summary}`);
  if (!parseRedisUrl(redisUrl).isTls)
    return isEnded ? `REDIS_URL: Redis ended the connection (${summary}): if it requires TLS, use rediss://` : summary;
  if (/ETIMEDOUT/.test(`${code} ${summary}`))
    return `REDIS_URL: no TLS connection in time (${summary}): check the host, and that Redis accepts TLS at this port`;
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code))
    return `REDIS_URL: Redis does not accept TLS at this port (${code}): use its TLS port, or redis://`;
  if (isEnded || /^ERR_SSL_|^EPROTO$/.test(code))
    return `REDIS_URL: Redis ended the TLS connection (${code || summary}): it requires a client certificate that it trusts (set REDIS_CERT and REDIS_KEY), or does not accept TLS at this port`;
  return /CERT|UNABLE_TO_|SELF_SIGNED/.test(code)
    ? `REDIS_URL: the certificate of Redis is not trusted (${code}: ${summary}): check REDIS_CA and the host name`
    : summary;
}
