import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey, Membership, OwnershipTransfer, Team, type Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { revokeGrants } from './grants.ts';
import { record } from './record.ts';
import type { ActiveMembership } from './principal.ts';

/** Whether a membership counts at this moment. */
export const isActiveNow = ({ isActive, expiresAt }: Pick<Membership, 'isActive' | 'expiresAt'>): boolean =>
  isActive && !isPast(expiresAt);

/** Whether a membership has an end, and it is over. */
export const isPast = (expiresAt: Date | null | undefined): boolean =>
  Boolean(expiresAt && expiresAt.getTime() <= Date.now());

/**
 * Locks the row under which a team's seats, roles and owner are decided. It comes before the locks
 * of accounts, memberships, invitations, roles and keys, so that no two writers wait for each other.
 */
export async function lockTeam(tx: EntityManager, teamId: string): Promise<Team> {
  const team = await tx.findOne(Team, teamId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (team === null) throw new ProblemError('team_not_found');
  return team;
}

/** What the caller is in the team now. */
export type Standing = { readonly roleId: string; readonly permissions: readonly Permission[] };

/**
 * Locks the team and looks again at what its caller may do: under the lock nobody's role changes any
 * more, so that a decision does not stand on what was true when the call began.
 */
export async function lockTeamAs(tx: EntityManager, { team, accountId }: ActiveMembership): Promise<Standing> {
  await lockTeam(tx, team.id);
  const [row] = await tx.execute<{ role_id: string; permissions: Permission[] }[]>(
    `select m.role_id, r.permissions
     from membership m
     join role r on r.id = m.role_id
     join account a on a.id = m.account_id
     where m.team_id = ? and m.account_id = ? and m.is_active and (m.expires_at is null or m.expires_at > now())
     for key share of a`,
    [team.id, accountId],
  );
  if (row === undefined) throw new ProblemError('team_not_found');
  return { roleId: row.role_id, permissions: row.permissions };
}

/**
 * Keeps accounts from being deleted until the transaction ends. It comes after the team's lock and
 * before those of anything that goes with an account, as the deletion of one locks it first too.
 */
export async function keepAccounts(tx: EntityManager, accountIds: readonly string[]): Promise<void> {
  await tx.execute(
    `select id from account where id in (${accountIds.map(() => '?').join(', ')}) order by id for key share`,
    [...accountIds],
  );
}

/** The membership of an account, whatever its state, locked. The team is locked already. */
export async function lockMembership(tx: EntityManager, teamId: string, accountId: string): Promise<Membership | null> {
  await keepAccounts(tx, [accountId]);
  return tx.findOne(Membership, { team: teamId, account: accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Ends a locked membership, and with it the account's grants and keys for the team and an offer of ownership to it. */
export async function endMembership(tx: EntityManager, membership: Membership): Promise<void> {
  const team = membership.team.id;
  const account = membership.account.id;
  await tx.nativeDelete(OwnershipTransfer, { team, nominee: account });
  await tx.nativeDelete(Membership, { id: membership.id });
  await revokeGrants(tx, { team_id: team, account_id: account }, 'membership ended');
  // In the order of their ids, as everywhere, so that writers of several keys cannot deadlock.
  const keys = await tx.execute<{ id: string }[]>(
    'select id from api_key where team_id = ? and account_id = ? and revoked_at is null order by id for update',
    [team, account],
  );
  await tx.nativeUpdate(ApiKey, { team, account, revokedAt: null }, { revokedAt: new Date() });
  for (const { id: keyId } of keys) {
    record(tx, 'api_key.revoked', { accountId: account, keyId, teamId: team, reason: 'membership ended' });
  }
}
