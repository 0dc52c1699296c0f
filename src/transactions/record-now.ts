import type { EventName } from '../events/catalogue.ts';
import type { EventFields } from '../events/event.ts';
import { change } from './change.ts';
import type { TransactionScope } from './steps.ts';

/** Records an event of what changes nothing else, such as an operator’s look-up. */
export const recordNow = (db: TransactionScope, event: EventName, fields: EventFields = {}): Promise<void> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, ({ record }) => record(event, fields));
