import type { Principal } from '../auth/principal.ts';
import { query, type RowsOf, type Step } from '../db/query.ts';
import { ProblemError } from '../errors.ts';
import { credentialValues, liveCaller } from './live-caller.ts';
import { lockAccountStep } from './lock-steps.ts';
import { inSteps, type Change } from './steps.ts';
import type { TransactionScope } from './transaction.ts';

const callerIsLive = query<{ is_live: boolean }>(
  'caller_is_live',
  `select ${liveCaller({ account: '$1', kind: '$2::text', credential: '$3', family: '$4::text' })} as is_live`,
);

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
    const live = [callerIsLive, [caller.accountId, ...credentialValues(caller)]] as const;
    const [[account], ...rows] = await change.run([[lockAccountStep, [caller.accountId]], ...reads, live]);
    const [state] = rows.pop() as { is_live: boolean }[]; // the last one
    if (account === undefined || state?.is_live !== true) throw new ProblemError('credential_invalid');
    return work(change, account, rows as unknown as RowsOf<Steps>);
  });
