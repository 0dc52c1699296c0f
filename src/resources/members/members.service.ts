import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey, Membership } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';

/** Ends a membership; the member's credentials for the team end in the same transaction. */
export async function removeTeamMember(em: EntityManager, teamId: string, userId: string): Promise<void> {
  await em.transactional(async (tx) => {
    // createApiKey locks the same row, so that no key slips in between the two statements below.
    const membership = await tx.findOne(Membership, { team: teamId, account: userId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (membership === null) throw new ProblemError('member_not_found');
    if (membership.role.id === 'owner') throw new ProblemError('owner_not_removable');

    await tx.nativeDelete(Membership, { id: membership.id });
    await tx.nativeUpdate(ApiKey, { team: teamId, account: userId, revokedAt: null }, { revokedAt: new Date() });
  });
}
