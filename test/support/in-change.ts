import { change } from '../../src/transactions/change.ts';
import type { Change, TransactionScope } from '../../src/transactions/steps.ts';

/** Runs work in a change of the service itself. */
export const inChange = <R>(db: TransactionScope, work: (tx: Change) => Promise<R> | R): Promise<R> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, work);
