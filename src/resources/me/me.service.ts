import type { Principal } from '../../auth/principal.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { command } from '../../db/query.ts';
import { change } from '../../transactions/change.ts';
import type { TransactionScope } from '../../transactions/steps.ts';
import { accountStep, presentAccount } from './me.queries.ts';

const updateNames = command<never>(
  'account_update_names',
  'update account set first_name = $2, last_name = $3, updated_at = $4::timestamptz where id = $1',
);

type Names = { readonly firstName: string; readonly lastName: string };

export const updateMe = (db: TransactionScope, caller: Principal, { firstName, lastName }: Names) => {
  const { accountId } = caller;
  const reads = [accountStep(accountId), nowStep] as const;
  return change(db, caller, { on: { account: accountId }, requires: 'self', reads }, (tx, [[row], time]) => {
    if (row === undefined) return presentAccount([]);
    if (row.first_name === firstName && row.last_name === lastName) return presentAccount([row]);
    // To the millisecond, as it is shown: PostgreSQL would round it.
    const updatedAt = toNow(time).toISOString();
    tx.later([updateNames, [accountId, firstName, lastName, updatedAt]]);
    tx.record('account.profile_changed', { accountId });
    return presentAccount([{ ...row, first_name: firstName, last_name: lastName, updated_at: updatedAt }]);
  });
};
