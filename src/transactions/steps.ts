import type { EntityManager } from '@mikro-orm/postgresql';
import { afterCommit } from '../db/after-commit.ts';
import { toParameter, type OpenSteps, type RowsOf, type Step } from '../db/query.ts';
import type { EventName } from '../events/catalogue.ts';
import type { EventFields } from '../events/event.ts';
import { createReport, eventSteps } from '../events/record.ts';
import { inLockOrder } from './lock-steps.ts';
import { retryConflicts, type TransactionScope } from './transaction.ts';

/** An open transaction of named statements. */
export type Change = OpenSteps & {
  /** Records an event for each of the given fields, with the next statements. It is logged after the commit. */
  record(event: EventName, ...changes: readonly EventFields[]): void;
};

type Options = {
  /** The team whose lock the transaction waits for. Only for callers who are its members. */
  readonly teamId?: string | undefined;
};

/**
 * Runs `work` in a transaction like `transaction`, without the ORM and in few round trips: what it reads and locks first,
 * and what it changes after that.
 */
export function inSteps<R>(
  db: TransactionScope,
  work: (change: Change) => Promise<R>,
  { teamId }: Options = {},
): Promise<R> {
  const { open, runSteps, orm } = db;
  if (open !== undefined || runSteps === undefined || orm === undefined) return joinSteps(open ?? db.em(), work);
  return retryConflicts(async () => {
    const reports: (() => void)[] = [];
    const result = await runSteps((steps) => {
      // It can begin anew after it has waited for a lock.
      reports.length = 0;
      return work(recording(orm.em, inLockOrder(steps), (report) => reports.push(report)));
    }, teamId);
    for (const report of reports) report();
    return result;
  });
}

/** Runs `work` in an open transaction of the ORM. */
export async function joinSteps<R>(tx: EntityManager, work: (change: Change) => Promise<R>): Promise<R> {
  const waiting: Step[] = [];
  const run = async (steps: readonly Step[]) => {
    const results: unknown[][] = [];
    for (const step of [...waiting.splice(0), ...steps]) results.push(await runStep(tx, step));
    return results.slice(results.length - steps.length);
  };
  const steps: OpenSteps = {
    run: async <Steps extends readonly Step[]>(given: Steps) => (await run(given)) as RowsOf<Steps>, // as declared
    later: (step) => waiting.push(step),
  };
  const result = await work(recording(tx, steps, (report) => afterCommit(tx, report)));
  await run([]);
  return result;
}

/** Runs a statement with the placeholders of MikroORM. */
export function runStep<Row>(tx: EntityManager, [{ text }, values]: Step<Row>): Promise<Row[]> {
  const used: unknown[] = [];
  const sql = text.replaceAll('?', '\\?').replaceAll(/\$(\d+)/g, (_, number: string) => {
    used.push(toParameter(values[Number(number) - 1]));
    return '?';
  });
  return tx.execute<Row[]>(used.length === 0 ? text : sql, used);
}

const recording = (em: EntityManager, { run, later }: OpenSteps, onCommit: (report: () => void) => void): Change => ({
  run,
  later,
  record(event, ...changes) {
    if (changes.length === 0) return;
    for (const step of eventSteps(em, event, changes)) later(step);
    onCommit(createReport(em, event, changes));
  },
});
