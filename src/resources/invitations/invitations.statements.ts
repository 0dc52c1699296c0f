import { command, query, type Step } from '../../db/query.ts';
import type { Permission } from '../../entities/index.ts';

export const roleOfInvitation = query<{ id: string; permissions: Permission[] }>(
  'role_of_invitation',
  'select r.id, r.permissions from invitation i join role r on r.id = i.role_id where i.id = $1',
);

const insertInvitation = command<never>(
  'insert_invitation',
  `insert into invitation (id, created_at, team_id, email, role_id, invited_by_id, expires_at)
   values ($1, $2::timestamptz, $3, $4, $5, $6, $7::timestamptz)`,
);

const renewInvitation = command<never>(
  'renew_invitation',
  `update invitation set email = coalesce($2, email), role_id = coalesce($3, role_id), invited_by_id = $4,
     expires_at = $5::timestamptz
   where id = $1`,
);

const deleteInvitation = command<never>('delete_invitation', 'delete from invitation where id = $1');

const insertLink = command<never>(
  'insert_invitation_link',
  `insert into invitation_link (token_hash, invitation_id, proves_mailbox, created_at)
   values ($1, $2, $3::boolean, $4::timestamptz)`,
);

type Fields = { readonly id: string; readonly invitedBy: string; readonly expiresAt: Date };
type Target = { readonly email: string; readonly roleId: string };

export const insertStep = (
  invitation: Fields & Target & { readonly teamId: string; readonly createdAt: Date },
): Step => {
  const { id, createdAt, teamId, email, roleId, invitedBy, expiresAt } = invitation;
  return [insertInvitation, [id, createdAt.toISOString(), teamId, email, roleId, invitedBy, expiresAt.toISOString()]];
};

/** Without an email address and a role, both stay. */
export const renewStep = ({ id, email, roleId, invitedBy, expiresAt }: Fields & Partial<Target>): Step => [
  renewInvitation,
  [id, email ?? null, roleId ?? null, invitedBy, expiresAt.toISOString()],
];

/** Deletes an invitation with its links. */
export const deleteStep = (id: string): Step => [deleteInvitation, [id]];

/** @param provesMailbox false for a link that the inviter shares */
export const linkStep = (invitationId: string, tokenHash: Buffer, provesMailbox: boolean): Step => [
  insertLink,
  [tokenHash, invitationId, String(provesMailbox), new Date().toISOString()],
];
