import { parseCronItems, type JobHelpers, type ParsedCronItem, type Task, type TaskList } from 'graphile-worker';
import type { Services } from '../app-services.ts';
import { BATCH_MAX, CLEANUPS, type Cleanup, type CleanupRow } from './cleanup.ts';
import { transaction } from '../transactions/transaction.ts';
import { PRIORITY } from './enqueue.ts';

/** The maximum number of batches per job, so that emails do not wait for a large cleanup. */
const BATCHES_MAX = 10;

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
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    if (helpers.abortSignal?.aborted === true) return;
    if ((await runBatch(services, cleanup)) < BATCH_MAX) return;
  }
  await helpers.addJob(name, {}, { jobKey: name, maxAttempts: 1, priority: PRIORITY.cleanup });
}

/** Runs one batch, and records the events of its rows in the same transaction. */
const runBatch = ({ config, db }: Services, { batch, recordEvent }: Cleanup): Promise<number> =>
  transaction(db, async (tx) => {
    const rows = await tx.execute<CleanupRow[]>(batch(config));
    if (recordEvent !== undefined) for (const row of rows) recordEvent(tx, row);
    return rows.length;
  });
