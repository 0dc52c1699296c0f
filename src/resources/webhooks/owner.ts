import type { EntityManager } from '@mikro-orm/postgresql';
import type { WebhookEndpoint } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { lockOne } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { withTeam, type TeamCaller } from '../../transactions/with-team.ts';

/** Whose endpoints: those of a team, for one of its members, or those of the installation, for the operator. */
export type Owner = TeamCaller | 'installation';

export const teamOf = (owner: Owner): string | null => (owner === 'installation' ? null : owner.teamId);
export const memberOf = (owner: Owner): string | null => (owner === 'installation' ? null : owner.accountId);

/** Changes endpoints of an owner. For a team, the permission of the caller is checked under its lock. */
export const withOwner = <R>(db: TransactionScope, owner: Owner, work: (tx: EntityManager) => Promise<R>): Promise<R> =>
  owner === 'installation' ? transaction(db, work) : withTeam(db, owner, 'edit_team_settings', ({ tx }) => work(tx));

/** Changes one endpoint of an owner, under its lock. @throws webhook_endpoint_not_found (404) */
export const withEndpoint = <R>(
  db: TransactionScope,
  owner: Owner,
  endpointId: string,
  work: (tx: EntityManager, endpoint: WebhookEndpoint) => Promise<R>,
): Promise<R> =>
  withOwner(db, owner, async (tx) => {
    const endpoint = await lockOne(tx, 'webhook_endpoint', endpointId);
    if (endpoint === null || (endpoint.team?.id ?? null) !== teamOf(owner))
      throw new ProblemError('webhook_endpoint_not_found');
    return work(tx, endpoint);
  });
