import type { Attempts } from './attempts.ts';
import type { Config } from '../config/config.ts';
import type { Counted } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { PROOF_MEMORY_SECONDS } from './dpop-times.ts';
import { createLimiter, withTelemetry } from './limiter.ts';

const HOUR_SECONDS = 3600;

/** How many registrations can be refused for each that can succeed, and secrets for each request of an address. */
const REFUSED_FACTOR = 10;

type Log = Record<'warn' | 'info', (fields: object, message: string) => void>;

/** Creates the limiters of attempts, shared by all replicas if Redis is configured. */
export function createAttemptLimiters(
  config: Config,
  log: Log,
  telemetry: Telemetry = {},
): Attempts & { close(): Promise<void> } {
  const createWindows = (counted: Counted, limit: number, windowSeconds = config.signInWindowSeconds) => {
    const options = {
      redis: config.redis,
      limit,
      windowSeconds,
      onFallback: (error: unknown) =>
        log.warn({ err: error, counted }, 'Redis is unavailable; attempts are counted per process'),
      onRecovery: () => log.info({ counted }, 'Redis is available; attempts are shared again'),
    };
    return createLimiter(withTelemetry(options, counted, telemetry));
  };
  const byAddress = createWindows('by_address', config.signInAddressLimit);
  const byAccount = createWindows('by_account', config.signInLimit);
  const oauthByAddress = createWindows('oauth_by_address', config.oauth.addressLimit, config.rateWindowSeconds);
  const oauthByClient = createWindows('oauth_by_client', config.oauth.clientLimit, config.rateWindowSeconds);
  const secretsLimit = REFUSED_FACTOR * config.oauth.addressLimit;
  const refusedSecrets = createWindows('oauth_refused_secrets', secretsLimit, config.rateWindowSeconds);
  const registrations = createWindows('oauth_registrations', config.oauth.registrationLimit, HOUR_SECONDS);
  const refusedLimit = REFUSED_FACTOR * config.oauth.registrationLimit;
  const refusedRegistrations = createWindows('oauth_refused_registrations', refusedLimit, HOUR_SECONDS);
  const leaks = createWindows('leak_reports', config.leakAddressLimit, config.rateWindowSeconds);
  const pictures = createWindows('pictures', config.pictureLimit, HOUR_SECONDS);
  const proofs = config.oauth.dpop ? createWindows('proofs', 1, PROOF_MEMORY_SECONDS) : null;

  return {
    byAddress,
    byAccount,
    oauthByAddress,
    oauthByClient,
    refusedSecrets,
    registrations,
    refusedRegistrations,
    leaks,
    pictures,
    proofs,
    isShared: () => byAddress.isShared(),
    async close() {
      const all = [
        byAddress,
        byAccount,
        oauthByAddress,
        oauthByClient,
        refusedSecrets,
        registrations,
        refusedRegistrations,
        leaks,
        pictures,
        proofs,
      ];
      await Promise.all(all.filter((windows) => windows !== null).map((windows) => windows.close()));
    },
  };
}
