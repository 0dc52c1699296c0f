import type { EntityManager } from '@mikro-orm/postgresql';
import type { OperatorPrincipal, Principal } from '../../auth/principal.ts';
import type { WebhookEndpoint } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { lockOne } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { lockCaller } from '../../transactions/with-account.ts';
import { withOperator } from '../../transactions/with-operator.ts';
import { withTeam, type TeamCaller } from '../../transactions/with-team.ts';

/**
 * Whose endpoints: those of a team, for one of its members, or those of the installation, for an operator who is signed
 * in, an operator key or the command line.
 */
export type Owner = TeamCaller | { readonly operator: Principal | OperatorPrincipal } | 'installation';

const isTeam = (owner: Owner): owner is TeamCaller => owner !== 'installation' && 'teamId' in owner;

export const teamOf = (owner: Owner): string | null => (isTeam(owner) ? owner.teamId : null);
export const memberOf = (owner: Owner): string | null => (isTeam(owner) ? owner.accountId : null);

/** Changes endpoints of an owner. The permission of a member, and the role or key of an operator, are checked under a lock. */
export function withOwner<R>(db: TransactionScope, owner: Owner, work: (tx: EntityManager) => Promise<R>): Promise<R> {
  if (owner === 'installation') return transaction(db, work);
  if (isTeam(owner)) return withTeam(db, owner, 'edit_team_settings', ({ tx }) => work(tx));
  const { operator } = owner;
  if (operator.kind === 'operator-key') return withOperator(db, operator, work);
  return transaction(db, async (tx) => {
    if ((await lockCaller(tx, operator, 'share')).role !== 'admin') throw new ProblemError('route_not_found');
    return work(tx);
  });
}

/** Changes one endpoint of an owner, under its lock. @throws webhook_endpoint_not_found (404) */
export const withEndpoint = <R>(
  db: TransactionScope,
  owner: Owner,
  endpointId: string,
  work: (tx: EntityManager, endpoint: WebhookEndpoint) => Promise<R>,
): Promise<R> =>
  withOwner(db, owner, async (tx) => {
    const endpoint = await lockOne(tx, 'webhook_endpoint', endpointId);
    if (endpoint === null || endpoint.deletedAt || (endpoint.team?.id ?? null) !== teamOf(owner))
      throw new ProblemError('webhook_endpoint_not_found');
    return work(tx, endpoint);
  });
