import { requirePermission, type Rights } from '../auth/permissions.ts';
import type { Operator, Principal } from '../auth/principal.ts';
import { activeMembership } from '../db/predicates.ts';
import { query } from '../db/query.ts';
import type { Permission, ProductPermission } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import { credentialValues, perCredential, type CallerCredential } from './live-caller.ts';

/** A team and the account that changes it. Excludes permissions, because those read before the lock can be outdated. */
export type TeamCaller = {
  readonly teamId: string;
  readonly accountId: string;
  /** Null if the transaction consumes it, such as an authorization code. */
  readonly credential: CallerCredential | null;
};

/** An operator key, or an account with the operator's role. */
export type OperatorCaller = { readonly operator: Operator };

/**
 * Who makes a change: an account that changes what is its own, a member of a team, an operator, somebody without a
 * credential, or the service itself (its jobs, its command line and its demo data), of which nothing is required.
 */
export type Caller = Principal | TeamCaller | OperatorCaller | 'visitor' | 'system';

/** The required role of a member: any, the owner’s, or one with a permission. */
export type Requirement = Permission | 'owner' | 'member';

/** The role of a member as it is under the lock of the team. */
export type HeldRole = Rights & { readonly id: string };

/** What `stateOfCallerStep` reads. */
export type CallerState = {
  readonly is_live: boolean;
  readonly role_id: string | null;
  readonly permissions: readonly Permission[] | null;
  readonly product_permissions: readonly ProductPermission[] | null;
};

const stateOfCaller = perCredential({ account: '$2', credential: '$3', family: '$4' }, (isLive, suffix) =>
  query<CallerState>(
    `caller_find_state_${suffix}`,
    `select ${isLive} as is_live, r.id as role_id, r.permissions, r.product_permissions
     from team t
     left join (membership m join role r on r.id = m.role_id)
       on m.team_id = t.id and m.account_id = $2 and ${activeMembership('m')}
     where t.id = $1`,
  ),
);

/** Reads the credential, membership and role of a caller. For `requireRole`, once the team is locked. */
export const stateOfCallerStep = ({ teamId, accountId, credential }: TeamCaller) =>
  [stateOfCaller(credential), [teamId, accountId, ...credentialValues(credential)]] as const;

/** @throws credential_invalid (401), team_not_found (404), permission_missing (403) */
export function requireRole(state: CallerState | undefined, requires: Requirement): HeldRole {
  if (state?.is_live === false) throw new ProblemError('credential_invalid');
  const { role_id: id = null, permissions, product_permissions: productPermissions } = state ?? {};
  if (id === null) throw new ProblemError('team_not_found');
  if (requires === 'owner') {
    if (id !== 'owner') throw new ProblemError('permission_missing', 'Only the owner of the team can do this.');
  } else if (requires !== 'member') {
    requirePermission(permissions ?? [], requires);
  }
  return { id, permissions: permissions ?? [], productPermissions: productPermissions ?? [] };
}
