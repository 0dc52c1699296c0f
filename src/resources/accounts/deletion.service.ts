import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { QUEUE_JOBS } from '../../db/queue-tables.ts';
import { eraseAccount } from '../../events/feed/erase.ts';
import { ConflictError } from '../../db/errors.ts';
import { command, query } from '../../db/query.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { callerIsLiveStep } from '../../transactions/live-caller.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import { lockMany } from '../../transactions/locks.ts';
import { accountByEmailStep, isMoved, provenAddress } from '../../transactions/email-address.ts';
import { requireChangeable } from '../../transactions/operator-caller.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { endPrivilegedOf, noteSenderDeleted } from '../invitations/end-invitations.ts';
import { disableEndpoints } from '../../webhooks/disable.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import { logoutJobs } from '../../jobs/logouts.ts';
import { enqueueRemoval, lockClientGrants, removeClients } from '../../jobs/remove-client.ts';
import { removeEndpoints } from '../../jobs/remove-endpoint.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { notify } from '../../jobs/notify.ts';

const remainingTeams = query<{ team_id: string }>(
  'membership_list_of_deleted_account',
  'select team_id from membership where account_id = $1 order by team_id',
);

const queueLogouts = command<object>(
  'job_insert_logouts_of_account',
  logoutJobs('select id from session where account_id = $1 and revoked_at is null'),
);

const deleteInvitation = command<never>('invitation_delete_of_address', 'delete from invitation where id = $1');
const deleteTeam = command<never>('team_delete_of_account', 'delete from team where id = $1');
const deleteAccountRow = command<never>('account_delete', 'delete from account where id = $1');

const deleteAttemptsOfAddress = command<never>(
  'sign_up_attempt_delete_of_deleted_account',
  'delete from sign_up_attempt where lower(email) = lower($1)',
);

const invitationsOfAddress = query<{ id: string }>(
  'invitation_list_of_address',
  'select id from invitation where lower(email) = lower($1)',
);

const deleteSentMail = command<never>(
  'sent_mail_delete_of_account',
  'delete from sent_mail where recipient in (lower($1), $2)',
);

const deleteMailJobs = command<never>(
  'job_delete_of_account',
  `delete from ${QUEUE_JOBS}
   where locked_at is null and (
     payload->>'accountId' = $2 and payload->>'sealedToken' is not null
     or key like 'link:%' and split_part(key, ':', 3) = encode(sha256(lower($1)::bytea), 'hex'))`,
);

/** Locks the teams of an account, before the account. Repeat it then: a team can have come between. */
const lockOwnedTeams = lockRows(
  'team',
  'team_lock_owned',
  `select id from team
   where id = any(array(select team_id from membership where account_id = $1 and role_id = 'owner'))`,
);

const lockOfAccount = (table: 'session' | 'membership' | 'api_key') =>
  lockRows(table, `${table}_lock_of_deleted_account`, `select id from ${table} where account_id = $1`);
const [lockAllSessions, lockMemberships, lockKeys] = [
  lockOfAccount('session'),
  lockOfAccount('membership'),
  lockOfAccount('api_key'),
];

/** The account itself, or the operator, who needs no proof. */
type Deleter = Principal | OperatorCaller | 'system';

/**
 * Deletes an account, everything it owns, and the teams of which it is the only member.
 * @throws account_not_found, account_owns_teams; last_operator (409) if an operator deletes themselves and is the last
 */
export const deleteAccount = (db: TransactionScope, caller: Deleter, accountId: string): Promise<void> => {
  const first = [[lockOwnedTeams, [accountId]]] as const;
  const reads = [[findOwnedTeams, [accountId]]] as const;
  const spec = { on: { account: accountId }, requires: 'self', first, reads } as const;
  return change(db, caller, spec, async (opened, [locked, owned]) => {
    if (caller === 'system' || 'operator' in caller) requireChangeable(caller, opened.account);
    else if (opened.account.is_operator) await requireOtherOperator(opened, accountId);
    // Teams are locked before the account, which came to own another one meanwhile.
    if (owned.some(({ id }) => !locked.some((team) => team.id === id))) throw new ConflictError();
    await lockSessions(opened, caller, accountId);
    await remove(opened, accountId, owned);
  });
};

const findOwnedTeams = query<OwnedTeam>(
  'team_list_owned_to_delete',
  `select m.team_id as id,
     exists (select from membership o where o.team_id = m.team_id and o.account_id <> $1) as has_others
   from membership m where m.account_id = $1 and m.role_id = 'owner' order by m.team_id`,
);

type OwnedTeam = { id: string; has_others: boolean };

