import type { JobHelpers } from 'graphile-worker';
import { withRests } from '../db/turns/rest.ts';
import { query } from '../db/query.ts';
import { change } from '../transactions/change.ts';
import type { Change, TransactionScope } from '../transactions/steps.ts';

/** The maximum number of rows per statement: more would delay requests that need the same rows, or the process. */
export const STEP_ROWS = 250;

/** Maximum number of steps of one job, so that emails do not wait for it. */
export const STEPS_MAX = 10;

const avoidScans = query<object>('database_check_indexes', `select set_config('enable_seqscan', 'off', true)`);

/**
 * Lets the rest of a transaction find rows by indexes. For statements that take some of very many rows: PostgreSQL expects
 * to meet the first ones at once if it reads the table from its beginning. There are the rows of others, and those that the
 * steps before have deleted.
 */
export async function planByIndexes(tx: Change): Promise<void> {
  tx.later([avoidScans, []]);
}

/**
 * Does long work in steps, each a transaction of its own, until nothing is left. Rests after each step.
 * @param step is told whether it is the last of the job, and returns whether nothing is left
 * @returns whether nothing is left; otherwise the work needs another job
 */
export function workInSteps(
  { abortSignal }: Partial<Pick<JobHelpers, 'abortSignal'>>,
  db: TransactionScope,
  step: (tx: Change, isLast: boolean) => Promise<boolean>,
): Promise<boolean> {
  return withRests(async (rest) => {
    for (let steps = 1; ; steps += 1) {
      const isLast = steps === STEPS_MAX || abortSignal?.aborted === true;
      const isDone = await change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
        await planByIndexes(tx);
        return step(tx, isLast);
      });
      if (isDone) return true;
      if (isLast) return false;
      await rest();
    }
  });
}
