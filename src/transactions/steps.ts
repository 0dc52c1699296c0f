import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import type { OpenSteps, OpenTransaction } from '../db/pipeline/open-transaction.ts';
import type { QueryRunner, Step } from '../db/query.ts';
import { createRecorder, type RecordEvents } from '../events/record.ts';
import { heldBy, inLockOrder, type Held } from './lock-order.ts';

/** Where changes are made: the database, or an open change that all others join. */
export type TransactionScope = Pick<Database, 'transact'>;

/** An open transaction, of named statements and entities. A change that is made with it becomes a part of it. */
export type Change = OpenSteps &
  QueryRunner &
  TransactionScope & {
    /** Changes entities. Created at its first use, and flushed before named statements and the commit. */
    readonly em: EntityManager;
    readonly record: RecordEvents;
    /** The locks of the transaction, for `LOCK_ORDER`. */
    readonly held: Held;
    /** Calls `act` after the commit, and never if the change is rolled back. */
    readonly onCommit: OpenTransaction['onCommit'];
  };

/** Returns what a change does with its transaction. */
export const toChange = (open: OpenTransaction): Change => ({
  ...inLockOrder(open),
  query: async (query, values) => (await open.run([[query, values]]))[0] as never, // as declared
  get em() {
    return open.em;
  },
  record: createRecorder(open),
  held: heldBy(open),
  onCommit: open.onCommit,
  // Only the whole of it can be retried, and none of it stays if a part is refused.
  async transact(work) {
    try {
      const result = await work(open);
      await open.flush();
      return result;
    } catch (error) {
      open.fail(error);
      throw error;
    }
  },
});

/** Returns a database of which every transaction, statement and read is part of an open change. */
export function joined(db: Database, tx: Change): Database {
  const run = async (...step: Step) => (await tx.run([step]))[0] as never; // as declared
  return {
    ...db,
    query: run,
    run,
    runTogether: (steps) => tx.run(steps) as Promise<object[][]>, // as declared
    transact: tx.transact,
    onCommit: tx.onCommit,
  };
}
