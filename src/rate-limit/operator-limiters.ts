import type { Config } from '../config/config.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createLimiter, withTelemetry, type Limiter } from './limiter.ts';

/** What an operator key can use up: the requests of the operator API, or those that verify credentials. */
export type OperatorLimit = 'requests' | 'verify';

export type OperatorLimiters = Readonly<Record<OperatorLimit, Limiter>>;

type Log = Record<'warn' | 'info', (fields: object, message: string) => void>;

/** Creates the limiters of operator keys, shared by all replicas if Redis is configured. */
export function createOperatorLimiters(
  config: Config,
  log: Log,
  telemetry: Telemetry = {},
): OperatorLimiters & { close(): Promise<void> } {
  const create = (counted: 'operator_requests' | 'operator_verify', limit: number) =>
    createLimiter(
      withTelemetry(
        {
          redis: config.redis,
          limit,
          windowSeconds: config.rateWindowSeconds,
          onFallback: (error: unknown) =>
            log.warn({ err: error, counted }, 'Redis is unavailable; rate limits are counted per process'),
          onRecovery: () => log.info({ counted }, 'Redis is available; rate limits are shared again'),
        },
        counted,
        telemetry,
      ),
    );
  const requests = create('operator_requests', config.operatorRateLimit);
  const verify = create('operator_verify', config.operatorVerifyLimit);
  return {
    requests,
    verify,
    close: async () => void (await Promise.all([requests.close(), verify.close()])),
  };
}
