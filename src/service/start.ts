import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../config/config.ts';
import { createMailer } from '../email/mailer.ts';
import { auditLog } from '../events/event.ts';
import { limitConnections } from '../http/connection-limit.ts';
import { closeServer, listen } from '../http/server.ts';
import { applyPermissionsFile } from '../resources/permissions/file.ts';
import { openServices } from './open.ts';
import { startBackground } from './background.ts';
import { buildService } from './build.ts';
import { watchBusyReleases } from './busy-releases.ts';
import { watchClock } from './clock.ts';
import { firstGreeting } from './demo.ts';
import { holdSignals } from './hold-signals.ts';
import { onceOnSignal } from './on-signal.ts';
import { startPrimary } from './workers.ts';
import { serveScrapes } from './scrapes.ts';
import { letOthersServe, onServiceStop, runsJobs, workerSlot } from './worker-slot.ts';
import { errorSummary, openLog } from '../telemetry/log.ts';
import { createLogOutput } from '../telemetry/log-output.ts';
import { openTelemetry } from '../telemetry/telemetry.ts';
import { SECOND_MS } from '../time.ts';

/** Time limit of running requests after the listener is closed; the whole shutdown stays under 10 s. */
const FINISH_MS = 5000;

/** How long a worker that ends alone lets its clients move to the others: each response closes its connection. */
const HAND_OVER_MS = SECOND_MS;

/** Opens all services, listens, and closes them in order on SIGTERM, SIGINT or SIGHUP. */
export async function start(): Promise<void> {
  const config = readConfig(process.env);
  const slot = workerSlot();
  const logOutput = createLogOutput(process.stdout);
  const log = openLog(config.logLevel, logOutput).child(slot === undefined ? {} : { worker: slot });
  if (slot === undefined) for (const warning of config.warnings) log.warn(warning);
  if (config.workers > 1 && slot === undefined) {
    const primary = await startPrimary(config, log);
    onceOnSignal(
      log,
      () => primary.stop(),
      () => logOutput.close(),
    );
    return;
  }
  // eslint-disable-next-line no-console -- the queue library reports lost connections here, with all members of an error
  console.trace = (error: unknown) => log.warn({ reason: errorSummary(error) }, 'the worker lost its connection');
  const telemetry = await openTelemetry(config, log, slot);
  telemetry.metrics?.watchLog(logOutput.dropped);
  watchBusyReleases(log, telemetry.metrics);
  const opened = await openServices(config, auditLog(log), telemetry.tracing?.withSpan);
  const { services } = opened;
  if (opened.newerSchema !== undefined)
    log.warn({ migratedBy: opened.newerSchema }, 'a newer version migrated the database; replace this one soon');
  await applyPermissionsFile(services);
  const service = await buildService(services, log, { telemetry });
  const { readiness, server } = service;
  onServiceStop(() => (readiness.ready = false));
  const mailer = createMailer(config);
  // Printed before anything else can fail or end the process, because the password and keys cannot be shown again.
  await holdSignals(async () => {
    const greeting = await firstGreeting(services);
    await new Promise((resolve) => process.stdout.write(greeting, resolve));
  });
  const background = await startBackground(services, log, { mailer, telemetry, hasJobs: runsJobs(slot) });
  const endClock = slot === undefined || runsJobs(slot) ? watchClock(services.db, log) : () => undefined;
  const scrapes = await serveScrapes(services, telemetry, slot);
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
    await Promise.all([closeServer(server, FINISH_MS), background.stop()]);
    await Promise.all([service.flush(), telemetry.tracing?.close()]);
    await background.close();
    endClock();
    await service.close();
    await opened.close();
    await scrapes.close();
  }

  onceOnSignal(log, stop, () => logOutput.close());
}
