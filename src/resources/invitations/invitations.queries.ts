import { iso, statement, type Read } from '../../db/read.ts';

type InvitationRow = {
  id: string;
  email: string;
  role_id: string;
  role_name: string;
  is_system_role: boolean;
  created_at: string;
  expires_at: string;
};

const pendingInvitations = statement<InvitationRow>(
  'pending_invitations',
  `select i.id, i.email, i.role_id, r.name as role_name, r.team_id is null as is_system_role, i.created_at, i.expires_at
   from invitation i
   join role r on r.id = i.role_id
   where i.team_id = $1 and i.accepted_at is null and i.expires_at > now()
   order by i.created_at, i.id`,
);

const deletePending = statement<{ id: string }>(
  'delete_pending_invitation',
  `delete from invitation
   where id = $1 and team_id = $2 and accepted_at is null and expires_at > now()
   returning id`,
);

export async function listTeamInvitations(read: Read, teamId: string) {
  const rows = await read(pendingInvitations, [teamId]);
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    roleId: row.role_id,
    roleName: row.role_name,
    isSystemRole: row.is_system_role,
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
  }));
}

/** Removes a pending invitation and its links. @returns whether there was one. */
export async function deletePendingInvitation(read: Read, teamId: string, invitationId: string): Promise<boolean> {
  const rows = await read(deletePending, [invitationId, teamId]);
  return rows.length > 0;
}
