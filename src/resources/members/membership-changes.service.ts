import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventFields } from '../../events/event.ts';
import type { EventName } from '../../events/catalogue.ts';
import { record } from '../../events/record.ts';
import { isActiveNow, isPast } from '../../auth/active-membership.ts';
import { lockMember, withTeam, type TeamCaller } from '../../transactions/with-team.ts';
import { canGrant, inCatalogueOrder } from '../../auth/permissions.ts';
import { Role, type Membership, type Permission } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { requireFreeSeat } from '../billing/seats.ts';

/** Who changes whose membership. */
type Subject = { readonly caller: TeamCaller; readonly userId: string };

/** Gives a member another role: one that the caller can grant, instead of one that is not above the caller's own. */
export async function setMemberRole({ db }: Services, subject: Subject, roleId: string): Promise<Membership> {
  return change(db, subject, 'edit_team_settings', async (tx, membership, held) => {
    const role = await tx.findOne(Role, { id: roleId, $or: [{ team: null }, { team: subject.caller.teamId }] });
    if (role === null) throw invalidInput('/roleId', 'No role of this team has that id.');
    if (!canGrant(held, role)) throw new ProblemError('role_not_assignable');
    membership.role = role;
    return ['member.role_changed', { roleId }];
  });
}

/** Makes a membership count again, without an end if that has passed. Takes a free seat. */
export async function activateMember({ db, config }: Services, subject: Subject): Promise<Membership> {
  return change(db, subject, 'remove_members', async (tx, membership) => {
    if (isActiveNow(membership)) return null;
    await requireFreeSeat(tx, config.plans, subject.caller.teamId);
    membership.isActive = true;
    if (isPast(membership.expiresAt)) membership.expiresAt = null;
    return ['member.activated', {}];
  });
}

/** Keeps a membership without letting it count: the member sees the team no more, and its seat is free. */
export async function deactivateMember({ db }: Services, subject: Subject): Promise<Membership> {
  return change(db, subject, 'remove_members', async (_tx, membership) => {
    if (!membership.isActive) return null;
    membership.isActive = false;
    return ['member.deactivated', {}];
  });
}

/** Sets when a membership ends, or that it does not. One that counts again by it takes a free seat. */
export async function setMemberExpiry(
  { db, config }: Services,
  subject: Subject,
  expiresAt: Date | null,
): Promise<Membership> {
  return change(db, subject, 'remove_members', async (tx, membership) => {
    const countsAgain = !isActiveNow(membership) && isActiveNow({ isActive: membership.isActive, expiresAt });
    if (countsAgain) await requireFreeSeat(tx, config.plans, subject.caller.teamId);
    membership.expiresAt = expiresAt;
    return ['member.expiry_changed', { expiresAt: expiresAt?.toISOString() ?? null }];
  });
}

/** @returns what has been done, or null for nothing */
type Change = (
  tx: EntityManager,
  membership: Membership,
  held: readonly Permission[],
) => Promise<readonly [EventName, EventFields] | null>;

/** Changes a membership under the team's lock: nobody touches the owner's, or that of a role above their own. */
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
      throw new ProblemError('owner_not_removable', "The owner's membership stays as it is.");
    await tx.populate(membership, ['account', 'role']);
    requireNotAbove(held, membership.role);

    const done = await apply(tx, membership, held);
    if (done !== null) record(tx, done[0], { accountId: userId, teamId: caller.teamId, ...done[1] });
    await tx.flush();
    return membership;
  });
}

function requireNotAbove(held: readonly Permission[], role: Role): void {
  const beyond = inCatalogueOrder(role.permissions).filter((permission) => !held.includes(permission));
  if (beyond.length > 0)
    throw new ProblemError('permission_missing', `The member's role holds ${beyond.join(', ')}, which yours does not.`);
}
