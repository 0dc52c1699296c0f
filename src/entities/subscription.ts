import { defineEntity, p } from '@mikro-orm/core';
import { instant, text } from './base.ts';
import { Team } from './team.ts';

export const SUBSCRIPTION_STATUSES = ['trialing', 'active', 'past_due', 'canceled', 'unpaid'] as const;
export const SUBSCRIPTION_INTERVALS = ['month', 'year'] as const;

/** A team without a subscription has the plan `free`. Plans are configuration. */
const SubscriptionSchema = defineEntity({
  name: 'Subscription',
  tableName: 'subscription',
  properties: {
    team: () => p.oneToOne(Team).primary().deleteRule('cascade'),
    planId: text(),
    status: text().$type<(typeof SUBSCRIPTION_STATUSES)[number]>().nullable(),
    interval: text().$type<(typeof SUBSCRIPTION_INTERVALS)[number]>().nullable(),
    /** Add-on units by name; `seats` adds to the plan's. */
    addons: p.json<Record<string, number>>().default('{}'),
    planExpiresAt: instant().nullable(),
    cancelAtPeriodEnd: p.boolean().default(false),
    needsPaymentAction: p.boolean().default(false),
    /** Counts the changes. 0 stands for a team without a subscription. */
    version: p.integer().default(1),
  },
  indexes: [{ name: 'subscription_plan_index', properties: ['planId', 'team'] }],
  checks: [
    {
      name: 'subscription_status_check',
      expression: `status in ('trialing', 'active', 'past_due', 'canceled', 'unpaid')`,
    },
    { name: 'subscription_interval_check', expression: `"interval" in ('month', 'year')` },
  ],
});

export class Subscription extends SubscriptionSchema.class {}
SubscriptionSchema.setClass(Subscription);
