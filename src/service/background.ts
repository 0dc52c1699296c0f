import type { Logger } from 'pino';
import type { Services } from './services.ts';
import type { Mailer } from '../email/mailer.ts';
import { startSequencer } from '../events/sequencer.ts';
import { startWorker, type Worker } from '../jobs/worker.ts';
import { resourceTasks } from './resource-tasks.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { startDispatcher } from '../webhooks/dispatcher.ts';

/** Runs the jobs of the queue. */
export const startJobs = (
  services: Services,
  mailer: Mailer,
  log: Logger,
  metrics?: Telemetry['metrics'],
): Promise<Worker> =>
  startWorker(
    services,
    mailer,
    log,
    resourceTasks(services, log, (outcome) => metrics?.countLogout(outcome)),
  );

/** What runs beside the requests. */
export type Background = {
  /** Ends jobs and deliveries; events are numbered until `close`. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  readonly mailer: Mailer;
  readonly telemetry: Telemetry;
  /** Whether this process runs the jobs and sends the webhooks, as one of the workers does. */
  readonly hasJobs: boolean;
};

/** Starts what runs beside the requests. Every process numbers events. */
export async function startBackground(
  services: Services,
  log: Logger,
  { mailer, telemetry: { metrics }, hasJobs }: Options,
): Promise<Background> {
  const worker = hasJobs ? await startJobs(services, mailer, log, metrics) : undefined;
  const sequencer = startSequencer(services, log);
  const webhooks = hasJobs ? startDispatcher(services, log, (outcome) => metrics?.countWebhook(outcome)) : undefined;
  return {
    async stop() {
      await Promise.all([worker?.stop(), webhooks?.stop()]);
    },
    async close() {
      await sequencer.stop();
      mailer.close();
    },
  };
}
