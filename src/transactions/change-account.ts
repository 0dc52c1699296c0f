import type { Principal } from '../auth/principal.ts';
import type { RowsOf, Step } from '../db/query.ts';
import { ProblemError } from '../errors.ts';
import { callerIsLiveStep } from './live-caller.ts';
import { lockAccountStep } from './lock-steps.ts';
import { inSteps, type Change } from './steps.ts';
import type { TransactionScope } from './transaction.ts';

type LockedAccount = RowsOf<[readonly [typeof lockAccountStep, []]]>[0][number];

/**
 * Changes the caller's account with the guarantees of `withAccount`, by named statements: locks the account, reads the
 * caller and `reads` under the lock in one round trip, and runs `work`, whose changes are sent with the commit.
 * @throws credential_invalid (401)
 */
export const changeAccount = <R, const Steps extends readonly Step[]>(
  db: TransactionScope,
  caller: Principal,
  reads: Steps,
  work: (change: Change, account: LockedAccount, rows: RowsOf<Steps>) => Promise<R> | R,
): Promise<R> =>
  inSteps(db, async (change) => {
    const [[account], ...rows] = await change.run([
      [lockAccountStep, [caller.accountId]],
      ...reads,
      callerIsLiveStep(caller),
    ]);
    const [state] = rows.pop() as { is_live: boolean }[]; // the last one
    if (account === undefined || state?.is_live !== true) throw new ProblemError('credential_invalid');
    return work(change, account, rows as unknown as RowsOf<Steps>);
  });
