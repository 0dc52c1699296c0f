import type { Attempts } from '../access/throttle.ts';
import type { Config } from '../config.ts';
import { createLimiter } from './limiter.ts';

/** A proof passes from a minute before its time to a minute after it; the rest is for the clocks of replicas. */
const PROOF_WINDOW_SECONDS = 150;

type Log = { warn(fields: object, message: string): void; info(message: string): void };

/** The windows of attempts, shared by all replicas where Redis is configured. */
export function countAttempts(config: Config, log: Log): Attempts & { close(): Promise<void> } {
  const windowsOf = (counted: string, limit: number, windowSeconds = config.signInWindowSeconds) =>
    createLimiter({
      redisUrl: config.redisUrl,
      limit,
      windowSeconds,
      onFallback: (error) =>
        log.warn({ err: error, counted }, 'Redis is away: each replica counts attempts in its own memory'),
      onRecovery: () => log.info(`Redis counts attempts ${counted} again`),
    });
  const byAddress = windowsOf('by address', config.signInAddressLimit);
  const byAccount = windowsOf('by account', config.signInLimit);
  const oauthByAddress = windowsOf('at /oauth by address', config.oauth.addressLimit, config.rateWindowSeconds);
  const oauthByClient = windowsOf('at /oauth by client', config.oauth.clientLimit, config.rateWindowSeconds);
  const proofs = config.oauth.dpop ? windowsOf('by proof', 1, PROOF_WINDOW_SECONDS) : null;

  return {
    byAddress,
    byAccount,
    oauthByAddress,
    oauthByClient,
    proofs,
    isShared: () => byAddress.isShared(),
    async close() {
      const all = [byAddress, byAccount, oauthByAddress, oauthByClient, proofs];
      await Promise.all(all.filter((windows) => windows !== null).map((windows) => windows.close()));
    },
  };
}
