import type { Services } from '../../app-services.ts';
import type { Operator } from '../../auth/principal.ts';
import { joined } from '../../transactions/joined.ts';
import { withOperator } from '../../transactions/with-operator.ts';

type Call = { readonly services: Services; readonly operator: Operator };

/** Runs services in one transaction that `withOperator` guards. What they read is in it too. */
export const changeAs = <R>({ services, operator }: Call, change: (within: Services) => Promise<R>): Promise<R> =>
  withOperator(services.db, operator, (tx) => change({ ...services, db: joined(services.db, tx) }));
