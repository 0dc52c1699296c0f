import type { EntityManager } from '@mikro-orm/postgresql';

/** Calls `act` after the transaction has committed, and never if it is rolled back. */
export function afterCommit(tx: EntityManager, act: () => void): void {
  // Each transaction has its own event manager.
  tx.getEventManager().registerSubscriber({ afterTransactionCommit: act });
}
