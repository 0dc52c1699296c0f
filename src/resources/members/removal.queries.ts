import { activeMembership, liveApiKey, liveGrant, pendingInvitation, privilegedRole } from '../../db/predicates.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';

/** How many API keys one page of a removal has. */
export const KEYS_OF_PAGE = 50;

type RemovalRow = {
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  role_id: string;
  role_name: string;
  is_active: boolean;
  is_offered: boolean;
  api_key_count: number;
  api_keys: { id: string; name: string; last4: string }[];
  oauth_grants: number;
  ending_invitations: number;
  other_invitations: number;
};

const KEYS = `from api_key k where k.team_id = m.team_id and k.account_id = m.account_id and ${liveApiKey('k')}`;

const INVITATIONS = `from invitation i join role granted on granted.id = i.role_id
  where i.team_id = m.team_id and i.invited_by_id = m.account_id and ${pendingInvitation('i')}`;

const plannedRemoval = query<RemovalRow>(
  'membership_find_planned_removal',
  `select a.email, a.first_name, a.last_name, m.role_id, r.name as role_name, ${activeMembership('m')} as is_active,
     exists (
       select from ownership_transfer o where o.team_id = m.team_id and o.nominee_id = m.account_id and o.expires_at > now()
     ) as is_offered,
     (select count(*)::int ${KEYS}) as api_key_count,
     coalesce(
       (
         select json_agg(json_build_object('id', p.id, 'name', p.name, 'last4', p.last4) order by p.created_at, p.id)
         from (select k.id, k.name, k.last4, k.created_at ${KEYS} order by k.created_at, k.id
               limit ${KEYS_OF_PAGE} offset $3::int) p
       ),
       '[]'
     ) as api_keys,
     (select count(*)::int ${INVITATIONS} and ${privilegedRole('granted')}) as ending_invitations,
     (select count(*)::int ${INVITATIONS} and not ${privilegedRole('granted')}) as other_invitations,
     (
       select count(*)::int from oauth_grant g
       where g.team_id = m.team_id and g.account_id = m.account_id and ${liveGrant('g')}
     ) as oauth_grants
   from membership m
   join account a on a.id = m.account_id
   join role r on r.id = m.role_id
   where m.team_id = $1 and m.account_id = $2`,
);

type Removal = { readonly teamId: string; readonly accountId: string; readonly offset: number };

/** Returns the member, and what removing them would revoke, with one page of the API keys. */
export async function planRemoval(db: QueryRunner, { teamId, accountId, offset }: Removal) {
  const [row] = await db.query(plannedRemoval, [teamId, accountId, offset]);
  if (row === undefined) throw new ProblemError('member_not_found');
  if (row.role_id === 'owner') throw new ProblemError('owner_not_removable');
  return {
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    roleId: row.role_id,
    roleName: row.role_name,
    isActive: row.is_active,
    apiKeys: row.api_keys,
    apiKeyCount: row.api_key_count,
    oauthGrants: row.oauth_grants,
    ownershipOffer: row.is_offered,
    endingInvitations: row.ending_invitations,
    otherInvitations: row.other_invitations,
  };
}
