import type { EntityManager } from '@mikro-orm/postgresql';
import type { ActiveMembership } from '../../auth/principal.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { Permission } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { DEFAULT_PLAN, planOf, seatsOf, type Plans } from './plans.ts';

type SeatsRow = {
  plan_id: string | null;
  addons: Record<string, number> | null;
  members: number;
  invitations: number;
};

/** The one counting of seats, of the team that `placeholder` stands for: an active member or a pending invitation takes one. */
const seatsSql = (placeholder: '?' | '$1') =>
  `select s.plan_id, s.addons,
     (select count(*) from membership m
      where m.team_id = t.id and m.is_active and (m.expires_at is null or m.expires_at > now()))::int as members,
     (select count(*) from invitation i
      where i.team_id = t.id and i.accepted_at is null and i.expires_at > now())::int as invitations
   from team t
   left join subscription s on s.team_id = t.id
   where t.id = ${placeholder}`;

const seatsOfTeam = query<SeatsRow>('seats_of_team', seatsSql('$1'));

const overviewOfTeam = query<SeatsRow & { api_keys: number }>(
  'overview_of_team',
  `select s.*, (select count(*) from api_key where team_id = $1 and revoked_at is null)::int as api_keys
   from (${seatsSql('$1')}) s`,
);

/** How many seats the team has, and how many are taken. A downgrade can leave more taken than there are. */
export async function readSeats(db: QueryRunner, plans: Plans, teamId: string) {
  return presentSeats(plans, only(await db.query(seatsOfTeam, [teamId])));
}

/** The team in numbers; null is what the member's role does not let them see. */
export async function readOverview(db: QueryRunner, plans: Plans, { team, permissions }: ActiveMembership) {
  const row = only(await db.query(overviewOfTeam, [team.id]));
  const told = (permission: Permission, count: number) => (permissions.includes(permission) ? count : null);
  return {
    ...presentSeats(plans, row),
    members: told('access_dashboard', row.members),
    invitations: told('invite_members', row.invitations),
    apiKeys: told('manage_api_keys', row.api_keys),
  };
}

/**
 * Refuses when the team has no free seat.
 * The caller holds the lock on the team's row, which is what makes the count hold.
 */
export async function requireFreeSeat(tx: EntityManager, plans: Plans, teamId: string): Promise<void> {
  const { taken, seats, planName } = presentSeats(plans, only(await tx.execute<SeatsRow[]>(seatsSql('?'), [teamId])));
  if (taken >= seats) {
    throw new ProblemError(
      'seat_limit_reached',
      `All ${seats} seats of the plan ${planName} are taken by members and pending invitations.`,
    );
  }
}

/** The row of the team, which may have gone in this moment. */
function only<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new ProblemError('team_not_found');
  return row;
}

function presentSeats(plans: Plans, { plan_id, addons, members, invitations }: SeatsRow) {
  const plan = planOf(plans, plan_id ?? DEFAULT_PLAN);
  return { taken: members + invitations, seats: seatsOf(plan, addons ?? {}), planName: plan.name };
}
