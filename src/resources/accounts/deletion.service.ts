import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { QUEUE_JOBS } from '../../db/queue-tables.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { eraseAccount } from '../../events/feed/erase.ts';
import { record } from '../../events/record.ts';
import { lockMany, lockOne, lockRows } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { lockCaller } from '../../transactions/with-account.ts';
import { disableEndpoints } from '../../transactions/disable-webhooks.ts';
import { lockClientGrants, removeClients } from '../../transactions/remove-clients.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import { enqueueRemoval } from '../../jobs/remove-client.ts';
import { removeEndpoints } from '../../jobs/remove-endpoint.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account, Invitation, Team } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';

/**
 * Deletes the caller's account, everything it owns, and the teams of which it is the only member.
 * @throws account_owns_teams; last_operator (409) if the instance would have no operator
 */
export async function deleteAccount(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal,
): Promise<void> {
  const { db } = services;
  await requireRecentProof(db, principal);
  // Try again if the account became the owner of another team before it was locked: teams are locked first.
  const lock = async (tx: EntityManager) => {
    const account = await lockCaller(tx, principal);
    if (account.role === 'admin') await requireOtherOperator(tx, account.id);
    return account;
  };
  while (!(await transaction(db, (tx) => remove(tx, principal.accountId, () => lock(tx))))) continue;
  browserClient.clearSession();
}

/**
 * Deletes an account for the operator, without a proof.
 * @param open opens the transaction, if more has to be checked in it
 * @param lock locks the account, if more has to be locked or checked with it
 * @throws account_not_found, account_owns_teams
 */
export async function deleteAccountAsOperator(
  db: TransactionScope,
  accountId: string,
  open: typeof transaction<boolean> = transaction,
  lock: (tx: EntityManager) => Promise<Account> = (tx) => requireAccount(tx, accountId),
): Promise<void> {
  while (!(await open(db, (tx) => remove(tx, accountId, () => lock(tx))))) continue;
}

/**
 * Requires an operator besides the account, which is locked. Two who delete themselves take turns, so that the second
 * one sees what the first did.
 */
async function requireOtherOperator(tx: EntityManager, accountId: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(?)', [ADVISORY_LOCKS.operator]);
  const [other] = await tx.execute<unknown[]>(
    `select 1 from account where role = 'admin' and disabled_at is null and id <> ? limit 1`,
    [accountId],
  );
  if (other === undefined) throw new ProblemError('last_operator');
}

async function requireAccount(tx: EntityManager, accountId: string): Promise<Account> {
  const account = await lockOne(tx, 'account', accountId);
  if (account === null) throw new ProblemError('account_not_found');
  return account;
}

/** @returns false, with nothing changed, if a team would have to be locked after the account */
async function remove(tx: EntityManager, accountId: string, lock: () => Promise<Account>): Promise<boolean> {
  const teamIds = await listOwnedTeams(tx, accountId);
  await lockMany(tx, 'team', { id: { $in: teamIds } });
  const account = await lock();
  const { email, emailVerifiedAt } = account;
  const owned = await listOwnedTeams(tx, accountId);
  if (owned.some((id) => !teamIds.includes(id))) return false;

  for (const teamId of owned) {
    const others = await tx.execute<unknown[]>(
      'select 1 from membership where team_id = ? and account_id <> ? limit 1',
      [teamId, accountId],
    );
    if (others.length > 0) throw new ProblemError('account_owns_teams');
  }
  await lockRows(tx, 'session', 'select id from session where account_id = ?', [accountId]);
  await notify(tx, accountId, { kind: 'account_deleted' });
  if (email && emailVerifiedAt) await deleteEmailAddress(tx, accountId, email);
  await lockRows(tx, 'membership', 'select id from membership where account_id = ?', [accountId]);
  // The account's OAuth clients are deleted with it, and with them the grants of other users.
  const clients = await lockMany(tx, 'oauth_client', { account: accountId });
  const removal = await lockClientGrants(
    tx,
    clients.map(({ id }) => id),
  );
  await revokeGrants(tx, { account: accountId }, 'account deleted');
  await enqueueRemoval(tx, await removeClients(tx, removal));
  await lockRows(tx, 'api_key', 'select id from api_key where account_id = ?', [accountId]);
  for (const teamId of owned) {
    await removeEndpoints(tx, { teamId });
    await tx.nativeDelete(Team, { id: teamId });
    record(tx, 'team.deleted', { accountId, teamId, reason: 'account deleted' });
  }
  // Memberships are deleted with the account, so record an event for each team.
  const left = await tx.execute<{ team_id: string }[]>(
    'select team_id from membership where account_id = ? order by team_id',
    [accountId],
  );
  for (const { team_id: teamId } of left) record(tx, 'member.left', { accountId, teamId, reason: 'account deleted' });
  await tx.execute('delete from sign_up_attempt where lower(email) = lower(?)', [account.email ?? '']);
  await disableEndpoints(tx, { account: accountId }, 'member_left');
  await tx.nativeDelete(Account, { id: accountId });
  record(tx, 'account.deleted', { accountId });
  await eraseAccount(tx, { accountId, teamIds: owned, verifiedEmail: emailVerifiedAt ? (email ?? null) : null });
  return true;
}

/**
 * Deletes other rows that contain the verified email address of the account. Its notices are still sent, and their jobs
 * deleted afterwards. An unverified address may belong to someone else, so its invitations stay.
 */
async function deleteEmailAddress(tx: EntityManager, accountId: string, email: string): Promise<void> {
  const ids = await tx.execute<{ id: string }[]>('select id from invitation where lower(email) = lower(?)', [email]);
  const invitations = await lockMany(tx, 'invitation', { id: { $in: ids.map(({ id }) => id) } });
  for (const { id: invitationId, team, acceptedAt } of invitations) {
    await tx.nativeDelete(Invitation, { id: invitationId });
    if (!acceptedAt)
      record(tx, 'invitation.revoked', { accountId, teamId: team.id, invitationId, reason: 'account deleted' });
  }
  await tx.execute('delete from sent_mail where recipient = lower(?)', [email]);
  await tx.execute(
    `delete from ${QUEUE_JOBS}
     where payload->>'accountId' = ? and payload->>'sealedToken' is not null and locked_at is null`,
    [accountId],
  );
}

async function listOwnedTeams(tx: EntityManager, accountId: string): Promise<string[]> {
  const rows = await tx.execute<{ team_id: string }[]>(
    `select team_id from membership where account_id = ? and role_id = 'owner' order by team_id`,
    [accountId],
  );
  return rows.map(({ team_id: id }) => id);
}
