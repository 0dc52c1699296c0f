import type { Principal } from '../../access/principal.ts';
import { statement, type Read } from '../../db/read.ts';

type TeamRow = {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  avatar_url: string | null;
  role_id: string;
  role_name: string;
};

const teamsOfAccount = statement<TeamRow>(
  'teams_of_account',
  `select t.id, t.name, t.slug, t.description, t.avatar_url, r.id as role_id, r.name as role_name
   from membership m
   join team t on t.id = m.team_id
   join role r on r.id = m.role_id
   where m.account_id = $1 and ($2::text is null or m.team_id = $2)
     and m.is_active and (m.expires_at is null or m.expires_at > now())
   order by t.name, t.id`,
);

const renameTeam = statement<{ name: string }>(
  'rename_team',
  `update team set name = $2, updated_at = now() where id = $1 returning name`,
);

/** The teams the credential reaches: all with an active membership, or the one of a team credential. */
export async function listTeams(read: Read, { accountId, teamId }: Principal) {
  const rows = await read(teamsOfAccount, [accountId, teamId]);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    avatarUrl: row.avatar_url,
    role: { id: row.role_id, name: row.role_name },
  }));
}

export async function updateTeam(read: Read, teamId: string, name: string): Promise<void> {
  await read(renameTeam, [teamId, name]);
}
