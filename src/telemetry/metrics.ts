import type { RequestListener } from 'node:http';
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createDatabaseGauges } from './database-gauges.ts';
import { operationLabel } from './labels.ts';
import { createScrapeListener } from './scrape-listener.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** The counters of rate limits: requests, and the attempts of `createAttemptLimiters`. */
export type Counted =
  | 'requests'
  | 'operator_requests'
  | 'operator_verify'
  | 'by_address'
  | 'by_account'
  | 'oauth_by_address'
  | 'oauth_by_client'
  | 'oauth_registrations'
  | 'oauth_refused_registrations'
  | 'oauth_refused_secrets'
  | 'leak_reports'
  | 'pictures'
  | 'proofs';

type Pool = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Creates the metrics of this process. Labels are from fixed lists, so that clients cannot create new ones.
 * @param worker the number of this process, if there are several. Their primary collects the metrics.
 */
export function createMetrics(worker?: number) {
  const register = new Registry();
  if (worker !== undefined) {
    register.setDefaultLabels({ worker: String(worker) });
    AggregatorRegistry.setRegistries(register);
    // Answers the requests of the primary.
    void new AggregatorRegistry();
  }
  const registers = [register];
  collectDefaultMetrics({ register });

  const durations = new Histogram({
    name: 'roster_http_request_duration_seconds',
    help: 'Duration of requests.',
    labelNames: ['operation', 'status'],
    buckets: DURATIONS,
    registers,
  });
  const decisions = new Counter({
    name: 'roster_rate_limit_decisions_total',
    help: 'Decisions of rate limits, by counter.',
    labelNames: ['counted', 'outcome'],
    registers,
  });
  const attempts = new Counter({
    name: 'roster_webhook_attempts_total',
    help: 'Attempts to deliver webhooks.',
    labelNames: ['outcome'],
    registers,
  });
  const logouts = new Counter({
    name: 'roster_logout_attempts_total',
    help: 'Attempts to tell applications that a session ended.',
    labelNames: ['outcome'],
    registers,
  });
  // Exports zero before the first attempt.
  for (const outcome of ['delivered', 'retried', 'failed']) logouts.inc({ outcome }, 0);
  const fallbacks = new Counter({
    name: 'roster_redis_fallbacks_total',
    help: 'Outages of Redis during which this process counted in memory.',
    labelNames: ['counted'],
    registers,
  });

  const busyReleases = new Counter({
    name: 'roster_db_busy_releases_total',
    help: 'Database connections that were closed, because they were given back before they were idle.',
    labelNames: ['pool'],
    registers,
  });

  /** Histograms by operation and status, so that a request does not build a label key. */
  const cached = new Map<string, Map<number, Histogram.Internal<'operation' | 'status'>>>();

  function createDurations(operation: string, status: number) {
    const ofOperation = cached.get(operation) ?? new Map<number, Histogram.Internal<'operation' | 'status'>>();
    const created = durations.labels(operation, String(status));
    cached.set(operation, ofOperation.set(status, created));
    return created;
  }

  return {
    finishRequest(operation: string | null, status: number, seconds: number): void {
      const label = operationLabel(operation) ?? 'none';
      (cached.get(label)?.get(status) ?? createDurations(label, status)).observe(seconds);
    },

    /** Creates the counters of one rate limit. */
    limit(counted: Counted) {
      const [allowed, denied] = [decisions.labels(counted, 'allowed'), decisions.labels(counted, 'refused')];
      const outages = fallbacks.labels(counted);
      // Exports zero before the first event.
      for (const counter of [allowed, denied, outages]) counter.inc(0);
      return {
        onDecision: (isAllowed: boolean): void => (isAllowed ? allowed : denied).inc(),
        onFallback: (): void => outages.inc(),
      };
    },

    onBusyRelease: (pool: string): void => busyReleases.labels(pool).inc(),

    watchPools(pools: Readonly<Record<string, Pool>>): void {
      for (const name of Object.keys(pools)) busyReleases.labels(name).inc(0);
      new Gauge({
        name: 'roster_db_pool_connections',
        help: 'Connections to the database.',
        labelNames: ['pool', 'state'],
        registers,
        collect() {
          for (const [name, pool] of Object.entries(pools)) {
            this.set({ pool: name, state: 'used' }, pool.totalCount - pool.idleCount);
            this.set({ pool: name, state: 'idle' }, pool.idleCount);
          }
        },
      });
      new Gauge({
        name: 'roster_db_pool_waiting',
        help: 'Queries that wait for a connection.',
        labelNames: ['pool'],
        registers,
        collect() {
          for (const [name, pool] of Object.entries(pools)) this.set({ pool: name }, pool.waitingCount);
        },
      });
    },

    /** @param queues in which requests wait before they get a connection */
    watchQueues(queues: Readonly<Record<string, { readonly length: number }>>): void {
      new Gauge({
        name: 'roster_db_queue_length',
        help: 'Requests that use the database in turns: those at work and those that wait.',
        labelNames: ['queue'],
        registers,
        collect() {
          for (const [name, { length }] of Object.entries(queues)) this.set({ queue: name }, length);
        },
      });
    },

    /** @param dropped returns the number of log lines dropped since startup */
    watchLog(dropped: () => number): void {
      new Counter({
        name: 'roster_log_lines_dropped_total',
        help: 'Log lines dropped because the reader of stdout was too slow.',
        registers,
        collect() {
          this.reset();
          this.inc(dropped());
        },
      });
    },

    /** Counts how attempts to deliver webhooks end. */
    countWebhook(outcome: string): void {
      attempts.inc({ outcome });
    },

    /** Counts how attempts to tell applications of a logout end. */
    countLogout(outcome: string): void {
      logouts.inc({ outcome });
    },

    ...createDatabaseGauges(registers),
    listener: createScrapeListener(register.contentType, () => register.metrics()),
  };
}

/** Creates the listener of a primary process, which collects the metrics of all its workers. */
export function createWorkersListener(): RequestListener {
  const register = new AggregatorRegistry();
  return createScrapeListener(register.contentType, () => register.clusterMetrics());
}
