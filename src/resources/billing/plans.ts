import type { Plan } from '../../config/plans.ts';

export type Plans = ReadonlyMap<string, Plan>;

/** The plan of a team without a subscription. */
export const DEFAULT_PLAN = 'free';

/** Returns a plan. One that is no longer configured gets its id as its name and the seats of the default plan. */
export function getPlan(plans: Plans, planId: string): Plan {
  const plan = plans.get(planId);
  if (plan !== undefined) return plan;
  const fallback = plans.get(DEFAULT_PLAN);
  if (fallback === undefined) throw new Error('The configuration has no default plan.');
  return { ...fallback, id: planId, name: planId };
}

/** Returns the seats of a plan plus those of the add-on `seats`. */
export function countSeats(plan: Plan, addons: Readonly<Record<string, number>>): number {
  return plan.seats + (addons['seats'] ?? 0);
}
