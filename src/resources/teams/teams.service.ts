import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { lockAccount } from '../../transactions/locks.ts';
import { Account, Membership, Role, Team } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { freeSlug } from './slug.ts';

type NewTeam = { readonly name: string; readonly description?: string | undefined };

/**
 * Makes a team with the account as its owner and first member.
 * @param teamLimit how many teams one account may own; undefined for the operator, who is not bound.
 */
export async function createTeam(em: EntityManager, accountId: string, input: NewTeam, teamLimit: number | undefined) {
  return em.transactional(async (tx) => {
    // The account's row is the lock that the teams it owns are counted under.
    const account = await lockAccount(tx, accountId);
    if (teamLimit !== undefined) {
      if (!account.emailVerifiedAt) throw new ProblemError('email_not_verified');
      const owned = await tx.count(Membership, { account: accountId, role: 'owner' });
      if (owned >= teamLimit)
        throw new ProblemError('team_limit_reached', `This account owns ${owned} teams; its limit is ${teamLimit}.`);
    }
    const slug = await freeSlug(tx, input.name);
    const team = tx.create(Team, { name: input.name, slug, description: input.description ?? null });
    tx.create(Membership, {
      team,
      account: tx.getReference(Account, accountId),
      role: tx.getReference(Role, 'owner'),
      joinedAt: new Date(),
    });
    record(tx, 'team.created', { accountId, teamId: team.id });
    await tx.flush();
    return {
      team: { id: team.id, name: team.name, slug, description: team.description ?? null, avatarUrl: null },
      role: { id: 'owner', name: 'Owner' },
    };
  });
}
