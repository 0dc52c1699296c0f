import { createServer, type RequestListener } from 'node:http';
import type { Services } from './services.ts';
import type { Config } from '../config/config.ts';
import { readSkewMs } from '../db/clock.ts';
import { readUnnumberedAge } from '../events/chain/unnumbered.ts';
import { closeServer, listen } from '../http/server.ts';
import { countJobs } from '../jobs/queue.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { SECOND_MS } from '../time.ts';
import { readWebhookState } from '../webhooks/state.ts';
import { runsJobs } from './worker-slot.ts';

export type Scrapes = { close(): Promise<void> };

const NONE: Scrapes = { close: () => Promise.resolve() };

/** Serves the metrics of this process on a separate port. With several workers, the primary serves those of all. */
export async function serveScrapes(
  { config, db }: Services,
  { metrics }: Telemetry,
  slot: number | undefined,
): Promise<Scrapes> {
  if (metrics === undefined) return NONE;
  metrics.watchPools(db.pools);
  metrics.watchQueues({ writes: db.writeQueue, lists: db.listQueue });
  if (runsJobs(slot)) {
    metrics.watchJobs(() => countJobs(db));
    metrics.watchClock(() => readSkewMs(db));
    metrics.watchNumbering(() => readUnnumberedAge(db));
    metrics.watchWebhooks(() => readWebhookState(db));
  }
  return slot === undefined ? listenForScrapes(config, metrics.listener) : NONE;
}

/** Serves metrics at METRICS_PORT. */
export async function listenForScrapes({ metricsPort, host }: Config, listener: RequestListener): Promise<Scrapes> {
  if (metricsPort === undefined) return NONE;
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10 * SECOND_MS }, listener);
  server.timeout = 30 * SECOND_MS; // a scraper that does not read
  await listen(server, metricsPort, host, 'METRICS_PORT');
  return { close: () => closeServer(server, 0) };
}
