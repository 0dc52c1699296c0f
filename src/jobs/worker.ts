import { setTimeout as sleep } from 'node:timers/promises';
import { run, type Runner, type TaskList } from 'graphile-worker';
import type { Mailer } from '../email/mailer.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { jobLogger } from './log.ts';
import type { Services } from '../service/services.ts';
import { openQueuePool } from './queue-pool.ts';
import { cronItems, createTasks } from './tasks.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';

export type { JobHelpers, TaskList } from 'graphile-worker';

export type Worker = { stop(): Promise<void> };

const CONCURRENCY = 4;
/** Notifications start jobs. Polling finds those whose time has come, such as requested links, and lost notifications. */
const POLL_MS = SECOND_MS;

/** Time limits of a shutdown: abort running jobs, stop waiting for them, kill the runner, close the pool. */
const ABORT_MS = 3500;
const FINISH_MS = 4500;
const KILL_MS = 1000;
const CLOSE_MS = 500;

const RESTART_MS_MAX = 30 * SECOND_MS;
const STEADY_MS = MINUTE_MS;

/** Unlocks the jobs of a crashed worker if no other worker is connected; otherwise `recover_jobs` does. */
const UNLOCK_ORPHANED_JOBS = `select graphile_worker.force_unlock_workers(array(
  select locked_by from graphile_worker.jobs where locked_by is not null
))
where not exists (
  select from pg_stat_activity
  where datname = current_database() and application_name = current_setting('application_name')
    and pid <> pg_backend_pid()
)`;

/**
 * Starts a worker, which runs jobs until it is stopped and survives outages of the database.
 * @param tasks those of rooms above this one
 */
export async function startWorker(services: Services, mailer: Mailer, log: Log, tasks: TaskList): Promise<Worker> {
  const connections = openQueuePool(services.db.url, services.config, CONCURRENCY + 1, log);
  const stopping = new AbortController();
  const started = Promise.withResolvers<void>();
  let runner: Runner | undefined;

  async function runOnce(): Promise<void> {
    // Without sessions, the connections do not show which workers there are.
    if (connections.hasSessions) await connections.pool.query(UNLOCK_ORPHANED_JOBS);
    runner = await run({
      pgPool: connections.pool,
      schema: 'graphile_worker',
      taskList: { ...createTasks(services, mailer, log), ...tasks },
      parsedCronItems: cronItems(),
      concurrency: CONCURRENCY,
      pollInterval: POLL_MS,
      noPreparedStatements: !connections.hasSessions,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: ABORT_MS,
      logger: jobLogger(log),
      // Without batches, a result that cannot be written is an unhandled rejection, which ends the process.
      // With batches it ends only the run.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    });
    started.resolve();
    if (stopping.signal.aborted) await runner.stop();
    else await runner.promise;
  }

  async function keepRunning(): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      const startedAt = Date.now();
      const reason = await runOnce().then(() => 'run ended', errorSummary);
      started.resolve();
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > STEADY_MS) failures = 0;
      const delayMs = Math.min(RESTART_MS_MAX, 500 * 2 ** failures);
      log.warn({ reason, delayMs }, 'worker stopped, restart scheduled');
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function stop(): Promise<void> {
    stopping.abort();
    const ended = runner?.stop().catch(() => undefined); // Rejects if the run has already ended.
    const inTime = await settlesWithin(FINISH_MS, Promise.all([ended, running]));
    if (!inTime) await settlesWithin(KILL_MS, runner?.kill());
    await settlesWithin(CLOSE_MS, connections.end());
  }

  const running = keepRunning();
  await started.promise;
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop()) };
}

async function settlesWithin(ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const settled = new AbortController();
  const timer = sleep(ms, false, { signal: settled.signal }).catch(() => false);
  const inTime = await Promise.race([Promise.resolve(work).then(() => true), timer]);
  settled.abort();
  return inTime;
}
