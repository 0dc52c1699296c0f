import type { EntityManager } from '@mikro-orm/postgresql';
import { Membership } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';

/** Answers 403 if the account owns as many teams as it can. The caller holds the lock on the account. */
export async function requireTeamQuota(tx: EntityManager, accountId: string, limit: number): Promise<void> {
  const owned = await tx.count(Membership, { account: accountId, role: 'owner' });
  if (owned >= limit) {
    throw new ProblemError('team_limit_reached', `This account owns ${owned} teams; its limit is ${limit}.`);
  }
}
