import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import { joinSteps, runStep } from './steps.ts';
import type { TransactionScope } from './transaction.ts';

/** Returns a database of which every transaction, statement and read is part of an open transaction. */
export const joined = (db: Database, tx: EntityManager): Database & TransactionScope => ({
  ...db,
  open: tx,
  em: () => tx,
  query: async (statement, values) => (await runStep(tx, [statement, values])) as never, // as declared
  run: async (statement, values) => (await runStep(tx, [statement, values])) as never,
  async runTogether(steps) {
    const results: object[][] = [];
    for (const step of steps) results.push((await runStep(tx, step)) as object[]);
    return results;
  },
  runSteps: (work) => joinSteps(tx, work),
});
