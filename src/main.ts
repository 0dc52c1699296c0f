import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { auditLog } from './events/event.ts';
import { createDenialLog } from './events/denials.ts';
import { createOperatorReadLog } from './events/operator-reads.ts';
import { trackUsage } from './auth/last-used.ts';
import { createApp } from './app.ts';
import { demoBanner } from './demo/banner.ts';
import { ConfigError, readConfig } from './config.ts';
import { seedDemo } from './demo/seed.ts';
import { createAccessLog } from './http/access-log.ts';
import { createAttemptLimiters } from './rate-limit/attempt-limiters.ts';
import { createSourceReader } from './http/client-address.ts';
import { openGeolocation } from './http/geolocation.ts';
import { countJobs } from './jobs/queue.ts';
import { importTasks } from './resources/imports/upload-job.ts';
import { errorSummary } from './telemetry/log.ts';
import { readUnnumberedAge } from './events/chain/unnumbered.ts';
import { startSequencer } from './events/sequencer.ts';
import { startWorker } from './jobs/worker.ts';
import { createMailer } from './email/mailer.ts';
import { createOperatorLimiters } from './rate-limit/operator-limiters.ts';
import { createLimiter, withTelemetry } from './rate-limit/limiter.ts';
import { openLog } from './telemetry/log.ts';
import { createLogOutput } from './telemetry/log-output.ts';
import { openTelemetry, type Telemetry } from './telemetry/telemetry.ts';
import type { Services } from './app-services.ts';
import { startDispatcher } from './webhooks/dispatcher.ts';
import { readWebhookState } from './webhooks/state.ts';
import { limitConnections } from './http/connection-limit.ts';
import { closeServer, createHttpServer, listen } from './http/server.ts';
import { openServices } from './open-services.ts';
import type { Readiness } from './pages/health.ts';
import { letOthersServe, onServiceStop, runsJobs, startPrimary, workerSlot } from './primary.ts';
import { SECOND_MS } from './time.ts';

/** Time limit of running requests after the listener is closed; the whole shutdown stays under 10 s. */
const FINISH_MS = 5000;

/** How long a worker that ends alone lets its clients move to the others: each response closes its connection. */
const HAND_OVER_MS = SECOND_MS;

/** Interval of the check whether `bin/run.cjs` still runs, because it cannot report that it was killed. */
const WRAPPER_CHECK_MS = 500;

await start().catch((error: unknown) => {
  // One line for each error that the operator can fix. Other errors are defects and keep their stack.
  const [isCode, stack] = error instanceof Error ? ['code' in error, error.stack] : [false, String(error)];
  const faults = error instanceof ConfigError ? error.faults : [isCode ? (error as Error).message : stack];
  process.stderr.write(faults.map((fault) => `roster: ${fault}\n`).join(''));
  process.exit(1);
});

