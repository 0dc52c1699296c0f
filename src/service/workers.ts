import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { openEmbedded } from './open.ts';
import { SECOND_MS } from '../time.ts';
import { listenForScrapes, type Scrapes } from './scrapes.ts';
import { LEAVE_MESSAGE, SLOT_VARIABLE, STOP_MESSAGE } from './worker-slot.ts';

/** Delays of replacements: none for the first, then doubled. A worker that has run for `STEADY_MS` starts again without a delay. */
const DELAY_MS = 500;
const DELAY_MS_MAX = 30 * SECOND_MS;
const STEADY_MS = 60 * SECOND_MS;

/** The longest shutdown of a worker after it has drained. */
const STOP_MS = 12 * SECOND_MS;

export type Primary = {
  /** Drains all workers, and then stops the embedded database. @throws if a worker did not stop gracefully */
  stop(): Promise<void>;
};

/**
 * Runs the service in `config.workers` processes that share its port. The first one migrates the database before the
 * others start. Replaces workers that die. A worker that fails to start ends the service, unless another one serves.
 */
export async function startPrimary(config: Config, log: Logger): Promise<Primary> {
  // Workers accept from one socket. With the default, the primary accepts, and a connection that it hands to a dying
  // worker is never answered. With a socket for each worker (SO_REUSEPORT), closing one resets those in its queue.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // Workers join this server, so it outlives each of them.
  const embedded = config.databaseUrl === undefined ? await openEmbedded(config) : undefined;
  const stopping = new AbortController();
  const running = new Map<number, Worker>();
  const serving = new Set<number>();
  /** Workers that end alone once another one serves. */
  const leaving = new Map<number, Worker>();
  let isComplete = false;

  function letLeave(): void {
    for (const [slot, worker] of leaving) {
      if (!stopping.signal.aborted && serving.has(slot) && serving.size === 1) continue;
      leaving.delete(slot);
      serving.delete(slot);
      if (worker.isConnected()) worker.send(LEAVE_MESSAGE, () => undefined);
    }
  }

  /** Runs one worker until it exits. @returns whether it had begun to serve */
  async function run(slot: number, onListening: () => void): Promise<boolean> {
    const worker = cluster.fork({ [SLOT_VARIABLE]: String(slot) });
    running.set(slot, worker);
    const { pid } = worker.process;
    let hasServed = false;
    worker.once('listening', () => {
      hasServed = true;
      serving.add(slot);
      onListening();
      letLeave();
    });
    worker.on('message', (message) => {
      if (message !== LEAVE_MESSAGE) return;
      leaving.set(slot, worker);
      letLeave();
    });
    const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null]; // what the event carries
    serving.delete(slot);
    leaving.delete(slot);
    running.delete(slot);
    if (stopping.signal.aborted) {
      if (code !== 0) process.exitCode = 1;
    } else log.error({ worker: slot, workerPid: pid, code, signal }, 'worker ended');
    return hasServed;
  }

  async function keepRunning(slot: number, onListening: () => void): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      const startedAt = Date.now();
      const hasServed = await run(slot, onListening);
      if (stopping.signal.aborted) return;
      if (!hasServed && (!isComplete || serving.size === 0)) {
        // It has said why on stderr.
        await end();
        return;
      }
      if (Date.now() - startedAt > STEADY_MS) failures = 0;
      const delayMs = failures === 0 ? 0 : Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** failures);
      log.warn({ worker: slot, delayMs }, 'worker replacement scheduled');
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function end(): Promise<void> {
    await stop().catch(() => undefined);
    process.exit(1);
  }

  async function stop(): Promise<void> {
    stopping.abort();
    letLeave();
    const workers = [...running.values()];
    const exits = workers.map((worker) => once(worker, 'exit'));
    for (const worker of workers) {
      if (worker.isConnected()) worker.send(STOP_MESSAGE, () => undefined);
      worker.process.kill('SIGTERM');
    }
    const timer = setTimeout(
      () => {
        for (const worker of workers) worker.process.kill('SIGKILL');
      },
      config.drainSeconds * SECOND_MS + STOP_MS,
    );
    await Promise.all(exits);
    clearTimeout(timer);
    await scrapes?.close();
    await embedded?.close();
    if (process.exitCode === 1) throw new Error('A worker did not stop gracefully.');
  }

  const start = (slot: number) => new Promise<void>((resolve) => void keepRunning(slot, resolve));
  const scrapes = await serveMetrics(config).catch(async (error: unknown) => {
    await embedded?.close();
    throw error;
  });
  void startAll();
  return { stop };

  async function startAll(): Promise<void> {
    await start(1);
    await Promise.all(Array.from({ length: config.workers - 1 }, (_, i) => start(i + 2)));
    isComplete = true;
    log.info({ workers: config.workers }, 'all workers listening');
  }
}

/** Serves the metrics of all workers, each with the number of its worker. */
async function serveMetrics(config: Config): Promise<Scrapes | undefined> {
  if (config.metricsPort === undefined) return undefined;
  const { createWorkersListener } = await import('../telemetry/metrics.ts');
  return listenForScrapes(config, createWorkersListener());
}
