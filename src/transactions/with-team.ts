import type { EntityManager } from '@mikro-orm/postgresql';
import { requirePermission } from '../auth/permissions.ts';
import { activeMembership } from '../db/predicates.ts';
import { query } from '../db/query.ts';
import type { Membership, Permission, Team } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { credentialValues, perCredential, type CallerCredential } from './live-caller.ts';
import { lockMany, lockOne, lockShared } from './locks.ts';
import { runStep } from './steps.ts';
import { transaction, type TransactionScope } from './transaction.ts';

/** A team and the account that changes it. Excludes permissions, because those read before the lock can be outdated. */
export type TeamCaller = {
  readonly teamId: string;
  readonly accountId: string;
  /** Null if the transaction consumes it, such as an authorization code. */
  readonly credential: CallerCredential | null;
};

export type TeamTransaction = {
  readonly tx: EntityManager;
  readonly team: Team;
  /** The caller with the role that was read under the lock. */
  readonly caller: Omit<TeamCaller, 'credential'> & {
    readonly roleId: string;
    readonly permissions: readonly Permission[];
  };
};

/** The required role of the caller: any active member, the owner, or a member with a permission. */
export type Requirement = Permission | 'owner' | 'member';

type Options = {
  /** Locks the caller's account exclusively, for limits per account. By default only its deletion is prevented. */
  readonly account?: 'update';
};

/**
 * Changes a team on behalf of a caller: locks the team, reads the caller's credential, membership and role under the
 * lock, and only then runs `work`. Roles and memberships do not change while the team is locked.
 * @throws credential_invalid (401), team_not_found (404), permission_missing (403)
 */
export const withTeam = <R>(
  db: TransactionScope,
  caller: TeamCaller,
  requires: Requirement,
  work: (change: TeamTransaction) => Promise<R>,
  options?: Options,
): Promise<R> =>
  transaction(db, async (tx) => work(await lockTeamFor(tx, caller, requires, options)), { teamId: caller.teamId });

/** Locks a team and checks the caller like `withTeam`, in an open transaction. */
export async function lockTeamFor(
  tx: EntityManager,
  { teamId, accountId, credential }: TeamCaller,
  requires: Requirement,
  { account }: Options = {},
): Promise<TeamTransaction> {
  const team = await lockTeam(tx, teamId);
  if (account === 'update') await lockOne(tx, 'account', accountId);
  else await lockShared(tx, 'account', [accountId]);
  const [state] = await runStep(tx, stateOfCallerStep({ teamId, accountId, credential }));
  return { tx, team, caller: { teamId, accountId, ...requireCaller(state, requires) } };
}

type CallerState = {
  readonly is_live: boolean;
  readonly role_id: string | null;
  readonly permissions: readonly Permission[] | null;
};

const stateOfCaller = perCredential({ account: '$2', credential: '$3', family: '$4' }, (isLive, suffix) =>
  query<CallerState>(
    `state_of_caller_${suffix}`,
    `select ${isLive} as is_live, r.id as role_id, r.permissions
     from team t
     left join (membership m join role r on r.id = m.role_id)
       on m.team_id = t.id and m.account_id = $2 and ${activeMembership('m')}
     where t.id = $1`,
  ),
);

/** Reads the credential, membership and role of a caller. For `requireCaller`, once the team is locked. */
export const stateOfCallerStep = ({ teamId, accountId, credential }: TeamCaller) =>
  [stateOfCaller(credential), [teamId, accountId, ...credentialValues(credential)]] as const;

/** @throws credential_invalid (401), team_not_found (404), permission_missing (403) */
export function requireCaller(
  state: CallerState | undefined,
  requires: Requirement,
): Pick<TeamTransaction['caller'], 'roleId' | 'permissions'> {
  if (state?.is_live === false) throw new ProblemError('credential_invalid');
  const { role_id: roleId = null, permissions } = state ?? {};
  if (roleId === null) throw new ProblemError('team_not_found');
  if (requires === 'owner') {
    if (roleId !== 'owner') throw new ProblemError('permission_missing', 'Only the owner of the team can do this.');
  } else if (requires !== 'member') {
    requirePermission(permissions ?? [], requires);
  }
  return { roleId, permissions: permissions ?? [] };
}

/** Changes a team for the operator or for demo data, without any permission. */
export const withTeamAsOperator = <R>(
  db: TransactionScope,
  teamId: string,
  work: (change: Pick<TeamTransaction, 'tx' | 'team'>) => Promise<R>,
): Promise<R> => transaction(db, async (tx) => work({ tx, team: await lockTeam(tx, teamId) }), { teamId });

/** Locks a team without any check of permissions. */
export async function lockTeam(tx: EntityManager, teamId: string): Promise<Team> {
  const team = await lockOne(tx, 'team', teamId);
  if (team === null) throw new ProblemError('team_not_found');
  return team;
}

/** Locks a membership of the locked team, whatever its status, and prevents the deletion of its account. */
export async function lockMember(tx: EntityManager, teamId: string, accountId: string): Promise<Membership | null> {
  await lockShared(tx, 'account', [accountId]);
  return lockMembership(tx, teamId, accountId);
}

/** Locks a membership like `lockMember`, if the account is already locked. */
export async function lockMembership(tx: EntityManager, teamId: string, accountId: string): Promise<Membership | null> {
  const [membership] = await lockMany(tx, 'membership', { team: teamId, account: accountId });
  return membership ?? null;
}