/** Opens all services, listens, and closes them in order on SIGTERM, SIGINT or SIGHUP. */
async function start(): Promise<void> {
  const config = readConfig(process.env);
  const slot = workerSlot();
  const logOutput = createLogOutput(process.stdout);
  const log = openLog(config.logLevel, logOutput).child(slot === undefined ? {} : { worker: slot });
  if (config.workers > 1 && slot === undefined) {
    const primary = await startPrimary(config, log);
    onceOnSignal(
      log,
      () => primary.stop(),
      () => logOutput.close(),
    );
    return;
  }
  const source = createSourceReader(config.trustProxy);
  const locateClient = await openGeolocation(config, source.isProxied);
  // eslint-disable-next-line no-console -- the queue library reports lost connections here, with all members of an error
  console.trace = (error: unknown) => log.warn({ reason: errorSummary(error) }, 'the worker lost its connection');
  const telemetry = await openTelemetry(config, log, slot);
  telemetry.metrics?.watchLog(logOutput.dropped);
  const opened = await openServices(config, auditLog(log), telemetry.tracing?.withSpan);
  const { services } = opened;
  if (opened.newerSchema !== undefined)
    log.warn({ migratedBy: opened.newerSchema }, 'a newer version migrated the database; replace this one soon');
  const usage = trackUsage(services.db, config.sessionIdleDays, (error) =>
    log.warn({ err: error }, 'last uses could not be written; they will be tried again'),
  );
  const denials = createDenialLog(services.db, (error) =>
    log.warn({ err: error }, 'denials could not be written to the audit log; they will be counted'),
  );
  const operatorReads = createOperatorReadLog(services.db, (error) =>
    log.warn({ err: error }, 'reads of operator keys could not be written to the audit log; they will be tried again'),
  );
  const windows = {
    redisUrl: config.redisUrl,
    redisTls: config.redisTls,
    limit: config.rateLimit,
    windowSeconds: config.rateWindowSeconds,
    onFallback: (error: unknown) =>
      log.warn({ err: error }, 'Redis is unavailable; rate limits are counted per process'),
    onRecovery: () => log.info('Redis is available; rate limits are shared again'),
  };
  const limiter = createLimiter(withTelemetry(windows, 'requests', telemetry));
  const operatorLimiters = createOperatorLimiters(config, log, telemetry);
  const attempts = createAttemptLimiters(config, log, telemetry);
  const readiness: Readiness = { ready: true };
  onServiceStop(() => (readiness.ready = false));
  const requests = createAccessLog(log, telemetry);
  const app = createApp(
    {
      services,
      limiter,
      operatorLimiters,
      attempts,
      usage,
      denials,
      operatorReads,
      log: requests,
      clientAddress: source.address,
      locateClient,
    },
    readiness,
  );
  const server = createHttpServer(telemetry.tracing?.listener(app) ?? app, config.baseUrl, requests);
  const mailer = createMailer(config);
  // Printed before anything else can fail, because the keys cannot be shown again.
  process.stdout.write(await firstGreeting(services));
  const worker = runsJobs(slot) ? await startWorker(services, mailer, log, importTasks(services, log)) : undefined;
  const sequencer = startSequencer(services, log);
  const webhooks = runsJobs(slot)
    ? startDispatcher(services, log, (outcome) => telemetry.metrics?.countWebhook(outcome))
    : undefined;
  const scrapes = await listenForScrapes(services, telemetry, slot);
  limitConnections(server, config.databasePoolMax);
  await listen(server, config.port, config.host);
  log.info({ host: config.host, port: config.port, baseUrl: config.baseUrl }, 'listening');

  async function stop(): Promise<void> {
    if (slot !== undefined && readiness.ready) await letOthersServe();
    readiness.isEnding = true;
    if (slot === undefined) readiness.ready = false;
    const handOverMs = readiness.ready ? HAND_OVER_MS : 0;
    await sleep(Math.max(config.drainSeconds * SECOND_MS, handOverMs));
    // In parallel, so that slow requests and slow jobs do not add up.
    await Promise.all([closeServer(server, FINISH_MS), worker?.stop(), webhooks?.stop()]);
    await Promise.all([usage.close(), denials.close(), operatorReads.close(), telemetry.tracing?.close()]);
    await sequencer.stop();
    mailer.close();
    await Promise.all([limiter.close(), operatorLimiters.close(), attempts.close()]);
    await opened.close();
    await scrapes.close();
  }

  onceOnSignal(log, stop, () => logOutput.close());
}

/** Serves the metrics on a separate port. */
async function listenForScrapes({ config, db }: Services, { metrics }: Telemetry, slot: number | undefined) {
  if (metrics === undefined || config.metricsPort === undefined) return { close: () => Promise.resolve() };
  metrics.watchPools(db.pools);
  metrics.watchQueues({ writes: db.writeQueue, lists: db.listQueue });
  if (runsJobs(slot)) {
    metrics.watchJobs(() => countJobs(db));
    metrics.watchNumbering(() => readUnnumberedAge(db));
    metrics.watchWebhooks(() => readWebhookState(db));
  }
  // The primary serves those of its workers.
  if (slot !== undefined) return { close: () => Promise.resolve() };
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10 * SECOND_MS }, metrics.listener);
  server.timeout = 30 * SECOND_MS; // a scraper that does not read
  await listen(server, config.metricsPort, config.host, 'METRICS_PORT');
  return { close: () => closeServer(server, 0) };
}

/** Creates the demo data if needed. @returns the banner to print */
async function firstGreeting(services: Services): Promise<string> {
  if (!(await wantsDemo(services))) return '';
  try {
    return demoBanner(services.config.baseUrl, await seedDemo(services));
  } catch (error) {
    // Another process that started at the same time on this data directory may have created them.
    if (await wantsDemo(services)) throw error;
    return '';
  }
}

/** Demo data is for the first start on an embedded database, while no account exists. */
async function wantsDemo({ config, db }: Services): Promise<boolean> {
  if (!config.seedDemo || config.databaseUrl !== undefined) return false;
  const [row] = await db.em().execute<{ empty: boolean }[]>('select not exists (select from account) as empty');
  return row?.empty === true;
}

/** Stops once, on the first signal or when `bin/run.cjs`, which started this process, no longer exists. */
function onceOnSignal(log: Logger, stop: () => Promise<void>, closeLog: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals | 'wrapper exited') => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    stop().then(
      () => {
        log.info('stopped');
        void closeLog().then(() => process.exit(0));
      },
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed');
        void closeLog().then(() => process.exit(1));
      },
    );
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', onSignal);
  const wrapper = process.ppid;
  if (process.env['ROSTER_WRAPPER_PID'] === String(wrapper)) {
    setInterval(() => process.ppid !== wrapper && onSignal('wrapper exited'), WRAPPER_CHECK_MS).unref();
  }
}
