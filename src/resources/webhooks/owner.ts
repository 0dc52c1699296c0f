import { nowStep, toNow } from '../../db/clock.ts';
import { requirePermission } from '../../auth/permissions.ts';
import type { Permission, WebhookEndpoint } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { lockOne } from '../../transactions/locks.ts';
import type { OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { requiredPermission, TEAM_TYPES } from '../../webhooks/types.ts';

/**
 * Whose endpoints: those of a team, for one of its members, or those of the installation, for an operator who is signed
 * in, an operator key or the command line.
 */
export type Owner = TeamCaller | OperatorCaller | 'installation';

const isTeam = (owner: Owner): owner is TeamCaller => owner !== 'installation' && 'teamId' in owner;

export const teamOf = (owner: Owner): string | null => (isTeam(owner) ? owner.teamId : null);
export const memberOf = (owner: Owner): string | null => (isTeam(owner) ? owner.accountId : null);

/** What the caller may see of a team, as read under its lock. Null for the installation, of which operators see all. */
export type Held = readonly Permission[] | null;

/** Changes endpoints of an owner. The permission of a member, and the role or key of an operator, are checked under a lock. `now` is the time of the database. */
export function withOwner<R>(
  db: TransactionScope,
  owner: Owner,
  work: (tx: Change, held: Held, now: Date) => Promise<R>,
): Promise<R> {
  if (isTeam(owner)) {
    const spec = { on: { team: owner.teamId }, requires: 'edit_team_settings', reads: [nowStep] } as const;
    return change(db, owner, spec, (tx, [time]) => work(tx, tx.role.permissions, toNow(time)));
  }
  const caller = owner === 'installation' ? 'system' : owner;
  const spec = { on: 'installation', requires: 'operator', reads: [nowStep] } as const;
  return change(db, caller, spec, (tx, [time]) => work(tx, null, toNow(time)));
}

/** Changes one endpoint of an owner, under its lock. @throws webhook_endpoint_not_found (404) */
export const withEndpoint = <R>(
  db: TransactionScope,
  owner: Owner,
  endpointId: string,
  work: (tx: Change, endpoint: WebhookEndpoint, held: Held, now: Date) => Promise<R>,
): Promise<R> =>
  withOwner(db, owner, async (tx, held, now) => {
    const endpoint = await lockOne(tx, 'webhook_endpoint', endpointId);
    if (endpoint === null || endpoint.deletedAt || (endpoint.team?.id ?? null) !== teamOf(owner))
      throw new ProblemError('webhook_endpoint_not_found');
    return work(tx, endpoint, held, now);
  });

/** Returns whether the caller holds what an event needs. */
export function canSee(held: Held, type: string): boolean {
  const permission = requiredPermission(type);
  return held === null || permission === null || held.includes(permission);
}

/** Requires that the caller holds what events of these types need; none are all types. @throws permission_missing (403) */
export function requireVisible(held: Held, types: readonly string[]): void {
  if (held === null) return;
  for (const type of types.length === 0 ? TEAM_TYPES : types)
    requirePermission(held, requiredPermission(type) ?? undefined);
}
