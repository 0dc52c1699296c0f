import { z } from 'zod';
import { SUBSCRIPTION_INTERVALS, SUBSCRIPTION_STATUSES } from '../../entities/index.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { timestamp } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { getTeamBilling } from './billing.queries.ts';

export const subscriptionOutput = z
  .object({
    planId: z.string().meta({ description: 'The id of the plan.' }),
    planName: z.string().meta({ description: 'The name of the plan, to display.' }),
    status: z
      .enum(SUBSCRIPTION_STATUSES)
      .nullable()
      .meta({ description: 'Null for a team that never had a subscription.' }),
    interval: z
      .enum(SUBSCRIPTION_INTERVALS)
      .nullable()
      .meta({ description: 'The billing interval. Null for a plan without one.' }),
    addons: z.record(z.string(), z.number()).meta({ description: 'Units of each add-on.' }),
    planExpiresAt: timestamp.nullable().meta({ description: 'The renewal date. Null if there is none.' }),
    cancelAtPeriodEnd: z.boolean().meta({ description: 'Whether the subscription ends at `planExpiresAt`.' }),
    needsPaymentAction: z.boolean().meta({ description: 'Whether the owner has to act for a payment to succeed.' }),
  })
  .meta({ id: 'Subscription', description: "A team's subscription." });

export const billingRouter = router({
  getTeamBilling: teamProcedure({ scope: 'billing:read', permission: 'access_billing' })
    .meta(
      endpoint('getTeamBilling', 'GET /api/v1/teams/{teamId}/billing', {
        summary: "Read a team's subscription summary",
        returns: 'The subscription; the default plan for a team without one.',
      }),
    )
    .output(subscriptionOutput)
    .query(({ ctx: { services }, input }) => getTeamBilling(services.db, services.config.plans, input.teamId)),
});
