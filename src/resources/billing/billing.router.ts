import { z } from 'zod';
import { SUBSCRIPTION_INTERVALS, SUBSCRIPTION_STATUSES } from '../../entities/index.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { timestamp } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { getTeamBilling } from './billing.queries.ts';

const subscriptionOutput = z
  .object({
    planId: z.string(),
    planName: z.string(),
    status: z.enum(SUBSCRIPTION_STATUSES).nullable(),
    interval: z.enum(SUBSCRIPTION_INTERVALS).nullable(),
    addons: z.record(z.string(), z.number()).meta({ description: 'Units of each add-on.' }),
    planExpiresAt: timestamp.nullable().meta({ description: 'The renewal date.' }),
    cancelAtPeriodEnd: z.boolean(),
    needsPaymentAction: z.boolean(),
  })
  .meta({ id: 'Subscription', description: "A team's subscription." });

export const billingRouter = router({
  getTeamBilling: teamProcedure({ scope: 'billing:read', permission: 'access_billing' })
    .meta(
      endpoint('getTeamBilling', 'GET /api/v1/teams/{teamId}/billing', {
        summary: "Read a team's subscription summary",
      }),
    )
    .output(subscriptionOutput)
    .query(({ ctx: { services }, input }) => getTeamBilling(services.db, services.config.plans, input.teamId)),
});
