import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import { isTransactionConflict } from '../db/database.ts';

/** What opens a transaction: the database or, through `within`, a transaction that is open already. */
export type TransactionScope = Pick<Database, 'em'>;

const RETRIES_MAX = 3;

/**
 * Runs `work` in a transaction. If PostgreSQL chose it as the victim of a deadlock or of a serialization
 * conflict, it runs again, up to three times, in a new transaction with a new unit of work. So `work` must not
 * change anything outside of its transaction; events that it records belong to the attempt that commits.
 */
export const transaction = <R>(db: TransactionScope, work: (tx: EntityManager) => Promise<R>): Promise<R> =>
  retryConflicts(() => db.em().transactional(work));

/** Runs a transaction again if PostgreSQL aborted it for the sake of others. */
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
