import { command, query, type Step } from '../../db/query.ts';
import { roleRights, type TeamRole } from '../roles/find-team-role.ts';

export const roleOfInvitation = query<Omit<TeamRole, 'is_system'> & { email: string }>(
  'role_find_of_invitation',
  `select r.id, r.name, ${roleRights('r')}, i.email from invitation i join role r on r.id = i.role_id where i.id = $1`,
);

const insertInvitation = command<never>(
  'invitation_insert',
  `insert into invitation (id, created_at, team_id, email, role_id, invited_by_id, expires_at, client_id)
   values ($1, $2::timestamptz, $3, $4, $5, $6, $7::timestamptz, $8)`,
);

const renewInvitation = command<never>(
  'invitation_update',
  `update invitation set email = coalesce($2, email), role_id = coalesce($3, role_id), invited_by_id = $4,
     is_sender_deleted = false, expires_at = $5::timestamptz, client_id = coalesce($6, client_id)
   where id = $1`,
);

const deleteInvitation = command<never>('invitation_delete', 'delete from invitation where id = $1');

const insertLink = command<never>(
  'invitation_link_insert',
  `insert into invitation_link (token_hash, invitation_id, proves_mailbox, created_at)
   values ($1, $2, $3::boolean, now())`,
);

type Fields = {
  readonly id: string;
  readonly invitedBy: string;
  readonly expiresAt: Date;
  /** The application that sends it; null for none, which keeps that of an earlier one. */
  readonly clientId: string | null;
};
type Target = { readonly email: string; readonly roleId: string };

export const insertStep = (
  invitation: Fields & Target & { readonly teamId: string; readonly createdAt: Date },
): Step => {
  const { id, createdAt, teamId, email, roleId, invitedBy, expiresAt, clientId } = invitation;
  return [
    insertInvitation,
    [id, createdAt.toISOString(), teamId, email, roleId, invitedBy, expiresAt.toISOString(), clientId],
  ];
};

/** Without an email address and a role, both stay. */
export const renewStep = ({ id, email, roleId, invitedBy, expiresAt, clientId }: Fields & Partial<Target>): Step => [
  renewInvitation,
  [id, email ?? null, roleId ?? null, invitedBy, expiresAt.toISOString(), clientId],
];

/** Deletes an invitation with its links. */
export const deleteStep = (id: string): Step => [deleteInvitation, [id]];

/** @param provesMailbox false for a link that the inviter shares */
export const linkStep = (invitationId: string, tokenHash: Buffer, provesMailbox: boolean): Step => [
  insertLink,
  [tokenHash, invitationId, String(provesMailbox)],
];
