import type { Principal } from '../auth/principal.ts';
import type { Database } from '../db/database.ts';
import type { Command } from '../db/query.ts';
import { ProblemError } from '../errors.ts';
import { credentialValues, liveCaller } from './live-caller.ts';
import { lockAccountStep } from './lock-steps.ts';
import { retryConflicts } from './transaction.ts';

/**
 * The SQL condition of a command that changes the caller's account: the caller is still authenticated. Its parameters
 * are `$1` to `$4`, of which the first is the account.
 */
export const CALLER_IS_LIVE = liveCaller({ account: '$1', kind: '$2::text', credential: '$3', family: '$4::text' });

/**
 * Runs a change of the caller's account that is a single command, with the guarantees of `withAccount` but in one round
 * trip. Its condition is `CALLER_IS_LIVE`, for whose parameters the runner prepends the values.
 * @throws credential_invalid (401)
 */
export const accountCommandRunner = (db: Database, caller: Principal): Pick<Database, 'run' | 'orm'> => ({
  orm: db.orm,
  async run<Row>(change: Command<Row>, values: readonly unknown[]): Promise<Row[]> {
    const [, changed = []] = await retryConflicts(() =>
      db.runTogether([
        [lockAccountStep, [caller.accountId]],
        [change, [caller.accountId, ...credentialValues(caller), ...values]],
      ]),
    );
    if (changed.length === 0) throw new ProblemError('credential_invalid');
    return changed as Row[]; // as the command declares
  },
});