const lockOperators = command<object>('account_lock_operators', 'select from pg_advisory_xact_lock($1)');

const otherOperator = query<object>(
  'account_find_other_operator',
  `select from account where role = 'admin' and disabled_at is null and id <> $1 limit 1`,
);

/**
 * Requires an operator besides the account, which is locked. Two who delete themselves take turns, so that the second
 * one sees what the first did.
 */
async function requireOtherOperator({ run }: Change, accountId: string): Promise<void> {
  const [, [other]] = await run([
    [lockOperators, [ADVISORY_LOCKS.operator]],
    [otherOperator, [accountId]],
  ]);
  if (other === undefined) throw new ProblemError('last_operator');
}

/**
 * Locks the sessions, and looks then whether that of the caller was revoked meanwhile: at the commit it is deleted.
 * @throws credential_invalid
 */
async function lockSessions({ run }: Change, caller: Deleter, accountId: string): Promise<void> {
  await run([[lockAllSessions, [accountId]]]);
  if (caller === 'system' || 'operator' in caller) return;
  const [[state]] = await run([callerIsLiveStep(caller)]);
  if (state?.is_live !== true) throw new ProblemError('credential_invalid');
}

async function remove(tx: Change, accountId: string, teams: readonly OwnedTeam[]): Promise<void> {
  const account = await tx.em.findOneOrFail(Account, accountId);
  const address = await ownAddress(tx, account);
  if (teams.some(({ has_others: hasOthers }) => hasOthers)) throw new ProblemError('account_owns_teams');
  const owned = teams.map(({ id }) => id);
  tx.later([queueLogouts, [accountId]]);
  await notify(tx, accountId, { kind: 'account_deleted' });
  if (address !== null) await deleteEmailAddress(tx, accountId, address);
  // Without their sender they would be like the operator's. Those of teams that are deleted go with them.
  await endPrivilegedOf(tx, accountId, { reason: 'account deleted', accountId }, owned);
  await noteSenderDeleted(tx, accountId);
  await tx.run([[lockMemberships, [accountId]]]);
  // The account's OAuth clients are deleted with it, and with them the grants of other users.
  const clients = await lockMany(tx, 'oauth_client', { account: accountId });
  const removal = await lockClientGrants(
    tx,
    clients.map(({ id }) => id),
  );
  await revokeGrants(tx, { account: accountId }, 'account deleted');
  await enqueueRemoval(tx, await removeClients(tx, removal));
  await tx.run([[lockKeys, [accountId]]]);
  for (const teamId of owned) {
    await removeEndpoints(tx, { teamId });
    tx.later([deleteTeam, [teamId]]);
    tx.record('team.deleted', { accountId, teamId, reason: 'account deleted' });
  }
  // Memberships are deleted with the account, so record an event for each team.
  const [left] = await tx.run([[remainingTeams, [accountId]]]);
  for (const { team_id: teamId } of left) tx.record('member.left', { accountId, teamId, reason: 'account deleted' });
  tx.later([deleteAttemptsOfAddress, [account.email ?? '']]);
  await disableEndpoints(tx, { account: accountId }, 'member_left');
  tx.later([deleteAccountRow, [accountId]]);
  tx.record('account.deleted', { accountId });
  await eraseAccount(tx.em, { accountId, teamIds: owned, verifiedEmail: address });
}

/** Returns the address that the account proved last, unless it was moved and another account has it by now. */
async function ownAddress(tx: Change, account: Account): Promise<string | null> {
  const address = provenAddress(account);
  if (address === null || !isMoved(account)) return address;
  const [[other]] = await tx.run([accountByEmailStep(address)]);
  return other === undefined ? address : null;
}

/**
 * Deletes other rows that contain the verified email address of the account. Its notices are still sent, and their jobs
 * deleted afterwards. An unverified address may belong to someone else, so its invitations stay.
 */
async function deleteEmailAddress(tx: Change, accountId: string, email: string): Promise<void> {
  const [ids] = await tx.run([[invitationsOfAddress, [email]]]);
  const invitations = await lockMany(tx, 'invitation', { id: { $in: ids.map(({ id }) => id) } });
  for (const { id: invitationId, team, acceptedAt } of invitations) {
    tx.later([deleteInvitation, [invitationId]]);
    if (!acceptedAt)
      tx.record('invitation.revoked', { accountId, teamId: team.id, invitationId, reason: 'account deleted' });
  }
  // Notices are counted by the id of the account.
  tx.later([deleteSentMail, [email, accountId]]);
  tx.later([deleteMailJobs, [email, accountId]]);
}
