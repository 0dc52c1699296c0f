import { requirePermission } from '../auth/permissions.ts';
import type { Database } from '../db/database.ts';
import { query, type Command } from '../db/query.ts';
import { activeMembership } from '../db/predicates.ts';
import type { Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { lockTeamStep } from './locks.ts';
import { retryConflicts } from './transaction.ts';
import type { TeamCaller } from './with-team.ts';

const permissionsOfCaller = query<{ permissions: Permission[] }>(
  'permissions_of_caller',
  `select r.permissions from membership m join role r on r.id = m.role_id
   where m.team_id = $1 and m.account_id = $2 and ${activeMembership('m')}`,
);

/** Returns the SQL condition of a team command: the caller is an active member whose role has the permission. */
export const callerHolds = (team: string, account: string, permission: string): string =>
  `exists (select from membership m join role r on r.id = m.role_id
     where m.team_id = ${team} and m.account_id = ${account} and ${activeMembership('m')}
       and ${permission} = any(r.permissions))`;

/**
 * Runs a team change that is a single command, with the guarantees of `withTeam` but in one round trip: the lock and
 * the command are sent together. The command has its own snapshot, so it sees changes that were committed while the
 * lock waited. It must contain `callerHolds` as a condition. The runner itself reads the
 * permission only to choose the error.
 */
export const teamCommandRunner = (
  db: Database,
  { teamId, accountId }: TeamCaller,
  requires: Permission,
): Pick<Database, 'run' | 'orm'> => ({
  orm: db.orm,
  async run<Row>(change: Command<Row>, values: readonly unknown[]): Promise<Row[]> {
    const [, changed = []] = await retryConflicts(() =>
      db.runTogether(
        [
          [lockTeamStep, [teamId]],
          [change, values],
        ],
        teamId,
      ),
    );
    if (changed.length > 0) return changed as Row[]; // as the command declares
    const [caller] = await db.query(permissionsOfCaller, [teamId, accountId]);
    if (caller !== undefined) requirePermission(caller.permissions, requires);
    throw new ProblemError('team_not_found');
  },
});
