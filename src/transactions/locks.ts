import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Account, Membership, Team } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';

/**
 * Locks the row under which a team's seats, roles and owner are decided. It comes before the locks
 * of accounts, memberships, invitations, roles and keys, so that no two writers wait for each other.
 */
export async function lockTeam(tx: EntityManager, teamId: string): Promise<Team> {
  const team = await tx.findOne(Team, teamId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (team === null) throw new ProblemError('team_not_found');
  return team;
}

/** Locks the caller's account. Whoever locks a team or several does so before. */
export async function lockAccount(tx: EntityManager, accountId: string): Promise<Account> {
  const account = await tx.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  // Deleted since the call was authenticated.
  if (account === null) throw new ProblemError('credential_invalid');
  return account;
}

/** Locks the account of an address, whatever its case. */
export async function lockAccountByEmail(tx: EntityManager, email: string): Promise<Account | null> {
  const [row] = await tx.execute<{ id: string }[]>('select id from account where lower(email) = lower(?) for update', [
    email,
  ]);
  return row === undefined ? null : tx.findOne(Account, row.id);
}

/** Whether two spellings are one address. */
export const isSameAddress = (a: string | null | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();

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
