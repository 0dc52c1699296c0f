import { activeMembership, liveApiKey, liveGrant, pendingInvitation, privilegedRole } from '../../db/predicates.ts';
import { instant, list, type ListRunner } from '../../db/lists/list.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { Permission } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { memberOutput, memberWithTermsOutput } from './members.schema.ts';

const MEMBER = `m.id as "membershipId", a.id as "userId", a.email, a.first_name as "firstName", a.last_name as "lastName",
     a.avatar, r.id as "roleId", r.name as "roleName", r.team_id is null as "isSystemRole",
     ${activeMembership('m')} as "isActive", ${instant('m.joined_at')} as "joinedAt"`;

/** Selects the memberships of a team in the order of the list. */
const membersWith = (columns: string) => ({
  select: `select ${columns}
   from membership m
   join account a on a.id = m.account_id
   join role r on r.id = m.role_id
   where m.team_id = $1
   order by m.joined_at, m.id`,
  from: 'membership where team_id = $1',
});

const membersOfTeam = list('membership_list_of_team', memberOutput, membersWith(MEMBER));

const membersWithTerms = list(
  'membership_list_of_team_with_terms',
  memberWithTermsOutput,
  membersWith(`${MEMBER}, a.id as "accountId", ${instant('m.expires_at')} as "expiresAt"`),
);

type RemovalRow = {
  role_id: string;
  is_offered: boolean;
  api_keys: { id: string; name: string; last4: string }[];
  oauth_grants: number;
  invitations: { id: string; email: string; roleName: string; isEnding: boolean }[];
};

const removal = (from: string) => `select m.role_id,
     exists (
       select from ownership_transfer o where o.team_id = m.team_id and o.nominee_id = m.account_id and o.expires_at > now()
     ) as is_offered,
     coalesce(
       (
         select json_agg(json_build_object('id', k.id, 'name', k.name, 'last4', k.last4) order by k.created_at, k.id)
         from api_key k
         where k.team_id = m.team_id and k.account_id = m.account_id and ${liveApiKey('k')}
       ),
       '[]'
     ) as api_keys,
     coalesce(
       (
         select json_agg(json_build_object('id', i.id, 'email', i.email, 'roleName', granted.name,
           'isEnding', ${privilegedRole('granted')}) order by i.created_at, i.id)
         from invitation i join role granted on granted.id = i.role_id
         where i.team_id = m.team_id and i.invited_by_id = m.account_id and ${pendingInvitation('i')}
       ),
       '[]'
     ) as invitations,
     (
       select count(*)::int from oauth_grant g
       where g.team_id = m.team_id and g.account_id = m.account_id and ${liveGrant('g')}
     ) as oauth_grants
   from ${from}`;

const removalOfMember = query<RemovalRow>(
  'membership_find_removal',
  removal('membership m where m.team_id = $1 and m.account_id = $2'),
);

const removalOfMembers = query<RemovalRow>(
  'membership_list_removals',
  removal(`unnest(string_to_array($2, ' ')) with ordinality as of (id, position)
   join membership m on m.team_id = $1 and m.account_id = of.id
   where m.role_id <> 'owner' order by of.position`),
  { rows: 'many' },
);

/** Lists all memberships of a team, including inactive and expired ones. */
export const listTeamMembers = (db: ListRunner, teamId: string) => db.list(membersOfTeam, [teamId]);

/** Lists all memberships of a team with their expiry. */
export const listMembersWithTerms = (db: ListRunner, teamId: string) => db.list(membersWithTerms, [teamId]);

/**
 * Returns what removing a member would revoke: API keys, grants, an offer of ownership, and of the invitations that they
 * sent those to privileged roles. The others stay. Their addresses are shown to who could list them.
 */
export async function previewRemoval(db: QueryRunner, teamId: string, accountId: string, held: readonly Permission[]) {
  const [row] = await db.query(removalOfMember, [teamId, accountId]);
  if (row === undefined) throw new ProblemError('member_not_found');
  if (row.role_id === 'owner') throw new ProblemError('owner_not_removable');
  return present([row], held);
}

/** Returns what removing several members would revoke, like `previewRemoval`. Leaves out who is no member by now. */
export const previewRemovals = async (
  db: QueryRunner,
  teamId: string,
  accountIds: readonly string[],
  held: readonly Permission[],
) => present(await db.query(removalOfMembers, [teamId, [...new Set(accountIds)].join(' ')]), held);

function present(rows: readonly RemovalRow[], held: readonly Permission[]) {
  return {
    apiKeys: rows.flatMap((row) => row.api_keys),
    oauthGrants: rows.reduce((sum, row) => sum + row.oauth_grants, 0),
    ownershipOffer: rows.some((row) => row.is_offered),
    invitations: rows.flatMap((row) =>
      row.invitations.map((each) => ({ ...each, email: held.includes('invite_members') ? each.email : null })),
    ),
  };
}
