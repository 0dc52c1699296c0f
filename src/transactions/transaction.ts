import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import { isTransactionConflict } from '../db/database.ts';

/** Opens transactions: the database or, through `within`, an open transaction, which has its connection already. */
export type TransactionScope = Pick<Database, 'em'> &
  Partial<Pick<Database, 'writeQueue' | 'runSteps' | 'orm'>> & {
    /** An open transaction that all others join (`joined`): they commit and fail with it. */
    readonly open?: EntityManager;
  };

type Options = {
  /** The team whose lock the transaction waits for. Only for callers who are its members: others could fill its queue. */
  readonly teamId?: string | undefined;
};

const RETRIES_MAX = 3;

/**
 * Runs `work` in a transaction. If PostgreSQL aborts it because of a deadlock or a serialization failure, it runs
 * again, up to three times, in a new transaction with a new unit of work. So `work` must not change anything outside
 * of its transaction. Only the events of the committed attempt are recorded. It gets a connection in the turn of its
 * caller and team.
 */
export function transaction<R>(
  db: TransactionScope,
  work: (tx: EntityManager) => Promise<R>,
  { teamId }: Options = {},
): Promise<R> {
  if (db.open !== undefined) return join(db.open, work);
  const attempt = () => retryConflicts(() => db.em().transactional(work));
  return db.writeQueue === undefined ? attempt() : db.writeQueue.run(attempt, teamId);
}

/** Runs work in an open transaction, which retries all of it after a conflict. */
async function join<R>(open: EntityManager, work: (tx: EntityManager) => Promise<R>): Promise<R> {
  const result = await work(open);
  await open.flush();
  return result;
}

/** Retries a transaction that PostgreSQL aborted because of a conflict, up to three times. */
export async function retryConflicts<R>(attempt: () => Promise<R>): Promise<R> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (retries === RETRIES_MAX || !isTransactionConflict(error)) throw error;
    }
  }
}

/** Lets a service that opens a transaction run inside of `tx` instead, as a savepoint. */
export const within = (tx: EntityManager): TransactionScope => ({ em: () => tx });
