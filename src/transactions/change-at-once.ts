import type { Database } from '../db/database.ts';
import { activeMembership } from '../db/predicates.ts';
import type { Command } from '../db/query.ts';
import type { Permission } from '../entities/index.ts';
import type { EventName } from '../events/catalogue.ts';
import { recordedCommand, runAndRecord } from '../events/record.ts';
import { ProblemError } from '../problems/error.ts';
import { requireRole, stateOfCallerStep, type TeamCaller } from './caller.ts';
import { credentialValues, perCredential } from './live-caller.ts';
import { lockTeamStep } from './lock-steps.ts';

const CALLER_HOLDS = `exists (select from membership m join role r on r.id = m.role_id
     where m.team_id = $1 and m.account_id = $2 and ${activeMembership('m')} and $3 = any(r.permissions))`;

/**
 * Declares a change of a team by one statement, which clients send so often that a second round trip counts. The
 * guarantees are those of `change`: the lock and the statement are sent together, and the statement has its own snapshot,
 * so it sees what was committed while the lock waited. The event is recorded if it changed a row. The state of the caller
 * is read only to choose the error.
 * @param declare gets the condition that the caller may make the change. `$1` is the team; its own parameters begin with
 *   `$6`
 * @returns the change; it throws credential_invalid (401), team_not_found (404), permission_missing (403)
 */
export function changeAtOnce(
  name: string,
  requires: Permission,
  event: EventName,
  declare: (callerMay: string) => string,
): (db: Database, caller: TeamCaller, values: readonly unknown[]) => Promise<void> {
  const statements = perCredential({ account: '$2', credential: '$4', family: '$5' }, (isLive, suffix) =>
    recordedCommand<object>(`${name}_${suffix}`, declare(`${CALLER_HOLDS} and ${isLive}`), event),
  );
  return async (db, caller, values) => {
    const { teamId, accountId, credential } = caller;
    const lockTeam = [lockTeamStep, [teamId]] as const;
    const afterLock = {
      ...db,
      async run<Row>(command: Command<Row>, given: readonly unknown[]) {
        const [, changed = []] = await db.runTogether([lockTeam, [command, given]], teamId);
        return changed as Row[]; // as the command declares
      },
    };
    const given = [teamId, accountId, requires, ...credentialValues(credential), ...values];
    if ((await runAndRecord(afterLock, statements(credential), given, { teamId })).length > 0) return;
    const [state] = await db.query(...stateOfCallerStep(caller));
    requireRole(state, requires);
    throw new ProblemError('team_not_found');
  };
}
