import type { EntityManager } from '@mikro-orm/postgresql';
import { isActiveNow, isPast } from '../../auth/active-membership.ts';
import { Membership, OwnershipTransfer, Role } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { addDays } from '../../time.ts';
import { lockOne } from '../../transactions/locks.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { requireNewOwner } from '../../transactions/with-account.ts';
import { lockMembership, withTeam, withTeamAsOperator, type TeamCaller } from '../../transactions/with-team.ts';
import { requireTeamQuota } from './team-quota.ts';
import { notify } from '../../jobs/notify.ts';

const OFFER_DAYS = 7;

/** Offers the team to a member, in place of any earlier offer, and notifies them by email. */
export const offerOwnership = (db: TransactionScope, caller: TeamCaller, userId: string): Promise<void> =>
  withTeam(db, caller, 'owner', async ({ tx, team, caller: { teamId, accountId } }) => {
    if (userId === accountId) throw invalidInput('/userId', 'You already own this team.');
    const nominee = await lockOne(tx, 'account', userId, 'share');
    const membership = await lockMembership(tx, teamId, userId);
    if (nominee === null || membership === null || !isActiveNow(membership)) throw new ProblemError('member_not_found');
    if (!nominee.email || !nominee.emailVerifiedAt) {
      throw new ProblemError('email_not_verified', "The member's email address is not verified.");
    }

    await tx.nativeDelete(OwnershipTransfer, { team: teamId });
    tx.create(OwnershipTransfer, { team: teamId, nominee, expiresAt: addDays(new Date(), OFFER_DAYS) });
    record(tx, 'ownership.offered', { accountId: userId, teamId });
    await tx.flush();
    const mail = { kind: 'ownership_offered' as const, accountId: userId, to: nominee.email, teamId };
    await enqueue(tx, 'sendAccountMail', mail, `ownership:${teamId}`);
    await notify(tx, accountId, { kind: 'ownership_offer_made', teamName: team.name });
  });

export const withdrawOwnershipOffer = (db: TransactionScope, caller: TeamCaller): Promise<void> =>
  withTeam(db, caller, 'owner', async ({ tx, caller: { teamId } }) => {
    await deleteOffer(tx, { team: teamId });
    record(tx, 'ownership.offer_withdrawn', { teamId });
  });

export const declineOwnership = (db: TransactionScope, caller: TeamCaller): Promise<void> =>
  withTeam(db, caller, 'member', async ({ tx, caller: { teamId, accountId } }) => {
    await deleteOffer(tx, { team: teamId, nominee: accountId });
    record(tx, 'ownership.declined', { teamId });
  });

/**
 * Makes the nominee the owner. The former owner becomes a `member` and keeps the API keys they created.
 * @returns the new owner's membership, with its team and role
 */
export const acceptOwnership = (db: TransactionScope, caller: TeamCaller, teamLimit: number): Promise<Membership> =>
  withTeam(
    db,
    caller,
    'member',
    async ({ tx, caller: { teamId, accountId } }) => {
      const membership = await lockMembership(tx, teamId, accountId);
      if (membership === null) throw new ProblemError('team_not_found');
      await deleteOffer(tx, { team: teamId, nominee: accountId });
      await requireTeamQuota(tx, accountId, teamLimit);

      // Demote before promoting: the unique index on owners is checked per statement.
      await tx.nativeUpdate(Membership, { team: teamId, role: 'owner' }, { role: 'member' });
      tx.assign(membership, { role: tx.getReference(Role, 'owner'), expiresAt: null });
      record(tx, 'ownership.transferred', { accountId, teamId });
      await tx.flush();
      return tx.findOneOrFail(Membership, membership.id, { populate: ['team', 'role'] });
    },
    // The teams of an account are counted under the lock of its row.
    { account: 'update' },
  );

/**
 * Makes an account the owner for the operator, whether it is a member or not, and whether the team has an owner or
 * not. A former owner becomes a `member`.
 */
export const transferOwnershipAsOperator = (db: TransactionScope, teamId: string, accountId: string): Promise<void> =>
  withTeamAsOperator(db, teamId, async ({ tx, team }) => {
    const account = await lockOne(tx, 'account', accountId, 'share');
    if (account === null) throw new ProblemError('account_not_found');
    requireNewOwner(account, '/accountId');
    const role = tx.getReference(Role, 'owner');
    const membership = await lockMembership(tx, teamId, accountId);
    if (membership?.role.id === 'owner') throw invalidInput('/accountId', 'The account already owns this team.');

    await tx.nativeDelete(OwnershipTransfer, { team: teamId });
    // Demote before promoting: the unique index on owners is checked per statement.
    await tx.nativeUpdate(Membership, { team: teamId, role: 'owner' }, { role: 'member' });
    if (membership === null) tx.create(Membership, { team, account, role, joinedAt: new Date() });
    else tx.assign(membership, { role, isActive: true, expiresAt: null });
    record(tx, 'ownership.transferred', { accountId, teamId });
  });

/** Deletes an offer that has not expired. An expired one stays until the next offer replaces it. */
async function deleteOffer(tx: EntityManager, which: { team: string; nominee?: string }): Promise<void> {
  const offer = await tx.findOne(OwnershipTransfer, which);
  if (offer === null || isPast(offer.expiresAt)) throw new ProblemError('transfer_not_found');
  await tx.nativeDelete(OwnershipTransfer, { team: which.team });
}
