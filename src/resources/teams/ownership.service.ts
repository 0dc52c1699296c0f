import { nowStep, toNow } from '../../db/clock.ts';
import { command } from '../../db/query.ts';
import { isActiveNow } from '../../auth/active-membership.ts';
import { type Account, Membership, OwnershipTransfer, Role, Team } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { addDays } from '../../time.ts';
import { endAbandonedInvitations } from '../invitations/end-invitations.ts';
import type { OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { lockAccountShared } from '../../transactions/lock-steps.ts';
import { lockOne } from '../../transactions/locks.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { requireNewOwner } from '../accounts/require-account.ts';
import { lockMembership } from '../../transactions/locks.ts';
import { ownedTeamsStep, requireTeamQuota } from './team-quota.ts';
import { notify } from '../../jobs/notify.ts';

const OFFER_DAYS = 7;

const deleteOfferOf = command<never>('ownership_transfer_delete', 'delete from ownership_transfer where team_id = $1');

const makeOwnerMember = command<{ account_id: string }>(
  'membership_update_former_owner',
  `update membership set role_id = 'member' where team_id = $1 and role_id = 'owner' returning account_id`,
);

/** Offers the team to a member, in place of any earlier offer, and notifies them by email. */
export const offerOwnership = (db: TransactionScope, caller: TeamCaller, nomineeId: string): Promise<void> => {
  const { teamId, accountId } = caller;
  const spec = { on: { team: teamId }, requires: 'owner', reads: [nowStep] } as const;
  return change(db, caller, spec, async (tx, [time]) => {
    const team = await tx.em.findOneOrFail(Team, teamId);
    if (nomineeId === accountId) throw invalidInput('/accountId', 'You already own this team.');
    const nominee = await lockOne(tx, 'account', nomineeId, 'share');
    const membership = await lockMembership(tx, teamId, nomineeId);
    if (nominee === null || membership === null || !isActiveNow(membership)) throw new ProblemError('member_not_found');
    if (!nominee.email || !nominee.emailVerifiedAt) {
      throw new ProblemError('email_not_verified', "The member's email address is not verified.");
    }

    await tx.run([[deleteOfferOf, [teamId]]]);
    tx.em.create(OwnershipTransfer, { team: teamId, nominee, expiresAt: addDays(toNow(time), OFFER_DAYS) });
    tx.record('ownership.offered', { accountId: nomineeId, teamId });
    const mail = { kind: 'ownership_offered' as const, accountId: nomineeId, to: nominee.email, teamId };
    await enqueue(tx, 'sendAccountMail', mail, `ownership:${teamId}`);
    await notify(tx, accountId, { kind: 'ownership_offer_made', thing: team.name, teamId, person: getName(nominee) });
  });
};

export const withdrawOwnershipOffer = (db: TransactionScope, caller: TeamCaller): Promise<void> => {
  const { teamId } = caller;
  return change(db, caller, { on: { team: teamId }, requires: 'owner' }, async (tx) => {
    await deleteOffer(tx, { team: teamId });
    tx.record('ownership.offer_withdrawn', { teamId });
  });
};

export const declineOwnership = (db: TransactionScope, caller: TeamCaller): Promise<void> => {
  const { teamId, accountId } = caller;
  return change(db, caller, { on: { team: teamId }, requires: 'member' }, async (tx) => {
    await deleteOffer(tx, { team: teamId, nominee: accountId });
    tx.record('ownership.declined', { teamId });
  });
};

/**
 * Makes the nominee the owner. The former owner becomes a `member` and keeps the API keys they created.
 * @returns the new owner's membership, with its team and role
 */
export const acceptOwnership = (db: TransactionScope, caller: TeamCaller, teamLimit: number): Promise<Membership> => {
  const { teamId, accountId } = caller;
  // The teams of an account are counted under the lock of its row.
  const on = { team: teamId, andCaller: true };
  const reads = [ownedTeamsStep(accountId)] as const;
  return change(db, caller, { on, requires: 'member', reads }, async (tx, [owned]) => {
    const membership = await lockMembership(tx, teamId, accountId);
    if (membership === null) throw new ProblemError('team_not_found');
    await deleteOffer(tx, { team: teamId, nominee: accountId });
    requireTeamQuota(owned, teamLimit);

    const former = await demoteOwner(tx, teamId);
    tx.em.assign(membership, { role: tx.em.getReference(Role, 'owner'), expiresAt: null });
    tx.record('ownership.transferred', { accountId, teamId, ...former });
    await endAbandonedInvitations(tx, teamId);
    await notifyOfTransfer(tx, teamId, [former.formerOwnerId, accountId]);
    return tx.em.findOneOrFail(Membership, membership.id, { populate: ['team', 'role'] });
  });
};

/**
 * Makes an account the owner for the operator, whether it is a member or not, and whether the team has an owner or
 * not. A former owner becomes a `member`.
 */
export const transferOwnership = (
  db: TransactionScope,
  caller: OperatorCaller | 'system',
  teamId: string,
  accountId: string,
): Promise<void> => {
  const reads = [[lockAccountShared, [accountId]]] as const;
  return change(db, caller, { on: { team: teamId }, requires: 'operator', reads }, async (tx, [[account]]) => {
    if (account === undefined) throw new ProblemError('account_not_found');
    requireNewOwner(account, '/accountId');
    const role = tx.em.getReference(Role, 'owner');
    const membership = await lockMembership(tx, teamId, accountId);
    if (membership?.role.id === 'owner') throw invalidInput('/accountId', 'The account already owns this team.');

    await endAbandonedInvitations(tx, teamId);
    await tx.run([[deleteOfferOf, [teamId]]]);
    const former = await demoteOwner(tx, teamId);
    if (membership === null) {
      tx.em.create(Membership, { team: teamId, account: accountId, role, joinedAt: new Date() });
      tx.record('member.added', { accountId, teamId, roleId: role.id });
    } else tx.em.assign(membership, { role, isActive: true, expiresAt: null });
    tx.record('ownership.transferred', { accountId, teamId, ...former });
    await endAbandonedInvitations(tx, teamId);
    await notifyOfTransfer(tx, teamId, [former.formerOwnerId, accountId]);
  });
};

/** Notifies the former and the new owner. */
async function notifyOfTransfer(tx: Change, teamId: string, owners: readonly (string | undefined)[]): Promise<void> {
  const { name } = await tx.em.findOneOrFail(Team, teamId);
  for (const id of owners)
    if (id !== undefined) await notify(tx, id, { kind: 'ownership_transferred', thing: name, teamId });
}

const getName = ({ firstName, lastName, email }: Account): string | undefined =>
  [firstName, lastName].filter(Boolean).join(' ') || (email ?? undefined);

/**
 * Makes the owner a `member`. Call it before another one becomes the owner, because the unique index on owners is
 * checked per statement.
 * @returns what the event names; nothing if the team has no owner
 */
async function demoteOwner(
  tx: Change,
  teamId: string,
): Promise<{ formerOwnerId?: string; formerOwnerRoleId?: string }> {
  const [[former]] = await tx.run([[makeOwnerMember, [teamId]]]);
  return former === undefined ? {} : { formerOwnerId: former.account_id, formerOwnerRoleId: 'member' };
}

/** Deletes an offer that has not expired. An expired one stays until the next offer replaces it. */
async function deleteOffer(tx: Change, which: { team: string; nominee?: string }): Promise<void> {
  const offer = await tx.em.findOne(OwnershipTransfer, which);
  if (offer === null || offer.isExpired) throw new ProblemError('transfer_not_found');
  await tx.run([[deleteOfferOf, [which.team]]]);
}
