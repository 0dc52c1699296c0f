import type { Change } from '../transactions/steps.ts';
import { parseCronItems, type JobHelpers, type ParsedCronItem, type Task, type TaskList } from 'graphile-worker';
import type { Services } from '../service/services.ts';
import type { Config } from '../config/config.ts';
import type { Cleanup, CleanupRow } from './cleanup-kinds.ts';
import { CLEANUPS } from './cleanup.ts';
import { PRIORITY } from './enqueue.ts';
import { STEP_ROWS, workInSteps } from './steps.ts';

/** Creates a task for each cleanup, so that one that fails or takes long does not affect the others. */
export const createCleanupTasks = (services: Services): TaskList =>
  Object.fromEntries(
    Object.entries<Cleanup>(CLEANUPS).map(([name, cleanup]): [string, Task] => [
      name,
      (_payload, helpers) => runCleanup(services, name, cleanup, helpers),
    ]),
  );

/** Scheduled jobs are not retried, because the next run does the same work. */
export const scheduledJob = (task: string, match: string): ParsedCronItem[] =>
  parseCronItems([
    { task, match, options: { backfillPeriod: 0, maxAttempts: 1, jobKey: task, priority: PRIORITY.cleanup } },
  ]);

export const cleanupSchedule = (): ParsedCronItem[] =>
  Object.entries<Cleanup>(CLEANUPS).flatMap(([name, { schedule }]) => scheduledJob(name, schedule));

async function runCleanup(services: Services, name: string, cleanup: Cleanup, helpers: JobHelpers): Promise<void> {
  const { config, db } = services;
  const isDone = await workInSteps(helpers, db, async (tx) => (await runBatch(tx, config, cleanup)) < STEP_ROWS);
  if (!isDone) await helpers.addJob(name, {}, { jobKey: name, maxAttempts: 1, priority: PRIORITY.cleanup });
}

/** Ends the sign-ups from before SIGNUP was closed. Those of replicas that still have another setting follow by the job. */
export async function endClosedSignUps(services: Services): Promise<void> {
  if (services.config.signup !== 'closed') return;
  const { config, db } = services;
  const step = (tx: Change) => runBatch(tx, config, CLEANUPS.cleanup_sign_ups);
  while (!(await workInSteps({}, db, async (tx) => (await step(tx)) < STEP_ROWS)));
}

/** Runs one batch, and records the events of its rows. @returns the number of rows */
async function runBatch(tx: Change, config: Config, { batch, recorded }: Cleanup): Promise<number> {
  const rows = await tx.em.execute<CleanupRow[]>(batch(config));
  if (recorded !== undefined) await tx.record(recorded.event, rows.flatMap(recorded.fieldsOf));
  return rows.length;
}
