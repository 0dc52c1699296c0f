import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import { Team } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { lockRows, lockShared } from '../../transactions/locks.ts';
import { changeTeam } from '../../transactions/change-team.ts';
import { endMembership, lockMembershipSteps } from '../../transactions/end-membership.ts';
import { recordDeletedGrants } from '../../transactions/revocation.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { withTeam, withTeamAsOperator, type TeamCaller } from '../../transactions/with-team.ts';
import { notify } from '../../jobs/notify.ts';
import { removeEndpoints } from '../../jobs/remove-endpoint.ts';

/** Deletes the caller's own membership and revokes their credentials for the team. */
export function leaveTeam({ db }: Services, caller: TeamCaller): Promise<void> {
  const { teamId, accountId } = caller;
  const reads = lockMembershipSteps(teamId, accountId);
  return changeTeam(db, caller, 'member', { reads }, async ({ change, caller: { roleId } }, found) => {
    if (roleId === 'owner') throw new ProblemError('owner_cannot_leave');
    await endMembership(change, teamId, accountId, found);
    change.record('member.left', { teamId });
  });
}

/** Deletes the team with its members, roles, invitations, API keys and subscription. */
export const deleteTeam = ({ db }: Services, caller: TeamCaller): Promise<void> =>
  withTeam(db, caller, 'owner', async ({ tx, team, caller: { accountId } }) => {
    await notify(tx, accountId, { kind: 'team_deleted', teamName: team.name });
    await removeTeam(tx, team.id);
  });

/** Deletes a team for the operator. */
export const deleteTeamAsOperator = (db: TransactionScope, teamId: string): Promise<void> =>
  withTeamAsOperator(db, teamId, ({ tx, team }) => removeTeam(tx, team.id));

async function removeTeam(tx: EntityManager, teamId: string): Promise<void> {
  const members = await tx.execute<{ id: string }[]>('select account_id as id from membership where team_id = ?', [
    teamId,
  ]);
  await lockShared(
    tx,
    'account',
    members.map(({ id }) => id),
  );
  await recordDeletedGrants(tx, { team: teamId }, 'team deleted');
  // Also keys that were revoked before: their rows are deleted too.
  await lockRows(tx, 'api_key', 'select id from api_key where team_id = ?', [teamId]);
  // In statements of bounded time, before the cascade, which takes one.
  for (const table of ['oauth_grant', 'api_key', 'membership']) await deleteInSteps(tx, table, teamId);
  await removeEndpoints(tx, { teamId });
  await tx.nativeDelete(Team, { id: teamId });
  record(tx, 'team.deleted', { teamId, number: members.length });
}

const ROWS_MAX = 1000;

async function deleteInSteps(tx: EntityManager, table: string, teamId: string): Promise<void> {
  const remove = `with gone as (
      delete from ${table} where id = any(array(select id from ${table} where team_id = ? limit ${ROWS_MAX})) returning 1
    )
    select count(*)::int as count from gone`;
  for (let count = ROWS_MAX; count === ROWS_MAX;) {
    const [row] = await tx.execute<{ count: number }[]>(remove, [teamId]);
    count = row?.count ?? 0;
  }
}
