import type { Principal } from '../auth/principal.ts';
import type { Database } from '../db/database.ts';
import { activeMembership } from '../db/predicates.ts';
import type { Command, Step } from '../db/query.ts';
import type { Permission } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import type { EventName } from '../events/catalogue.ts';
import type { EventFields } from '../events/event.ts';
import { recordedCommand, runAndRecord, type RecordedCommand } from '../events/record.ts';
import { requireRole, stateOfCallerStep, type TeamCaller } from './caller.ts';
import { credentialValues, perCredential } from './live-caller.ts';
import { lockAccountStep, lockTeamStep } from './lock-steps.ts';

/** A change of one statement, for callers of a kind. */
type AtOnce<Caller, Row> = {
  readonly lock: (caller: Caller) => Step;
  readonly statement: (caller: Caller) => RecordedCommand<Row>;
  /** The first parameters, by which the statement reads the caller. */
  readonly given: (caller: Caller) => readonly unknown[];
  /** The team, in whose turn it waits. */
  readonly teamId: (caller: Caller) => string | undefined;
  /** Throws why nothing was changed. */
  readonly refuse: (db: Database, caller: Caller) => Promise<never> | never;
};

type Declare = (holds: string) => string;

const CALLER_HOLDS = `exists (select from membership m join role r on r.id = m.role_id
     where m.team_id = $1 and m.account_id = $2 and ${activeMembership('m')} and $3 = any(r.permissions))`;

/**
 * Declares the change of a team. Its parameters begin with `$6`; `$1` is the team.
 * @param declare gets the condition that the caller may make it
 */
export function teamAtOnce<Row>(
  name: string,
  requires: Permission,
  event: EventName,
  declare: Declare,
): AtOnce<TeamCaller, Row> {
  const statements = perCredential({ account: '$2', credential: '$4', family: '$5' }, (isLive, suffix) =>
    recordedCommand<Row>(`${name}_${suffix}`, declare(`${CALLER_HOLDS} and ${isLive}`), event),
  );
  return {
    lock: ({ teamId }) => [lockTeamStep, [teamId]],
    statement: ({ credential }) => statements(credential),
    given: ({ teamId, accountId, credential }) => [teamId, accountId, requires, ...credentialValues(credential)],
    teamId: ({ teamId }) => teamId,
    async refuse(db, caller) {
      const [state] = await db.query(...stateOfCallerStep(caller));
      requireRole(state, requires);
      throw new ProblemError('team_not_found');
    },
  };
}

/** Declares the change of the caller's account like `teamAtOnce`. Its parameters begin with `$4`; `$1` is the account. */
export function accountAtOnce<Row>(name: string, event: EventName, declare: Declare): AtOnce<Principal, Row> {
  const statements = perCredential({ account: '$1', credential: '$2', family: '$3' }, (isLive, suffix) =>
    recordedCommand<Row>(`${name}_${suffix}`, declare(isLive), event),
  );
  return {
    lock: ({ accountId }) => [lockAccountStep, [accountId]],
    statement: (caller) => statements(caller),
    given: (caller) => [caller.accountId, ...credentialValues(caller)],
    teamId: () => undefined,
    refuse() {
      throw new ProblemError('credential_invalid');
    },
  };
}

type Values = { readonly values: readonly unknown[]; readonly fields: EventFields };

/**
 * Changes a team or account by a single statement, with the guarantees of `change` but in one round trip: the lock and the
 * statement are sent together. The statement has its own snapshot, so it sees what was committed while the lock waited. The
 * event is recorded if it changed a row. The state of the caller is read only to choose the error.
 * @throws credential_invalid (401), team_not_found (404), permission_missing (403)
 */
export async function changeAtOnce<Caller, Row extends object>(
  db: Database,
  caller: Caller,
  { lock, statement, given, teamId, refuse }: AtOnce<Caller, Row>,
  { values, fields }: Values,
): Promise<Row[]> {
  const afterLock = {
    orm: db.orm,
    async run<R>(command: Command<R>, sent: readonly unknown[]) {
      const [, changed = []] = await db.runTogether([lock(caller), [command, sent]], teamId(caller));
      return changed as R[]; // as the command declares
    },
  };
  const rows = await runAndRecord(afterLock, statement(caller), [...given(caller), ...values], fields);
  return rows.length > 0 ? rows : refuse(db, caller);
}
