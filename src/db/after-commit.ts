import type { EntityManager } from '@mikro-orm/postgresql';

/** Does something once the transaction has been committed, and nothing where it is rolled back. */
export function afterCommit(tx: EntityManager, act: () => void): void {
  // Each transaction has an event manager of its own.
  tx.getEventManager().registerSubscriber({ afterTransactionCommit: act });
}
