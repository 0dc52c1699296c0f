import type { Attempts } from '../access/throttle.ts';
import type { Config } from '../config.ts';
import { createLimiter } from './limiter.ts';

type Log = { warn(fields: object, message: string): void; info(message: string): void };

/** The windows of attempts, shared by all replicas where Redis is configured. */
export function countAttempts(config: Config, log: Log): Attempts & { close(): Promise<void> } {
  const windowsOf = (counted: string, limit: number) =>
    createLimiter({
      redisUrl: config.redisUrl,
      limit,
      windowSeconds: config.signInWindowSeconds,
      onFallback: (error) =>
        log.warn({ err: error, counted }, 'Redis is away: each replica counts attempts in its own memory'),
      onRecovery: () => log.info(`Redis counts attempts ${counted} again`),
    });
  const byAddress = windowsOf('by address', config.signInAddressLimit);
  const byAccount = windowsOf('by account', config.signInLimit);

  return {
    byAddress,
    byAccount,
    async close() {
      await Promise.all([byAddress.close(), byAccount.close()]);
    },
  };
}
