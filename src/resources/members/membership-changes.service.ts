import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventFields } from '../../events/event.ts';
import type { EventName } from '../../events/catalogue.ts';
import { record } from '../../events/record.ts';
import { isActiveNow, isPast } from '../../auth/active-membership.ts';
import { lockMember, withTeam, type TeamCaller } from '../../transactions/with-team.ts';
import { findMissingPermissions, requireCanGrant } from '../../auth/permissions.ts';
import type { Membership, Permission, Role } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { findTeamRole } from '../roles/find-team-role.ts';
import { requireFreeSeat } from '../billing/seats.ts';

/** The caller and the member whose membership changes. */
type Subject = { readonly caller: TeamCaller; readonly userId: string };

/** Changes the role of a member. The caller needs every permission of the former and of the new role. */
export async function setMemberRole({ db }: Services, subject: Subject, roleId: string): Promise<Membership> {
  return change(db, subject, 'edit_team_settings', async (tx, membership, held) => {
    requireNotAbove(held, membership.role);
    const role = await findTeamRole(tx, subject.caller.teamId, roleId, '/roleId');
    requireCanGrant(held, role);
    membership.role = role;
    return ['member.role_changed', { roleId, name: role.name }];
  });
}

/** Reactivates a membership and clears an expiry in the past. Requires a free seat. */
export async function activateMember({ db, config }: Services, subject: Subject): Promise<Membership> {
  return change(db, subject, 'remove_members', async (tx, membership) => {
    if (isActiveNow(membership)) return null;
    await requireFreeSeat(tx, config.plans, subject.caller.teamId);
    membership.isActive = true;
    if (isPast(membership.expiresAt)) membership.expiresAt = null;
    return ['member.activated', {}];
  });
}

/** Deactivates a membership: the member no longer sees the team, and the seat is free. */
export async function deactivateMember({ db }: Services, subject: Subject): Promise<Membership> {
  return change(db, subject, 'remove_members', async (_tx, membership) => {
    if (!membership.isActive) return null;
    membership.isActive = false;
    return ['member.deactivated', {}];
  });
}

/** Sets or clears the expiry of a membership. Requires a free seat if the membership becomes active again. */
export async function setMemberExpiry(
  { db, config }: Services,
  subject: Subject,
  expiresAt: Date | null,
): Promise<Membership> {
  return change(db, subject, 'remove_members', async (tx, membership) => {
    const becomesActive = !isActiveNow(membership) && isActiveNow({ isActive: membership.isActive, expiresAt });
    if (becomesActive) await requireFreeSeat(tx, config.plans, subject.caller.teamId);
    membership.expiresAt = expiresAt;
    return ['member.expiry_changed', { expiresAt: expiresAt?.toISOString() ?? null }];
  });
}

/** @returns the event to record, or null if nothing changed */
type Change = (
  tx: EntityManager,
  membership: Membership,
  held: readonly Permission[],
) => Promise<readonly [EventName, EventFields] | null>;

/** Changes a membership, except the owner’s. Who can remove a member can also deactivate them, whatever their role. */
async function change(
  db: TransactionScope,
  { caller, userId }: Subject,
  permission: Permission,
  apply: Change,
): Promise<Membership> {
  return withTeam(db, caller, permission, async ({ tx, caller: { permissions: held } }) => {
    const membership = await lockMember(tx, caller.teamId, userId);
    if (membership === null) throw new ProblemError('member_not_found');
    if (membership.role.id === 'owner')
      throw new ProblemError('owner_not_removable', 'The owner’s membership cannot be changed.');
    await tx.populate(membership, ['account', 'role']);

    const done = await apply(tx, membership, held);
    if (done !== null) record(tx, done[0], { accountId: userId, teamId: caller.teamId, ...done[1] });
    await tx.flush();
    return membership;
  });
}

function requireNotAbove(held: readonly Permission[], role: Role): void {
  const beyond = findMissingPermissions(held, role.permissions);
  if (beyond.length > 0)
    throw new ProblemError('permission_missing', `The member's role holds ${beyond.join(', ')}, which yours does not.`);
}
