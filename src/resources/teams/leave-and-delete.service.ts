import { keepAccounts, lockMembership, lockTeam } from '../../transactions/locks.ts';
import { endMembership, revokeGrants } from '../../transactions/revocation.ts';
import { record } from '../../events/record.ts';
import type { ActiveMembership } from '../../auth/principal.ts';
import { Team } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { lockTeamAsOwner } from './ownership.service.ts';

/** Ends the caller's own membership, and their credentials for the team with it. */
export async function leaveTeam({ db }: Services, { team, accountId }: ActiveMembership): Promise<void> {
  await db.em().transactional(async (tx) => {
    await lockTeam(tx, team.id);
    const membership = await lockMembership(tx, team.id, accountId);
    if (membership === null) throw new ProblemError('team_not_found');
    if (membership.role.id === 'owner') throw new ProblemError('owner_cannot_leave');
    await endMembership(tx, membership);
    record(tx, 'member.left', { teamId: team.id });
  });
}

/** Deletes the team with everything in it: members, roles, invitations, keys, subscription. */
export async function deleteTeam({ db }: Services, caller: ActiveMembership): Promise<void> {
  await db.em().transactional(async (tx) => {
    await lockTeamAsOwner(tx, caller);
    const members = await tx.execute<{ id: string }[]>('select account_id as id from membership where team_id = ?', [
      caller.team.id,
    ]);
    await keepAccounts(
      tx,
      members.map(({ id }) => id),
    );
    // Grants before keys and each in the order of their ids, as everywhere, so that no two writers wait for each other.
    await revokeGrants(tx, { team_id: caller.team.id }, 'team deleted');
    await tx.execute('select id from api_key where team_id = ? order by id for update', [caller.team.id]);
    await tx.nativeDelete(Team, { id: caller.team.id });
    record(tx, 'team.deleted', { teamId: caller.team.id, number: members.length });
  });
}
