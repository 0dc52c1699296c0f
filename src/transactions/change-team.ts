import type { RowsOf, Step } from '../db/query.ts';
import { ProblemError } from '../errors.ts';
import { lockAccountsShared, lockTeamStep } from './lock-steps.ts';
import { inSteps, type Change } from './steps.ts';
import type { TransactionScope } from './transaction.ts';
import {
  requireCaller,
  stateOfCallerStep,
  type Requirement,
  type TeamCaller,
  type TeamTransaction,
} from './with-team.ts';

type Reads<Steps> = {
  /** What else is locked and read, in the round trip of the lock of the team. */
  readonly reads: Steps;
  /** An account besides the caller’s that must not be deleted meanwhile. */
  readonly account?: string;
};

type TeamChange = { readonly change: Change; readonly caller: TeamTransaction['caller'] };

/**
 * Changes a team with the guarantees of `withTeam`, by named statements: locks the team, reads the caller and `reads`
 * under the lock in one round trip, and runs `work`, whose changes are sent with the commit.
 * @throws credential_invalid (401), team_not_found (404), permission_missing (403)
 */
export const changeTeam = <R, const Steps extends readonly Step[]>(
  db: TransactionScope,
  caller: TeamCaller,
  requires: Requirement,
  { reads, account }: Reads<Steps>,
  work: (team: TeamChange, rows: RowsOf<Steps>) => Promise<R> | R,
): Promise<R> => {
  const { teamId, accountId } = caller;
  return inSteps(
    db,
    async (change) => {
      const all = [...lockSteps(teamId, accountId, account), ...reads, stateOfCallerStep(caller)] as const;
      const [team, , ...rows] = await change.run(all);
      if (team.length === 0) throw new ProblemError('team_not_found');
      const [state] = rows.pop() as RowsOf<[ReturnType<typeof stateOfCallerStep>]>[0];
      const role = requireCaller(state, requires);
      return work({ change, caller: { teamId, accountId, ...role } }, rows as unknown as RowsOf<Steps>);
    },
    { teamId },
  );
};

/** Changes a team for the operator like `changeTeam`, without any permission. */
export const changeTeamAsOperator = <R, const Steps extends readonly Step[]>(
  db: TransactionScope,
  teamId: string,
  { reads, account }: Reads<Steps>,
  work: (change: Change, rows: RowsOf<Steps>) => Promise<R> | R,
): Promise<R> =>
  inSteps(
    db,
    async (change) => {
      const [team, , ...rows] = await change.run([...lockSteps(teamId, account), ...reads]);
      if (team.length === 0) throw new ProblemError('team_not_found');
      return work(change, rows as unknown as RowsOf<Steps>);
    },
    { teamId },
  );

const lockSteps = (teamId: string, account: string | null = null, other: string | null = null) =>
  [
    [lockTeamStep, [teamId]],
    [lockAccountsShared, [account, other]],
  ] as const;
