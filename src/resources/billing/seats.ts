import type { EntityManager } from '@mikro-orm/postgresql';
import { Subscription } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { DEFAULT_PLAN, planOf, seatsOf, type Plans } from './plans.ts';

/**
 * Refuses when the team has no free seat. A seat is an active member or a pending invitation.
 * The caller holds the lock on the team's row, which is what makes the count hold.
 */
export async function requireFreeSeat(tx: EntityManager, plans: Plans, teamId: string): Promise<void> {
  const subscription = await tx.findOne(Subscription, { team: teamId });
  const plan = planOf(plans, subscription?.planId ?? DEFAULT_PLAN);
  const seats = seatsOf(plan, subscription?.addons ?? {});
  const taken = await seatsTaken(tx, teamId);
  if (taken >= seats) {
    throw new ProblemError(
      'seat_limit_reached',
      `All ${seats} seats of the plan ${plan.name} are taken by members and pending invitations.`,
    );
  }
}

async function seatsTaken(tx: EntityManager, teamId: string): Promise<number> {
  const [row] = await tx.execute<{ taken: number }[]>(
    `select (select count(*) from membership where team_id = ? and is_active and (expires_at is null or expires_at > now()))::int
          + (select count(*) from invitation where team_id = ? and accepted_at is null and expires_at > now())::int as taken`,
    [teamId, teamId],
  );
  return row?.taken ?? 0;
}
