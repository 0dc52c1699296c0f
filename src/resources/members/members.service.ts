import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { lockOne } from '../../transactions/locks.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { requireEnabled } from '../../transactions/with-account.ts';
import { lockMember, withTeamAsOperator, type TeamCaller } from '../../transactions/with-team.ts';
import { changeTeam, changeTeamAsOperator } from '../../transactions/change-team.ts';
import { endMembership, lockMembershipSteps, type LockedMembership } from '../../transactions/end-membership.ts';
import type { Change } from '../../transactions/steps.ts';
import { Membership, type Role } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { findTeamRole } from '../roles/find-team-role.ts';
import type { Services } from '../../app-services.ts';

/** Deletes a membership and revokes the member's credentials for the team in the same transaction. */
export const removeTeamMember = ({ db }: Services, caller: TeamCaller, userId: string): Promise<void> =>
  changeTeam(db, caller, 'remove_members', toRemove(caller.teamId, userId), ({ change }, found) =>
    remove(change, caller.teamId, userId, found),
  );

/** Removes a member for the operator like `removeTeamMember`. */
export const removeMemberAsOperator = (db: TransactionScope, teamId: string, userId: string): Promise<void> =>
  changeTeamAsOperator(db, teamId, toRemove(teamId, userId), (change, found) => remove(change, teamId, userId, found));

const toRemove = (teamId: string, userId: string) => ({
  reads: lockMembershipSteps(teamId, userId),
  account: userId,
});

async function remove(change: Change, teamId: string, userId: string, found: LockedMembership): Promise<void> {
  const [[membership]] = found;
  if (membership === undefined) throw new ProblemError('member_not_found');
  if (membership.role_id === 'owner') throw new ProblemError('owner_not_removable');
  await endMembership(change, teamId, userId, found);
  change.record('member.removed', { accountId: userId, teamId });
}

/** Role, status and expiry. Omitted fields keep their value; new memberships default to `member`, active, no expiry. */
export type MembershipTerms = {
  readonly roleId?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly expiresAt?: Date | null | undefined;
};

/** Adds an account to a team for the operator, without an invitation and without the seat limit. */
export async function addMember(
  db: TransactionScope,
  teamId: string,
  userId: string,
  terms: MembershipTerms,
): Promise<void> {
  await withTeamAsOperator(db, teamId, async ({ tx, team }) => {
    const account = await lockOne(tx, 'account', userId, 'share');
    if (account === null) throw new ProblemError('account_not_found');
    requireEnabled(account, '/accountId');
    if ((await tx.count(Membership, { team, account })) > 0) {
      throw new ProblemError('already_taken', 'The account is already a member of this team.', {
        errors: [{ in: 'body', pointer: '/accountId', code: 'invalid_value' }],
      });
    }
    tx.create(Membership, {
      team,
      account,
      role: await findGrantableRole(tx, teamId, terms.roleId ?? 'member'),
      isActive: terms.isActive ?? true,
      expiresAt: terms.expiresAt ?? null,
      joinedAt: new Date(),
    });
    record(tx, 'member.added', { accountId: userId, teamId, ...toEventDetails(terms) });
  });
}

/** Changes a membership for the operator, except the owner's. */
export async function setMember(
  db: TransactionScope,
  teamId: string,
  userId: string,
  terms: MembershipTerms,
): Promise<void> {
  await withTeamAsOperator(db, teamId, async ({ tx }) => {
    const membership = await lockMember(tx, teamId, userId);
    if (membership === null) throw new ProblemError('member_not_found');

    if (terms.roleId !== undefined) {
      const role = await findGrantableRole(tx, teamId, terms.roleId);
      requireNotOwner(membership, 'get another role');
      membership.role = role;
    }
    if (terms.isActive === false) requireNotOwner(membership, 'be made inactive');
    if (terms.expiresAt) requireNotOwner(membership, 'expire');
    if (terms.isActive !== undefined) membership.isActive = terms.isActive;
    if (terms.expiresAt !== undefined) membership.expiresAt = terms.expiresAt;
    record(tx, 'member.updated', { accountId: userId, teamId, ...toEventDetails(terms) });
  });
}

const toEventDetails = ({ roleId, isActive, expiresAt }: MembershipTerms) => ({
  ...(roleId === undefined ? {} : { roleId }),
  ...(isActive === undefined ? {} : { isActive }),
  ...(expiresAt === undefined ? {} : { expiresAt: expiresAt?.toISOString() ?? null }),
});

async function findGrantableRole(tx: EntityManager, teamId: string, roleId: string): Promise<Role> {
  if (roleId === 'owner')
    throw new ProblemError('role_not_assignable', 'A team has exactly one owner. Transfer the team instead.');
  return findTeamRole(tx, teamId, roleId, '/roleId');
}

function requireNotOwner(membership: Membership, change: string): void {
  if (membership.role.id === 'owner')
    throw new ProblemError('owner_not_removable', `The owner cannot ${change}. Transfer the team first.`);
}
