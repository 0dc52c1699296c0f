import { MEMBERSHIP_COLUMNS, toMembership, type MembershipColumns } from '../../auth/find-credential.ts';
import type { ActiveMembership, Principal } from '../../auth/principal.ts';
import { activeMembership } from '../../db/predicates.ts';
import { list, type ListRunner } from '../../db/lists/list.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';
import { toAccountIds } from '../members/member-id.ts';
import { teamOutput } from './teams.schema.ts';

const teamsOfAccount = list('team_list_of_account', teamOutput, {
  select: `select t.id, t.name, t.slug, t.description, t.avatar_url as "avatarUrl",
     (select row_to_json(held) from (select r.id, r.name) held) as role
   from membership m
   join team t on t.id = m.team_id
   join role r on r.id = m.role_id
   where m.account_id = $1 and ($2::text is null or m.team_id = $2) and ${activeMembership('m')}
   order by t.name, t.id`,
  from: 'membership where account_id = $1',
});

const membershipOfSlug = query<MembershipColumns & { team_id: string }>(
  'membership_find_by_slug',
  `select t.id as team_id, ${MEMBERSHIP_COLUMNS}
   from team t
   join membership m on m.team_id = t.id and m.account_id = $2 and ${activeMembership('m')}
   join role r on r.id = m.role_id
   where t.slug = $1`,
);

type OfferRow = {
  nominee_id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  expires_at: string;
};

const offerOfTeam = query<OfferRow>(
  'ownership_transfer_find_of_team',
  `select o.nominee_id, a.email, a.first_name, a.last_name, o.expires_at
   from ownership_transfer o
   join account a on a.id = o.nominee_id
   where o.team_id = $1 and o.expires_at > now()`,
);

const offersToAccount = query<{ team_id: string; team_name: string; expires_at: string }>(
  'ownership_transfer_list_to_account',
  `select o.team_id, t.name as team_name, o.expires_at
   from ownership_transfer o
   join team t on t.id = o.team_id
   join membership m on m.team_id = o.team_id and m.account_id = o.nominee_id
   where o.nominee_id = $1 and o.expires_at > now()
     and ${activeMembership('m')}
   order by t.name, t.id`,
);

/** Lists the teams that a credential gives access to: those with an active membership, or the one of a team credential. */
export const listTeams = (db: ListRunner, { accountId, teamId }: Principal) =>
  db.list(teamsOfAccount, [accountId, teamId]);

/** Returns the active membership of an account in the team with a slug, or null. */
export async function findMembershipBySlug(db: QueryRunner, accountId: string, slug: string) {
  const [row] = await db.query(membershipOfSlug, [slug, accountId]);
  return row === undefined ? null : toMembership(row, accountId, row.team_id);
}

/** Returns the open offer of a team, or null. Only the nominee and callers who can list the members see name and email address. */
export async function findOwnershipOffer(db: QueryRunner, { team, accountId, permissions }: ActiveMembership) {
  const [row] = await db.query(offerOfTeam, [team.id]);
  if (row === undefined) return null;
  const isVisible = row.nominee_id === accountId || permissions.includes('access_dashboard');
  return {
    nominee: {
      ...toAccountIds(row.nominee_id),
      email: isVisible ? row.email : null,
      firstName: isVisible ? row.first_name : null,
      lastName: isVisible ? row.last_name : null,
    },
    expiresAt: iso(row.expires_at),
  };
}

/** Lists the open offers to an account. */
export async function listOwnershipOffers(db: QueryRunner, accountId: string) {
  const rows = await db.query(offersToAccount, [accountId]);
  return rows.map((row) => ({ teamId: row.team_id, teamName: row.team_name, expiresAt: iso(row.expires_at) }));
}
