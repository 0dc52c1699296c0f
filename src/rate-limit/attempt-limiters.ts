import type { Attempts } from './attempts.ts';
import type { Config } from '../config.ts';
import type { Counted } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createLimiter, withTelemetry } from './limiter.ts';

/** A proof passes from a minute before its time to a minute after it; the rest is for the clocks of replicas. */
const PROOF_WINDOW_SECONDS = 150;

const HOUR_SECONDS = 3600;

type Log = Record<'warn' | 'info', (fields: object, message: string) => void>;

/** The windows of attempts, shared by all replicas where Redis is configured. */
export function createAttemptLimiters(
  config: Config,
  log: Log,
  telemetry: Telemetry = {},
): Attempts & { close(): Promise<void> } {
  const windowsOf = (counted: Counted, limit: number, windowSeconds = config.signInWindowSeconds) => {
    const options = {
      redisUrl: config.redisUrl,
      limit,
      windowSeconds,
      onFallback: (error: unknown) =>
        log.warn({ err: error, counted }, 'Redis is unavailable; attempts are counted per process'),
      onRecovery: () => log.info({ counted }, 'Redis is available; attempts are shared again'),
    };
    return createLimiter(withTelemetry(options, counted, telemetry));
  };
  const byAddress = windowsOf('by_address', config.signInAddressLimit);
  const byAccount = windowsOf('by_account', config.signInLimit);
  const oauthByAddress = windowsOf('oauth_by_address', config.oauth.addressLimit, config.rateWindowSeconds);
  const oauthByClient = windowsOf('oauth_by_client', config.oauth.clientLimit, config.rateWindowSeconds);
  const registrations = windowsOf('oauth_registrations', config.oauth.registrationLimit, HOUR_SECONDS);
  const proofs = config.oauth.dpop ? windowsOf('proofs', 1, PROOF_WINDOW_SECONDS) : null;

  return {
    byAddress,
    byAccount,
    oauthByAddress,
    oauthByClient,
    registrations,
    proofs,
    isShared: () => byAddress.isShared(),
    async close() {
      const all = [byAddress, byAccount, oauthByAddress, oauthByClient, registrations, proofs];
      await Promise.all(all.filter((windows) => windows !== null).map((windows) => windows.close()));
    },
  };
}
