import type { EventFields } from '../../events/event.ts';
import type { EventName } from '../../events/catalogue.ts';
import { isActiveNow } from '../../auth/active-membership.ts';
import { endAbandonedInvitations } from '../invitations/end-invitations.ts';
import type { TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { lockMember } from '../../transactions/locks.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { findMissingPermissions, isPrivileged, requireCanGrant, type Rights } from '../../auth/permissions.ts';
import type { Membership, Permission, Role } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import { notify } from '../../jobs/notify.ts';
import { requireProofToGive } from '../../transactions/require-proof.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { findTeamRole } from '../roles/find-team-role.ts';
import { requireFreeSeat } from '../billing/seats.ts';

/** Changes the role of a member. The caller needs every permission of the former and of the new role. */
export async function setMemberRole(
  db: TransactionScope,
  caller: TeamCaller,
  accountId: string,
  roleId: string,
): Promise<Membership> {
  return changeMember(db, { caller, accountId, requires: 'edit_team_settings' }, async (tx, membership, held) => {
    requireNotAbove(held, membership.role);
    const role = await findTeamRole(tx, caller.teamId, roleId, '/roleId');
    requireCanGrant(held, role);
    await requireProofToGive(role, tx, caller.credential);
    if (membership.role === role) return null;
    await notifyOfGift(tx, caller, membership, role);
    membership.role = role;
    return ['member.role_changed', { roleId, name: role.name }];
  });
}

/** Reactivates a membership and clears an expiry in the past. Requires a free seat, and a role that the caller can grant. */
export async function activateMember(
  { db, config }: Services,
  caller: TeamCaller,
  accountId: string,
): Promise<Membership> {
  return changeMember(db, { caller, accountId, requires: 'remove_members' }, async (tx, membership, held) => {
    if (isActiveNow(membership)) return null;
    requireCanGrant(held, membership.role);
    await requireFreeSeat(tx, config.plans, caller.teamId);
    await requireProofToGive(membership.role, tx, caller.credential);
    await notifyOfGift(tx, caller, membership);
    membership.isActive = true;
    if (membership.isExpired) Object.assign(membership, { expiresAt: null, isExpired: false });
    return ['member.activated', {}];
  });
}

/** Deactivates a membership: the member no longer sees the team, and the seat is free. */
export async function deactivateMember(
  db: TransactionScope,
  caller: TeamCaller,
  accountId: string,
): Promise<Membership> {
  return changeMember(db, { caller, accountId, requires: 'remove_members' }, async (_tx, membership) => {
    if (!membership.isActive) return null;
    membership.isActive = false;
    return ['member.deactivated', {}];
  });
}

/**
 * Sets or clears the expiry of a membership. A later end requires a role that the caller can grant, and a free seat if
 * the membership becomes active again.
 */
export async function setMemberExpiry(
  { db, config }: Services,
  caller: TeamCaller,
  accountId: string,
  expiresAt: Date | null,
): Promise<Membership> {
  return changeMember(db, { caller, accountId, requires: 'remove_members' }, async (tx, membership, held, now) => {
    if (expiresAt !== null && expiresAt <= now) throw invalidInput('/expiresAt', 'It must be in the future.');
    const isProlonged = isLater(expiresAt, membership.expiresAt ?? null);
    if (isProlonged) requireCanGrant(held, membership.role);
    if (membership.isActive && membership.isExpired) await requireFreeSeat(tx, config.plans, caller.teamId);
    if (isProlonged) {
      await requireProofToGive(membership.role, tx, caller.credential);
      await notifyOfGift(tx, caller, membership);
    }
    if ((membership.expiresAt?.getTime() ?? null) === (expiresAt?.getTime() ?? null)) return null;
    Object.assign(membership, { expiresAt, isExpired: false });
    return ['member.expiry_changed', { expiresAt: expiresAt?.toISOString() ?? null }];
  });
}

type Subject = { readonly caller: TeamCaller; readonly accountId: string; readonly requires: Permission };

/** @returns the event to record, or null if nothing changed */
type Apply = (
  tx: Change,
  membership: Membership,
  held: Rights,
  /** The time of the database. */
  now: Date,
) => Promise<readonly [EventName, EventFields] | null>;

/**
 * Changes a membership, except the owner’s. Who can remove a member can also deactivate them and bring their end
 * forward, whatever their role.
 */
async function changeMember(
  db: TransactionScope,
  { caller, accountId, requires }: Subject,
  apply: Apply,
): Promise<Membership> {
  const spec = { on: { team: caller.teamId }, requires, reads: [nowStep] } as const;
  return change(db, caller, spec, async (tx, [time]) => {
    const membership = await lockMember(tx, caller.teamId, accountId);
    if (membership === null) throw new ProblemError('member_not_found');
    if (membership.role.id === 'owner')
      throw new ProblemError('owner_not_removable', 'The owner’s membership cannot be changed.');
    await tx.em.populate(membership, ['account', 'role']);

    await endAbandonedInvitations(tx, caller.teamId);
    const done = await apply(tx, membership, tx.role, toNow(time));
    if (done !== null) tx.record(done[0], { accountId, teamId: caller.teamId, ...done[1] });
    await endAbandonedInvitations(tx, caller.teamId);
    return membership;
  });
}

/** Notifies the account that gives a privileged role to a member. */
async function notifyOfGift(
  tx: Change,
  { accountId, teamId }: TeamCaller,
  { account: { firstName, lastName, email }, role: present }: Membership,
  role: Role = present,
): Promise<void> {
  if (!isPrivileged(role)) return;
  const person = [firstName, lastName].filter(Boolean).join(' ') || (email ?? undefined);
  await notify(tx, accountId, { kind: 'role_given', thing: role.name, person, teamId });
}

/** Whether a membership ends later than before. */
const isLater = (end: Date | null, before: Date | null): boolean => before !== null && (end === null || end > before);

function requireNotAbove(held: Rights, role: Role): void {
  const beyond = findMissingPermissions(held, role);
  if (beyond.length > 0)
    throw new ProblemError('permission_missing', `The member's role holds ${beyond.join(', ')}, which yours does not.`);
}
