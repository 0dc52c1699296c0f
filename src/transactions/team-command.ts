import type { Database } from '../db/database.ts';
import type { Command } from '../db/query.ts';
import { activeMembership } from '../db/predicates.ts';
import type { Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { credentialValues, perCredential } from './live-caller.ts';
import { lockTeamStep } from './lock-steps.ts';
import { retryConflicts } from './transaction.ts';
import { requireCaller, stateOfCallerStep, type TeamCaller } from './with-team.ts';

const CALLER_HOLDS = `exists (select from membership m join role r on r.id = m.role_id
     where m.team_id = $1 and m.account_id = $2 and ${activeMembership('m')} and $3 = any(r.permissions))`;

/**
 * Declares a team command with its SQL condition: the caller is still authenticated and an active member whose role has
 * the permission. Its parameters are `$1` to `$5`, of which the first is the team.
 */
export const teamCommand = <Declared>(declare: (holds: string, suffix: string) => Declared) =>
  perCredential({ account: '$2', credential: '$4', family: '$5' }, (isLive, suffix) =>
    declare(`${CALLER_HOLDS} and ${isLive}`, suffix),
  );

/**
 * Runs a team change that is a single command, with the guarantees of `withTeam` but in one round trip: the lock and
 * the command are sent together. The command has its own snapshot, so it sees changes that were committed while the
 * lock waited. It is declared by `teamCommand`, for whose parameters the runner prepends the values. The runner itself
 * reads the state of the caller only to choose the error.
 */
export const teamCommandRunner = (
  db: Database,
  { teamId, accountId, credential }: TeamCaller,
  requires: Permission,
): Pick<Database, 'run' | 'orm'> => ({
  orm: db.orm,
  async run<Row>(change: Command<Row>, values: readonly unknown[]): Promise<Row[]> {
    const [, changed = []] = await retryConflicts(() =>
      db.runTogether(
        [
          [lockTeamStep, [teamId]],
          [change, [teamId, accountId, requires, ...credentialValues(credential), ...values]],
        ],
        teamId,
      ),
    );
    if (changed.length > 0) return changed as Row[]; // as the command declares
    const [state] = await db.query(...stateOfCallerStep({ teamId, accountId, credential }));
    requireCaller(state, requires);
    throw new ProblemError('team_not_found');
  },
});
