import { proofsOf } from '../../auth/session-proofs.ts';
import { activeMembership, liveApiKey, liveGrant, openSession, pendingInvitation } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { ACCOUNT_ROLES } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { getTeamBilling } from '../billing/billing.queries.ts';
import { getPlan, countSeats, type Plans } from '../billing/plans.ts';

const TEAMS_MAX = 100;

type AccountRow = {
  id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  role: (typeof ACCOUNT_ROLES)[number];
  preferred_locale: string | null;
  external_id: string | null;
  email_verified_at: string | null;
  disabled_at: string | null;
  created_at: string;
  sessions: number;
  session_methods: string[];
  keys: number;
  grants: number;
};

type AccountTeamRow = {
  id: string;
  name: string;
  role_id: string;
  role_name: string;
  is_active: boolean;
  team_count: number;
};

type TeamRow = {
  id: string;
  name: string;
  slug: string;
  created_at: string;
  owner_id: string | null;
  owner_email: string | null;
  owner_first_name: string | null;
  owner_last_name: string | null;
  members: number;
  active_members: number;
  pending_invitations: number;
  description: string | null;
  external_id: string | null;
};

const accountForOperator = query<AccountRow>(
  'account_find_for_operator',
  `select a.id, a.email, a.first_name, a.last_name, a.role, a.preferred_locale, a.external_id, a.email_verified_at, a.disabled_at,
     a.created_at,
     (select count(*)::int from session s where s.account_id = a.id and ${openSession('s')}) as sessions,
     array(select distinct method from session s, jsonb_object_keys(${proofsOf('s')}) method
       where s.account_id = a.id and ${openSession('s')} order by 1) as session_methods,
     (select count(*)::int from api_key k where k.account_id = a.id and ${liveApiKey('k')}) as keys,
     (select count(*)::int from oauth_grant g where g.account_id = a.id and ${liveGrant('g')}) as grants
   from account a where a.id = $1`,
  { rows: 'many' },
);

const teamsForOperator = query<AccountTeamRow>(
  'membership_list_of_account',
  `select t.id, t.name, r.id as role_id, r.name as role_name, ${activeMembership('m')} as is_active,
     count(*) over ()::int as team_count
   from membership m join team t on t.id = m.team_id join role r on r.id = m.role_id
   where m.account_id = $1
   order by t.name, t.id limit ${TEAMS_MAX}`,
  { rows: 'many' },
);

const teamForOperator = query<TeamRow>(
  'team_find_for_operator',
  `select t.id, t.name, t.slug, t.description, t.external_id, t.created_at, o.id as owner_id, o.email as owner_email,
     o.first_name as owner_first_name, o.last_name as owner_last_name,
     (select count(*)::int from membership m where m.team_id = t.id) as members,
     (select count(*)::int from membership m where m.team_id = t.id and ${activeMembership('m')}) as active_members,
     (select count(*)::int from invitation i where i.team_id = t.id and ${pendingInvitation('i')}) as pending_invitations
   from team t
   left join membership om on om.team_id = t.id and om.role_id = 'owner'
   left join account o on o.id = om.account_id
   where t.id = $1`,
  { rows: 'many' },
);

/** Returns an account for the operator: profile, teams and the number of its credentials. */
export async function getAccount(db: QueryRunner, accountId: string) {
  const [[row], teams] = await Promise.all([
    db.query(accountForOperator, [accountId]),
    db.query(teamsForOperator, [accountId]),
  ]);
  if (row === undefined) throw new ProblemError('account_not_found');
  return {
    id: row.id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    preferredLocale: row.preferred_locale,
    externalId: row.external_id,
    emailVerified: isoOrNull(row.email_verified_at),
    disabledAt: isoOrNull(row.disabled_at),
    createdAt: iso(row.created_at),
    teamCount: teams[0]?.team_count ?? 0,
    teams: teams.map((team) => ({
      id: team.id,
      name: team.name,
      role: { id: team.role_id, name: team.role_name },
      isActive: team.is_active,
    })),
    sessions: row.sessions,
    sessionMethods: row.session_methods,
    keys: row.keys,
    grants: row.grants,
  };
}

/** A team as an operator sees it: whose it is, how large, and on which plan. */
export async function getTeam(db: QueryRunner, plans: Plans, teamId: string) {
  const [[row], subscription] = await Promise.all([
    db.query(teamForOperator, [teamId]),
    getTeamBilling(db, plans, teamId),
  ]);
  if (row === undefined) throw new ProblemError('team_not_found');
  const plan = getPlan(plans, subscription.planId);
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    createdAt: iso(row.created_at),
    owner:
      row.owner_id === null
        ? null
        : { id: row.owner_id, email: row.owner_email, firstName: row.owner_first_name, lastName: row.owner_last_name },
    members: row.members,
    pendingInvitations: row.pending_invitations,
    description: row.description,
    externalId: row.external_id,
    subscription,
    seats: { total: countSeats(plan, subscription.addons), taken: row.active_members + row.pending_invitations },
    plans: [...plans.values()].map(({ id, name, seats }) => ({ id, name, seats })),
  };
}
