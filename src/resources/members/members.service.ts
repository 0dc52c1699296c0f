import { isActiveNow } from '../../auth/active-membership.ts';
import { isPrivileged, requirePermission } from '../../auth/permissions.ts';
import { notifyOwner } from '../../jobs/notify.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import { lockMember, lockOne } from '../../transactions/locks.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { requireEnabled } from '../accounts/require-account.ts';
import type { OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { endAbandonedInvitations } from '../invitations/end-invitations.ts';
import { endMembership, lockMembershipSteps, type LockedMembership } from './end-membership.ts';
import { type Account, Membership, type Role } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { findTeamRole } from '../roles/find-team-role.ts';

type Remover = TeamCaller | OperatorCaller | 'system';

/** Deletes a membership and revokes the member's credentials for the team in the same transaction. */
export const removeMember = (db: TransactionScope, caller: Remover, teamId: string, userId: string): Promise<void> =>
  change(db, caller, toRemove(teamId, userId), (opened, found) => remove(opened, teamId, userId, found));

/** Removes a member and ends all invitations that they sent, which the caller has to be able to revoke. */
export const removeMemberWithInvitations = (
  db: TransactionScope,
  caller: TeamCaller,
  userId: string,
): Promise<void> => {
  const { teamId } = caller;
  return change(db, caller, toRemove(teamId, userId), (opened, found) => {
    requirePermission(opened.role.permissions, 'invite_members');
    return remove(opened, teamId, userId, found, true);
  });
};

const toRemove = (teamId: string, userId: string) =>
  ({
    on: { team: teamId, andAccount: userId },
    requires: 'remove_members',
    reads: lockMembershipSteps(teamId, userId),
  }) as const;

async function remove(
  opened: Change,
  teamId: string,
  userId: string,
  found: LockedMembership,
  withInvitations = false,
): Promise<void> {
  const [, [membership]] = found;
  if (membership === undefined) throw new ProblemError('member_not_found');
  if (membership.role_id === 'owner') throw new ProblemError('owner_not_removable');
  await endMembership(opened, teamId, userId, found, withInvitations);
  opened.record('member.removed', { accountId: userId, teamId });
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
  caller: OperatorCaller | 'system',
  teamId: string,
  userId: string,
  terms: MembershipTerms,
): Promise<void> {
  await change(db, caller, { on: { team: teamId }, requires: 'operator' }, async (tx) => {
    const account = await lockOne(tx, 'account', userId, 'share');
    if (account === null) throw new ProblemError('account_not_found');
    requireEnabled({ is_disabled: Boolean(account.disabledAt) }, '/accountId');
    if ((await tx.em.count(Membership, { team: teamId, account })) > 0) {
      throw new ProblemError('already_taken', 'The account is already a member of this team.', {
        errors: [{ in: 'body', pointer: '/accountId', code: 'invalid_value' }],
      });
    }
    const role = await findGrantableRole(tx, teamId, terms.roleId ?? 'member');
    tx.em.create(Membership, {
      team: teamId,
      account,
      role,
      isActive: terms.isActive ?? true,
      expiresAt: terms.expiresAt ?? null,
      joinedAt: new Date(),
    });
    tx.record('member.added', { accountId: userId, teamId, ...toEventDetails(terms) });
    await notifyOfGift(tx, teamId, account, role);
  });
}

/** Changes a membership for the operator, except the owner's. */
export async function setMember(
  db: TransactionScope,
  caller: OperatorCaller | 'system',
  teamId: string,
  userId: string,
  terms: MembershipTerms,
): Promise<void> {
  await change(db, caller, { on: { team: teamId }, requires: 'operator' }, async (tx) => {
    const membership = await lockMember(tx, teamId, userId);
    if (membership === null) throw new ProblemError('member_not_found');
    await endAbandonedInvitations(tx, teamId);

    const changed: string[] = [];
    if (terms.roleId !== undefined) {
      const role = await findGrantableRole(tx, teamId, terms.roleId);
      requireNotOwner(membership, 'get another role');
      if (assignChanged(membership, { role }).length > 0) changed.push('roleId');
    }
    if (terms.isActive === false) requireNotOwner(membership, 'be made inactive');
    if (terms.expiresAt) requireNotOwner(membership, 'expire');
    changed.push(...assignChanged(membership, { isActive: terms.isActive, expiresAt: terms.expiresAt }));
    if (changed.length === 0) return;
    tx.record('member.updated', { accountId: userId, teamId, ...toEventDetails(terms) });
    await endAbandonedInvitations(tx, teamId);
    await tx.em.populate(membership, ['account', 'role']);
    if (isActiveNow(membership)) await notifyOfGift(tx, teamId, membership.account, membership.role);
  });
}

/** Notifies the owner of a team of a privileged role that the operator gives. */
async function notifyOfGift(
  tx: Change,
  teamId: string,
  { firstName, lastName, email }: Account,
  role: Role,
): Promise<void> {
  if (!isPrivileged(role)) return;
  const person = [firstName, lastName].filter(Boolean).join(' ') || (email ?? undefined);
  await notifyOwner(tx, teamId, { kind: 'role_given', thing: role.name, person });
}

const toEventDetails = ({ roleId, isActive, expiresAt }: MembershipTerms) => ({
  ...(roleId === undefined ? {} : { roleId }),
  ...(isActive === undefined ? {} : { isActive }),
  ...(expiresAt === undefined ? {} : { expiresAt: expiresAt?.toISOString() ?? null }),
});

async function findGrantableRole(tx: Change, teamId: string, roleId: string): Promise<Role> {
  if (roleId === 'owner')
    throw new ProblemError('role_not_assignable', 'A team has exactly one owner. Transfer the team instead.');
  return findTeamRole(tx, teamId, roleId, '/roleId');
}

function requireNotOwner(membership: Membership, change: string): void {
  if (membership.role.id === 'owner')
    throw new ProblemError('owner_not_removable', `The owner cannot ${change}. Transfer the team first.`);
}
