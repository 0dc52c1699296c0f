import type { Plan } from '../../config-values.ts';

export type Plans = ReadonlyMap<string, Plan>;

/** The plan of a team without a subscription. */
export const DEFAULT_PLAN = 'free';

/** A plan by id. One that left the configuration keeps its id as its name and gives the default plan's seats. */
export function planOf(plans: Plans, planId: string): Plan {
  const plan = plans.get(planId);
  if (plan !== undefined) return plan;
  const fallback = plans.get(DEFAULT_PLAN);
  if (fallback === undefined) throw new Error('The configuration has no default plan.');
  return { ...fallback, id: planId, name: planId };
}

/** The seats of a plan together with the add-on `seats`. */
export function seatsOf(plan: Plan, addons: Readonly<Record<string, number>>): number {
  return plan.seats + (addons['seats'] ?? 0);
}
