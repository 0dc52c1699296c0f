import type { EntityManager } from '@mikro-orm/postgresql';
import { Membership } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';

/** Requires that the account can own another team. Call it with the account locked. @throws team_limit_reached */
export async function requireTeamQuota(tx: EntityManager, accountId: string, limit: number): Promise<void> {
  const owned = await tx.count(Membership, { account: accountId, role: 'owner' });
  if (owned >= limit) {
    throw new ProblemError('team_limit_reached', `This account owns ${owned} teams; its limit is ${limit}.`);
  }
}
