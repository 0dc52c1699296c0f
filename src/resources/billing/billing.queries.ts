import { isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { SUBSCRIPTION_INTERVALS, SUBSCRIPTION_STATUSES } from '../../entities/index.ts';
import { DEFAULT_PLAN, getPlan, type Plans } from './plans.ts';

type SubscriptionRow = {
  plan_id: string;
  status: (typeof SUBSCRIPTION_STATUSES)[number] | null;
  interval: (typeof SUBSCRIPTION_INTERVALS)[number] | null;
  addons: Record<string, number>;
  plan_expires_at: string | null;
  cancel_at_period_end: boolean;
  needs_payment_action: boolean;
  version: number;
};

const subscriptionOfTeam = query<SubscriptionRow>(
  'subscription_find_of_team',
  `select plan_id, status, "interval", addons, plan_expires_at, cancel_at_period_end, needs_payment_action,
     version
   from subscription where team_id = $1`,
);

const NO_SUBSCRIPTION: SubscriptionRow = {
  plan_id: DEFAULT_PLAN,
  status: null,
  interval: null,
  addons: {},
  plan_expires_at: null,
  cancel_at_period_end: false,
  needs_payment_action: false,
  version: 0,
};

export async function getTeamBilling(db: QueryRunner, plans: Plans, teamId: string) {
  const [row = NO_SUBSCRIPTION] = await db.query(subscriptionOfTeam, [teamId]);
  return {
    planId: row.plan_id,
    planName: getPlan(plans, row.plan_id).name,
    status: row.status,
    interval: row.interval,
    addons: row.addons,
    planExpiresAt: isoOrNull(row.plan_expires_at),
    cancelAtPeriodEnd: row.cancel_at_period_end,
    needsPaymentAction: row.needs_payment_action,
    version: row.version,
  };
}
