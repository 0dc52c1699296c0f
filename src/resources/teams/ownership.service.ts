import { LockMode } from '@mikro-orm/core';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isActiveNow, isPast } from '../../auth/active-membership.ts';
import { lockAccount, lockMembership, lockTeam } from '../../transactions/locks.ts';
import { lockTeamAs } from '../../transactions/with-team.ts';
import type { ActiveMembership } from '../../auth/principal.ts';
import { Account, Membership, OwnershipTransfer, Role } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { addDays } from '../../time.ts';

const OFFER_DAYS = 7;

/** Locks the team for its owner; every other member is refused. */
export async function lockTeamAsOwner(tx: EntityManager, caller: ActiveMembership): Promise<void> {
  const { roleId } = await lockTeamAs(tx, caller);
  if (roleId !== 'owner') throw new ProblemError('permission_missing', 'Only the owner of the team can do this.');
}

/** Offers the team to a member, instead of to anybody it was offered to before, and tells them by mail. */
export async function offerOwnership(em: EntityManager, caller: ActiveMembership, userId: string): Promise<void> {
  await em.transactional(async (tx) => {
    await lockTeamAsOwner(tx, caller);
    if (userId === caller.accountId) throw invalidInput('/userId', 'The team is yours already.');
    const nominee = await tx.findOne(Account, userId, { lockMode: LockMode.PESSIMISTIC_READ });
    const membership = await lockMembership(tx, caller.team.id, userId);
    if (nominee === null || membership === null || !isActiveNow(membership)) throw new ProblemError('member_not_found');
    if (!nominee.email || !nominee.emailVerifiedAt) {
      throw new ProblemError('email_not_verified', "The member's address is not verified.");
    }

    const expiresAt = addDays(new Date(), OFFER_DAYS);
    await tx.nativeDelete(OwnershipTransfer, { team: caller.team.id });
    tx.create(OwnershipTransfer, { team: caller.team.id, nominee, expiresAt });
    record(tx, 'ownership.offered', { accountId: userId, teamId: caller.team.id });
    await tx.flush();
    const mail = { kind: 'ownership_offered' as const, accountId: userId, to: nominee.email, teamId: caller.team.id };
    await enqueue(tx, 'sendAccountMail', mail, `ownership:${caller.team.id}`);
  });
}

export async function withdrawOwnershipOffer(em: EntityManager, caller: ActiveMembership): Promise<void> {
  await em.transactional(async (tx) => {
    await lockTeamAsOwner(tx, caller);
    await endOffer(tx, { team: caller.team.id });
    record(tx, 'ownership.offer_withdrawn', { teamId: caller.team.id });
  });
}

export async function declineOwnership(em: EntityManager, { team, accountId }: ActiveMembership): Promise<void> {
  await em.transactional(async (tx) => {
    await lockTeam(tx, team.id);
    await endOffer(tx, { team: team.id, nominee: accountId });
    record(tx, 'ownership.declined', { teamId: team.id });
  });
}

/**
 * Makes the nominee the owner. The former one stays, with the role `member` and the keys they made.
 * @returns the new owner's membership, with its team and role
 */
export async function acceptOwnership(
  em: EntityManager,
  { team, accountId }: ActiveMembership,
  teamLimit: number,
): Promise<Membership> {
  return em.transactional(async (tx) => {
    await lockTeam(tx, team.id);
    // The account's row is the lock that the teams it owns are counted under.
    await lockAccount(tx, accountId);
    const membership = await lockMembership(tx, team.id, accountId);
    if (membership === null || !isActiveNow(membership)) throw new ProblemError('team_not_found');
    await endOffer(tx, { team: team.id, nominee: accountId });
    const owned = await tx.count(Membership, { account: accountId, role: 'owner' });
    if (owned >= teamLimit)
      throw new ProblemError('team_limit_reached', `This account owns ${owned} teams; its limit is ${teamLimit}.`);

    // First one, then the other: the index that allows one owner looks at every statement.
    await tx.nativeUpdate(Membership, { team: team.id, role: 'owner' }, { role: 'member' });
    tx.assign(membership, { role: tx.getReference(Role, 'owner'), expiresAt: null });
    record(tx, 'ownership.transferred', { accountId, teamId: team.id });
    await tx.flush();
    return tx.findOneOrFail(Membership, membership.id, { populate: ['team', 'role'] });
  });
}

/** Takes an offer away that still stands; one that has expired is none, and waits for the next to replace it. */
async function endOffer(tx: EntityManager, which: { team: string; nominee?: string }): Promise<void> {
  const offer = await tx.findOne(OwnershipTransfer, which);
  if (offer === null || isPast(offer.expiresAt)) throw new ProblemError('transfer_not_found');
  await tx.nativeDelete(OwnershipTransfer, { team: which.team });
}
