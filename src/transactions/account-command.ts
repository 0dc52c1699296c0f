import type { Principal } from '../auth/principal.ts';
import type { Database } from '../db/database.ts';
import type { Command } from '../db/query.ts';
import { ProblemError } from '../errors.ts';
import { credentialValues, perCredential } from './live-caller.ts';
import { lockAccountStep } from './lock-steps.ts';
import { retryConflicts } from './transaction.ts';

/**
 * Declares a command that changes the caller's account, with the SQL condition that the caller is still authenticated.
 * Its parameters are `$1` to `$3`, of which the first is the account.
 */
export const accountCommand = <Declared>(declare: (isLive: string, suffix: string) => Declared) =>
  perCredential({ account: '$1', credential: '$2', family: '$3' }, declare);

/**
 * Runs a change of the caller's account that is a single command, with the guarantees of `withAccount` but in one round
 * trip. The command is declared by `accountCommand`, for whose parameters the runner prepends the values.
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
