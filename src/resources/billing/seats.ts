import type { EntityManager } from '@mikro-orm/postgresql';
import { statement, type Read } from '../../db/read.ts';
import { ProblemError } from '../../errors.ts';
import { DEFAULT_PLAN, planOf, seatsOf, type Plans } from './plans.ts';

type SeatsRow = { plan_id: string | null; addons: Record<string, number> | null; taken: number };

/** The one counting of seats, of the team that `placeholder` stands for: an active member or a pending invitation takes one. */
const seatsSql = (placeholder: '?' | '$1') =>
  `select s.plan_id, s.addons,
     (
       (select count(*) from membership m where m.team_id = t.id and m.is_active and (m.expires_at is null or m.expires_at > now()))
       + (select count(*) from invitation i where i.team_id = t.id and i.accepted_at is null and i.expires_at > now())
     )::int as taken
   from team t
   left join subscription s on s.team_id = t.id
   where t.id = ${placeholder}`;

const seatsOfTeam = statement<SeatsRow>('seats_of_team', seatsSql('$1'));

/** How many seats the team has, and how many are taken. A downgrade can leave more taken than there are. */
export async function readSeats(read: Read, plans: Plans, teamId: string) {
  return presentSeats(plans, await read(seatsOfTeam, [teamId]));
}

/**
 * Refuses when the team has no free seat.
 * The caller holds the lock on the team's row, which is what makes the count hold.
 */
export async function requireFreeSeat(tx: EntityManager, plans: Plans, teamId: string): Promise<void> {
  const { taken, seats, planName } = presentSeats(plans, await tx.execute<SeatsRow[]>(seatsSql('?'), [teamId]));
  if (taken >= seats) {
    throw new ProblemError(
      'seat_limit_reached',
      `All ${seats} seats of the plan ${planName} are taken by members and pending invitations.`,
    );
  }
}

function presentSeats(plans: Plans, [row]: readonly SeatsRow[]) {
  if (row === undefined) throw new ProblemError('team_not_found');
  const plan = planOf(plans, row.plan_id ?? DEFAULT_PLAN);
  return { taken: row.taken, seats: seatsOf(plan, row.addons ?? {}), planName: plan.name };
}
