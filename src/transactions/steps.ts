import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import { transactionOf, type OpenSteps, type OpenTransaction } from '../db/pipeline/open-transaction.ts';
import type { Step } from '../db/query.ts';
import type { EventName } from '../events/catalogue.ts';
import type { EventFields } from '../events/event.ts';
import { recordIn } from '../events/record.ts';
import { inLockOrder } from './lock-order.ts';

/** Where changes are made: the database, or an open change that all others join. */
export type TransactionScope = Pick<Database, 'transact'>;

/** An open transaction, of named statements and entities. A change that is made with it becomes a part of it. */
export type Change = OpenSteps &
  TransactionScope & {
    /** Changes entities. Created at its first use, and flushed before named statements and the commit. */
    readonly em: EntityManager;
    /** Records an event for each of the given fields, with the next statements. It is logged after the commit. */
    readonly record: (event: EventName, ...changes: readonly EventFields[]) => void;
  };

/** Returns the named statements of the open transaction of an entity manager. */
export const stepsOf = (tx: EntityManager): Change => toChange(transactionOf(tx));

/** Runs a statement in the open transaction of an entity manager. */
export const runStep = async <Row>(tx: EntityManager, step: Step<Row>): Promise<Row[]> =>
  (await stepsOf(tx).run([step]))[0] as Row[]; // as declared

/** Returns what a change does with its transaction. */
export const toChange = (open: OpenTransaction): Change => ({
  ...inLockOrder(open),
  get em() {
    return open.em;
  },
  record: (event, ...changes) => recordIn(open, event, changes),
  transact: (work) => join(open, work),
});

/** Runs work in an open transaction. Only the whole of it can be retried. */
export async function join<R>(open: OpenTransaction, work: (open: OpenTransaction) => Promise<R>): Promise<R> {
  const result = await work(open);
  await open.flush();
  return result;
}

/** Returns a database of which every transaction, statement and read is part of an open transaction. */
export function joined(db: Database, tx: EntityManager): Database {
  const open = transactionOf(tx);
  const run = async (...step: Step) => (await open.run([step]))[0] as never; // as declared
  return {
    ...db,
    em: () => tx,
    query: run,
    run,
    runTogether: (steps) => open.run(steps) as Promise<object[][]>, // as declared
    transact: (work) => join(open, work),
  };
}
