import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { operationLabel } from './labels.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** What is counted in windows: requests, and the attempts of `createAttemptLimiters`. */
export type Counted =
  | 'requests'
  | 'by_address'
  | 'by_account'
  | 'oauth_by_address'
  | 'oauth_by_client'
  | 'oauth_registrations'
  | 'proofs';

type Pool = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };
type Jobs = { readonly state: string; readonly count: number; readonly ageSeconds: number };

const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long a scrape waits for what it has to ask for. */
const ASK_MS = 1000;

/** The metrics of this process. Labels are words of fixed lists, so that nobody outside can make more of them. */
export function createMetrics() {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });

  const durations = new Histogram({
    name: 'roster_http_request_duration_seconds',
    help: 'Requests, and how long they took.',
    labelNames: ['operation', 'status'],
    buckets: DURATIONS,
    registers,
  });
  const decisions = new Counter({
    name: 'roster_rate_limit_decisions_total',
    help: 'Decisions of rate limits, by what they count.',
    labelNames: ['counted', 'outcome'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'roster_redis_fallbacks_total',
    help: 'Outages of Redis that made this process count in its own memory.',
    labelNames: ['counted'],
    registers,
  });

  /** The histograms of an operation, by status: found without making a key. */
  const known = new Map<string, Map<number, Histogram.Internal<'operation' | 'status'>>>();

  function durationsOf(operation: string, status: number) {
    const ofOperation = known.get(operation) ?? new Map<number, Histogram.Internal<'operation' | 'status'>>();
    const made = durations.labels(operation, String(status));
    known.set(operation, ofOperation.set(status, made));
    return made;
  }

  return {
    finished(operation: string | null, status: number, seconds: number): void {
      const word = operationLabel(operation) ?? 'none';
      (known.get(word)?.get(status) ?? durationsOf(word, status)).observe(seconds);
    },

    /** What a rate limit tells of its decisions and of Redis. */
    limit(counted: Counted) {
      const [allowed, refused] = [decisions.labels(counted, 'allowed'), decisions.labels(counted, 'refused')];
      const lost = fallbacks.labels(counted);
      // So that they are there before the first.
      for (const counter of [allowed, refused, lost]) counter.inc(0);
      return {
        onDecision: (isAllowed: boolean): void => (isAllowed ? allowed : refused).inc(),
        onFallback: (): void => lost.inc(),
      };
    },

    watchPool(pool: Pool): void {
      new Gauge({
        name: 'roster_db_pool_connections',
        help: 'Connections to the database.',
        labelNames: ['state'],
        registers,
        collect() {
          this.set({ state: 'used' }, pool.totalCount - pool.idleCount);
          this.set({ state: 'idle' }, pool.idleCount);
        },
      });
      new Gauge({
        name: 'roster_db_pool_waiting',
        help: 'Statements that wait for a connection.',
        registers,
        collect() {
          this.set(pool.waitingCount);
        },
      });
    },

    /** @param dropped how many log lines have been dropped since the start */
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

    /** @param ask what is in the queue; where it does not answer in time, there are no metrics of jobs */
    watchJobs(ask: () => Promise<readonly Jobs[]>): void {
      const askOnce = shared(ask);
      new Gauge({
        name: 'roster_jobs',
        help: 'Jobs in the queue.',
        labelNames: ['state'],
        registers,
        async collect() {
          const jobs = await askOnce();
          this.reset();
          for (const { state, count } of jobs ?? []) this.set({ state }, count);
        },
      });
      new Gauge({
        name: 'roster_jobs_ready_age_seconds',
        help: 'How long the job that is due for the longest time has been due.',
        registers,
        async collect() {
          const ready = (await askOnce())?.find(({ state }) => state === 'ready');
          if (ready === undefined) this.remove();
          else this.set(ready.ageSeconds);
        },
      });
    },

    listener: answerScrapes(register),
  };
}

/** Asks once for all who ask at the same time, and for those that come until there is an answer. `undefined` where there is none in time. */
function shared<Answer>(ask: () => Promise<Answer>): () => Promise<Answer | undefined> {
  let asked: Promise<Answer | undefined> | undefined;
  return () => {
    asked ??= ask()
      .catch(() => undefined)
      .finally(() => (asked = undefined));
    return Promise.race([asked, new Promise<undefined>((resolve) => setTimeout(resolve, ASK_MS, undefined).unref())]);
  };
}

const answerScrapes =
  (register: Registry): RequestListener =>
  (req, res) => {
    sendMetrics(register, req, res).catch(() => (res.headersSent ? res.destroy() : res.writeHead(500).end()));
  };

async function sendMetrics(register: Registry, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.url?.split('?', 1)[0] !== '/metrics') {
    res.writeHead(404).end();
    return;
  }
  if (req.method !== 'GET') {
    res.writeHead(405, { Allow: 'GET' }).end();
    return;
  }
  const text = await register.metrics();
  res.writeHead(200, { 'Content-Type': register.contentType }).end(text);
}
