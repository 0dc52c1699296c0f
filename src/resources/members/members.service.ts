import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { lockMember, withTeam, withTeamAsOperator, type TeamCaller } from '../../transactions/with-team.ts';
import { endMembership } from '../../transactions/revocation.ts';
import { Account, Membership, type Role } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { findTeamRole } from '../roles/find-team-role.ts';
import type { Services } from '../../app-services.ts';

/** Deletes a membership and revokes the member's credentials for the team in the same transaction. */
export const removeTeamMember = ({ db }: Services, caller: TeamCaller, userId: string): Promise<void> =>
  withTeam(db, caller, 'remove_members', async ({ tx, caller: { teamId } }) => {
    const membership = await lockMember(tx, teamId, userId);
    if (membership === null) throw new ProblemError('member_not_found');
    if (membership.role.id === 'owner') throw new ProblemError('owner_not_removable');
    await endMembership(tx, membership);
    record(tx, 'member.removed', { accountId: userId, teamId });
  });

/** How a membership stands. What is left out stays as it is or, for a new one, is `member`, active, without an end. */
export type MembershipTerms = {
  readonly roleId?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly expiresAt?: Date | null | undefined;
};

/** Makes an account a member without an invitation. Seats do not bind: they bind whoever invites. */
export async function addMember(
  db: TransactionScope,
  teamId: string,
  userId: string,
  terms: MembershipTerms,
): Promise<void> {
  await withTeamAsOperator(db, teamId, async ({ tx, team }) => {
    if ((await tx.count(Membership, { team, account: userId })) > 0) {
      throw invalidInput('/userId', 'The account is a member of this team already.');
    }
    tx.create(Membership, {
      team,
      account: tx.getReference(Account, userId),
      role: await roleOfTeam(tx, teamId, terms.roleId ?? 'member'),
      isActive: terms.isActive ?? true,
      expiresAt: terms.expiresAt ?? null,
      joinedAt: new Date(),
    });
    record(tx, 'member.added', { accountId: userId, teamId, ...termsOf(terms) });
  });
}

/** Changes the terms of a membership. The owner's stays as it is: a team always has one who can act. */
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
      const role = await roleOfTeam(tx, teamId, terms.roleId);
      requireNotOwner(membership, 'get another role');
      membership.role = role;
    }
    if (terms.isActive === false) requireNotOwner(membership, 'be made inactive');
    if (terms.expiresAt) requireNotOwner(membership, 'expire');
    if (terms.isActive !== undefined) membership.isActive = terms.isActive;
    if (terms.expiresAt !== undefined) membership.expiresAt = terms.expiresAt;
    record(tx, 'member.updated', { accountId: userId, teamId, ...termsOf(terms) });
  });
}

const termsOf = ({ roleId, isActive, expiresAt }: MembershipTerms) => ({
  ...(roleId === undefined ? {} : { roleId }),
  ...(isActive === undefined ? {} : { isActive }),
  ...(expiresAt === undefined ? {} : { expiresAt: expiresAt?.toISOString() ?? null }),
});

async function roleOfTeam(tx: EntityManager, teamId: string, roleId: string): Promise<Role> {
  if (roleId === 'owner')
    throw new ProblemError('role_not_assignable', 'A team has exactly one owner; nobody else can get the role.');
  return findTeamRole(tx, teamId, roleId, '/roleId');
}

function requireNotOwner(membership: Membership, change: string): void {
  if (membership.role.id === 'owner')
    throw new ProblemError('owner_not_removable', `The owner cannot ${change}: a team always has one.`);
}
