import type { Services } from '../../service/services.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { joined } from '../../transactions/steps.ts';

type Call = OperatorCaller & { readonly services: Services; readonly turn?: string | undefined };
type Within = Services & { readonly caller: OperatorCaller };

/** Runs services in one change of an operator. What they read is in it too. */
export const changeAs = <R>({ services, operator, turn }: Call, work: (within: Within) => Promise<R>): Promise<R> =>
  change(services.db, { operator }, { on: 'installation', requires: 'operator', turn }, (tx) =>
    work({ ...services, db: joined(services.db, tx), caller: { operator } }),
  );
