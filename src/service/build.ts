import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { createApp } from '../app.ts';
import type { Services } from './services.ts';
import { trackUsage } from '../auth/last-used.ts';
import { createDenialLog } from '../events/denials.ts';
import { createOperatorReadLog } from '../events/operator-reads.ts';
import { createAccessLog } from '../http/access-log.ts';
import { createSourceReader } from '../http/client-address.ts';
import { openGeolocation } from '../http/geolocation.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createHttpServer } from '../http/server.ts';
import { endClosedSignUps } from '../jobs/run-cleanup.ts';
import type { Readiness } from '../pages/health.ts';
import { createAttemptLimiters } from '../rate-limit/attempt-limiters.ts';
import { createLimiter, withTelemetry } from '../rate-limit/limiter.ts';
import { createOperatorLimiters } from '../rate-limit/operator-limiters.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

export type Collaborators = {
  readonly telemetry?: Telemetry;
  /** Reports a failure that costs no request, because it is tried again. By default it is a warning in the log. */
  readonly reportFailure?: (error: unknown, message: string) => void;
  /** Replaces some of what the interfaces share. */
  readonly replace?: (http: HttpServices) => Partial<HttpServices>;
};

/** A service that answers requests as soon as `server` listens. Its jobs are those of `startBackground`. */
export type Service = {
  readonly http: HttpServices;
  readonly readiness: Readiness;
  readonly server: Server;
  /** Writes what is counted in memory. */
  flush(): Promise<void>;
  /** Closes the connections to Redis. */
  close(): Promise<void>;
};

/** Builds the service on opened services: the one composition of `npm start`, of its workers and of the tests. */
export async function buildService(
  services: Services,
  log: Logger,
  { telemetry = {}, reportFailure = (err, message) => log.warn({ err }, message), replace }: Collaborators = {},
): Promise<Service> {
  const { config, db } = services;
  await endClosedSignUps(services);
  const source = createSourceReader(config.trustProxy);
  const windows = {
    redis: config.redis,
    limit: config.rateLimit,
    windowSeconds: config.rateWindowSeconds,
    onFallback: (error: unknown) =>
      log.warn({ err: error }, 'Redis is unavailable; rate limits are counted per process'),
    onRecovery: () => log.info('Redis is available; rate limits are shared again'),
  };
  const created = {
    services,
    limiter: createLimiter(withTelemetry(windows, 'requests', telemetry)),
    operatorLimiters: createOperatorLimiters(config, log, telemetry),
    attempts: createAttemptLimiters(config, log, telemetry),
    usage: trackUsage(db, config.sessionIdleDays, (error) =>
      reportFailure(error, 'last uses could not be written; they will be tried again'),
    ),
    denials: createDenialLog(db, (error) =>
      reportFailure(error, 'denials could not be written to the audit log; they will be counted'),
    ),
    operatorReads: createOperatorReadLog(db, (error) =>
      reportFailure(error, 'reads of operator keys could not be written to the audit log; they will be tried again'),
    ),
    log: createAccessLog(log, telemetry),
    clientAddress: source.address,
    locateClient: await openGeolocation(config, source.isProxied),
  };
  const http: HttpServices = { ...created, ...replace?.(created) };
  const readiness: Readiness = { ready: true };
  const app = createApp(http, readiness);
  const server = createHttpServer(telemetry.tracing?.listener(app) ?? app, config, http.log);
  return {
    http,
    readiness,
    server,
    async flush() {
      await Promise.all([created.usage.close(), created.denials.close(), created.operatorReads.close()]);
    },
    async close() {
      await Promise.all([created.limiter.close(), created.operatorLimiters.close(), created.attempts.close()]);
    },
  };
}
