import { hashSecret } from '../../crypto/tokens.ts';
import type { Database } from '../../db/database.ts';
import { pendingInvitation } from '../../db/predicates.ts';
import { query } from '../../db/query.ts';
import { recordedCommand, runAndRecord } from '../../events/record.ts';

const deleteLinked = recordedCommand<{ id: string }>(
  'invitation_delete_by_link',
  `delete from invitation i
   using invitation_link l
   where l.token_hash = $1 and i.id = $2 and l.invitation_id = i.id and ${pendingInvitation('i')}
   returning i.id`,
  'invitation.declined',
);

const idOfLinked = query<{ id: string; team_id: string }>(
  'invitation_find_id_by_link',
  `select i.id, i.team_id from invitation_link l join invitation i on i.id = l.invitation_id where l.token_hash = $1`,
);

/** Deletes the pending invitation of a link. @returns false if the link is invalid */
export async function declineInvitation(db: Database, token: string): Promise<boolean> {
  const [linked] = await db.query(idOfLinked, [hashSecret(token)]);
  if (linked === undefined) return false;
  const { id: invitationId, team_id: teamId } = linked;
  const rows = await runAndRecord(db, deleteLinked, [hashSecret(token), invitationId], { teamId, invitationId });
  return rows.length > 0;
}
