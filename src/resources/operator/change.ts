import type { Services } from '../../app-services.ts';
import type { OperatorPrincipal } from '../../auth/principal.ts';
import { joined } from '../../transactions/joined.ts';
import { withOperator } from '../../transactions/with-operator.ts';

type Operator = { readonly services: Services; readonly operator: OperatorPrincipal };

/** Runs services in one transaction in which the operator key cannot be revoked. What they read is in it too. */
export const changeAs = <R>({ services, operator }: Operator, change: (within: Services) => Promise<R>): Promise<R> =>
  withOperator(services.db, operator, (tx) => change({ ...services, db: joined(services.db, tx) }));
