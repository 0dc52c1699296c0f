import { hashSecret } from '../../crypto/tokens.ts';
import { activeMembership, pendingInvitation } from '../../db/predicates.ts';
import { instant, list, type ListRunner } from '../../db/lists/list.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';
import { invitationOutput, openInvitationOutput } from './invitations.schema.ts';

type InvitationRow = {
  id: string;
  email: string;
  role_id: string;
  role_name: string;
  is_system_role: boolean;
  created_at: string;
  expires_at: string;
};

type LinkedRow = {
  team_name: string;
  role_name: string;
  inviter_name: string | null;
  email: string;
  expires_at: string;
  proves_mailbox: boolean;
  has_account: boolean;
  client_id: string | null;
  accepted_team_id: string | null;
};

const INVITATION = `i.id, i.email, i.role_id as "roleId", r.name as "roleName", r.team_id is null as "isSystemRole",
     ${instant('i.created_at')} as "createdAt", ${instant('i.expires_at')} as "expiresAt"`;

const invitationsOfTeam = list('invitation_list_pending', invitationOutput, {
  select: `select ${INVITATION}
   from invitation i
   join role r on r.id = i.role_id
   where i.team_id = $1 and ${pendingInvitation('i')}
   order by i.created_at, i.id`,
  from: 'invitation where team_id = $1 and accepted_at is null',
  rows: 'many',
});

const pendingInvitationById = query<InvitationRow>(
  'invitation_find_pending',
  `select i.id, i.email, i.role_id, r.name as role_name, r.team_id is null as is_system_role, i.created_at, i.expires_at
   from invitation i
   join role r on r.id = i.role_id
   where i.id = $2 and i.team_id = $1 and ${pendingInvitation('i')}`,
);

const openInvitations = list('invitation_list_open', openInvitationOutput, {
  select: `select ${INVITATION}, ${instant('sent_at')} as "sentAt", is_expired as "isExpired",
     (select l.email_failure from invitation_link l where l.invitation_id = i.id and l.proves_mailbox
      order by l.created_at desc limit 1) as "emailFailure"
   from invitation i
   join role r on r.id = i.role_id
   cross join lateral (select
     coalesce((select max(l.created_at) from invitation_link l where l.invitation_id = i.id), i.created_at) as sent_at,
     not (${pendingInvitation('i')}) as is_expired) state
   where i.team_id = $1 and i.accepted_at is null
   order by is_expired, sent_at desc, i.id`,
  from: 'invitation where team_id = $1 and accepted_at is null',
  rows: 'many',
});

const invitationOfLink = query<LinkedRow>(
  'invitation_find_by_link',
  `select t.name as team_name, r.name as role_name, i.email, i.expires_at, l.proves_mailbox, i.client_id,
     case when i.accepted_at is not null then i.team_id end as accepted_team_id,
     coalesce(nullif(trim(concat_ws(' ', inviter.first_name, inviter.last_name)), ''), inviter.email) as inviter_name,
     exists (select from account a where lower(a.email) = lower(i.email) and a.email_verified_at is not null) as has_account
   from invitation_link l
   join invitation i on i.id = l.invitation_id
   join team t on t.id = i.team_id
   join role r on r.id = i.role_id
   left join account inviter on inviter.id = i.invited_by_id
   where l.token_hash = $1 and (${pendingInvitation('i')} or i.accepted_at is not null and exists (
     select from account a join membership m on m.account_id = a.id
     where a.id = $2 and lower(a.email) = lower(i.email) and a.email_verified_at is not null
       and m.team_id = i.team_id and ${activeMembership('m')}))`,
);

export const listTeamInvitations = (db: ListRunner, teamId: string) => db.list(invitationsOfTeam, [teamId]);

export async function findPendingInvitation(db: QueryRunner, teamId: string, invitationId: string) {
  const [row] = await db.query(pendingInvitationById, [teamId, invitationId]);
  return row === undefined ? null : present(row);
}

/** Lists the invitations that were not accepted, newest first, including expired ones until they are deleted. */
export const listOpenInvitations = (db: ListRunner, teamId: string) => db.list(openInvitations, [teamId]);

const present = (row: InvitationRow) => ({
  id: row.id,
  email: row.email,
  roleId: row.role_id,
  roleName: row.role_name,
  isSystemRole: row.is_system_role,
  createdAt: iso(row.created_at),
  expiresAt: iso(row.expires_at),
});

/**
 * Returns what a link reveals about its pending invitation, and the application that sent it; null if the link is invalid. `hasAccount` is null for a
 * copied link, because the inviter must not learn whether the email address has an account.
 * @param accountId of a signed-in reader, who is told that they have accepted it
 */
export async function readInvitation(db: QueryRunner, token: string, accountId: string | null) {
  const [row] = await db.query(invitationOfLink, [hashSecret(token), accountId]);
  if (row === undefined) return null;
  const invitation = {
    teamName: row.team_name,
    roleName: row.role_name,
    inviterName: row.inviter_name,
    email: row.email,
    expiresAt: iso(row.expires_at),
    provesMailbox: row.proves_mailbox,
    hasAccount: row.proves_mailbox ? row.has_account : null,
    ...(row.accepted_team_id !== null && { acceptedTeamId: row.accepted_team_id }),
  };
  return { invitation, clientId: row.client_id };
}
