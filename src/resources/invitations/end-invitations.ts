import { abandonedInvitation, openInvitation, privilegedRole } from '../../db/predicates.ts';
import { command } from '../../db/query.ts';
import type { EventFields } from '../../events/event.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import type { Change } from '../../transactions/steps.ts';

/** Why invitations to privileged roles end with their senders. */
export const ABANDONED = 'its sender can no longer send it';

const deleteInvitations = command<never>(
  'invitation_delete_many',
  `delete from invitation where id = any(string_to_array($1, ' '))`,
);

type Sent = { readonly id: string };

/** Deletes locked invitations of a team with their links. */
export async function endInvitations(
  change: Change,
  teamId: string,
  sent: readonly Sent[],
  reason: string,
): Promise<void> {
  if (sent.length === 0) return;
  change.later([deleteInvitations, [sent.map(({ id }) => id).join(' ')]]);
  await change.record(
    'invitation.revoked',
    sent.map(({ id: invitationId }) => ({ teamId, invitationId, reason })),
  );
}

const endAbandoned = command<{ id: string }>(
  'invitation_delete_abandoned',
  `delete from invitation i where i.team_id = $1 and ${abandonedInvitation('i')} returning i.id`,
);

/**
 * Ends the invitations of a locked team to privileged roles whose senders can no longer send them. Call it after each
 * change that takes permissions from members, and before one that gives them back: an invitation that ended with an expiry
 * must not come back with the membership.
 */
export async function endAbandonedInvitations(change: Change, teamId: string): Promise<void> {
  const [ended] = await change.run([[endAbandoned, [teamId]]]);
  await change.record(
    'invitation.revoked',
    ended.map(({ id: invitationId }) => ({ teamId, invitationId, reason: ABANDONED })),
  );
}

const OF_SENDER = 'invited_by_id = $1 and accepted_at is null';
const lockOfSender = lockRows(
  'invitation',
  'invitation_lock_of_deleted_sender',
  `select id from invitation where ${OF_SENDER}`,
);
const noteDeletedSender = command<never>(
  'invitation_update_sender_deleted',
  `update invitation set is_sender_deleted = true, invited_by_id = null where ${OF_SENDER}`,
);

/**
 * Notes on the invitations of a locked account that is deleted that they had a sender: they end if their role becomes
 * privileged. Call it after `endPrivilegedOf`.
 */
export async function noteSenderDeleted(tx: Change, accountId: string): Promise<void> {
  await tx.run([[lockOfSender, [accountId]]]);
  // Both in one statement: PostgreSQL would lock the team to check a row that it changes for the second time, and the
  // deletion of the account would change it.
  tx.later([noteDeletedSender, [accountId]]);
}

const lockPrivilegedOfSender = lockRows<{ id: string; team_id: string }>(
  'invitation',
  'invitation_lock_privileged_of_sender',
  `select id, team_id from invitation i where invited_by_id = $1 and ${openInvitation('i')}
     and exists (select from role r where r.id = i.role_id and ${privilegedRole('r')})`,
);

/**
 * Ends the invitations to privileged roles that a locked account sent, in all teams but some. Lock no teams for it: it only
 * makes seats free.
 */
export async function endPrivilegedOf(
  tx: Change,
  accountId: string,
  fields: EventFields,
  exceptTeams: readonly string[] = [],
): Promise<void> {
  const [rows] = await tx.run([[lockPrivilegedOfSender, [accountId]]]);
  const sent = rows.filter((row) => !exceptTeams.includes(row.team_id));
  if (sent.length > 0) tx.later([deleteInvitations, [sent.map(({ id }) => id).join(' ')]]);
  await tx.record(
    'invitation.revoked',
    sent.map(({ id: invitationId, team_id: teamId }) => ({ ...fields, teamId, invitationId })),
  );
}
