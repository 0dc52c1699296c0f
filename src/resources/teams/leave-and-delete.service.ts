import type { Database } from '../../db/database.ts';
import { Team } from '../../entities/index.ts';
import { withRests } from '../../db/turns/rest.ts';
import { ProblemError } from '../../problems/error.ts';
import { command, query, type Command } from '../../db/query.ts';
import { planByIndexes } from '../../jobs/steps.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import type { OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { endMembership, lockMembershipSteps } from '../members/end-membership.ts';
import { recordDeletedGrants } from '../../transactions/revocation.ts';
import { notifyOwner } from '../../jobs/notify.ts';
import { removeEndpoints } from '../../jobs/remove-endpoint.ts';

/** Deletes the caller's own membership and revokes their credentials for the team. */
export function leaveTeam(db: TransactionScope, caller: TeamCaller): Promise<void> {
  const { teamId, accountId } = caller;
  const reads = lockMembershipSteps(teamId, accountId);
  return change(db, caller, { on: { team: teamId }, requires: 'member', reads }, async (opened, found) => {
    if (opened.role.id === 'owner') throw new ProblemError('owner_cannot_leave');
    await endMembership(opened, teamId, accountId, found);
    opened.record('member.left', { teamId });
  });
}

/** Deletes the team with its members, roles, invitations, API keys and subscription. */
export const deleteTeam = (
  db: Database,
  caller: TeamCaller | OperatorCaller | 'system',
  teamId: string,
): Promise<void> =>
  inTurn(db, teamId, () =>
    change(db, caller, { on: { team: teamId }, requires: 'owner' }, async (opened) => {
      const { name: thing } = await opened.em.findOneOrFail(Team, teamId);
      await notifyOwner(opened, teamId, { kind: 'team_deleted', thing });
      await removeTeam(opened, teamId);
    }),
  );

/** Deletes one large team at a time, because each takes a connection for seconds, which changes of others would wait for. */
async function inTurn(db: Database, teamId: string, remove: () => Promise<void>): Promise<void> {
  if (!(await isLarge(db, teamId))) return remove();
  return db.writeQueue.runLong(remove);
}

const isLarge = async (db: Database, teamId: string): Promise<boolean> =>
  (await db.query(memberBeyond, [teamId])).length > 0;

const ROWS_MAX = 250;

const memberBeyond = query<object>(
  'membership_check_many',
  `select from membership where team_id = $1 offset ${ROWS_MAX} limit 1`,
);

type TableOfTeam = 'oauth_grant' | 'api_key' | 'membership' | 'invitation';

const lockOfTeam = (table: TableOfTeam) =>
  lockRows(table, `${table}_lock_of_deleted_team`, `select id from ${table} where team_id = $1`);
const [lockInvitations, lockMemberships, lockKeys] = [
  lockOfTeam('invitation'),
  lockOfTeam('membership'),
  lockOfTeam('api_key'),
];

const deleteSome = (table: TableOfTeam) =>
  command<object>(
    `${table}_delete_some_of_team`,
    `delete from ${table} where id = any(array(select id from ${table} where team_id = $1 limit ${ROWS_MAX})) returning 1 as gone`,
  );

/** In statements of bounded time, before the cascade, which takes one. */
const DELETIONS = [
  deleteSome('oauth_grant'),
  deleteSome('api_key'),
  deleteSome('membership'),
  deleteSome('invitation'),
];

const deleteTeamRow = command<never>('team_delete', 'delete from team where id = $1');

async function removeTeam(tx: Change, teamId: string): Promise<void> {
  await planByIndexes(tx);
  await tx.run([[lockInvitations, [teamId]]]);
  // Not their accounts, which would then wait for the deletion. Who deletes one locks its memberships too.
  const [members] = await tx.run([[lockMemberships, [teamId]]]);
  await recordDeletedGrants(tx, { team: teamId }, 'team deleted');
  // Also keys that were revoked before: their rows are deleted too.
  await tx.run([[lockKeys, [teamId]]]);
  for (const statement of DELETIONS) await deleteInSteps(tx.run, statement, teamId);
  await removeEndpoints(tx, { teamId });
  await tx.run([[deleteTeamRow, [teamId]]]);
  tx.record('team.deleted', { teamId, number: members.length });
}

/** Deletes the rows of a team in one transaction, and rests after each statement like `workInSteps`. */
const deleteInSteps = (run: Change['run'], statement: Command<object>, teamId: string): Promise<void> =>
  withRests(async (rest) => {
    for (let count = ROWS_MAX; count === ROWS_MAX;) {
      const [gone] = await run([[statement, [teamId]]]);
      count = gone.length;
      if (count === ROWS_MAX) await rest();
    }
  });
