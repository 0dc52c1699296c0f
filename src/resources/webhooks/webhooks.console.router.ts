import { z } from 'zod';
import { requirePermission } from '../../auth/permissions.ts';
import { ProblemError } from '../../errors.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { requiredPermission, TEAM_TYPES } from '../../webhooks/types.ts';
import { replayDelivery, replayFailed, sendTestEvent } from './deliveries.service.ts';
import {
  createEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  resumeEndpoint,
  rotateSecret,
  updateEndpoint,
} from './endpoints.service.ts';
import { listDeliveries, listEndpoints } from './webhooks.queries.ts';
import {
  createdEndpointOutput,
  createEndpointInput,
  deliveriesOutput,
  endpointInput,
  endpointOutput,
  listDeliveriesInput,
  replayFailedInput,
  replayInput,
  rotateSecretInput,
  updateEndpointInput,
} from './webhooks.schema.ts';

/** Requires a session of a member with `edit_team_settings`. Not open to API keys, because an endpoint outlives them. */
const editorProcedure = sessionProcedure.input(z.object({ teamId: resourceId })).use(async ({ ctx, input, next }) => {
  const membership = await ctx.findMembership(input.teamId);
  if (membership === null) throw new ProblemError('team_not_found');
  requirePermission(membership.permissions, 'edit_team_settings');
  const owner = { teamId: input.teamId, accountId: membership.accountId, credential: ctx.principal };
  return next({ ctx: { owner } });
});

/** The webhook endpoints of a team and their deliveries. */
export const webhooksConsoleRouter = router({
  types: editorProcedure
    .output(z.array(z.object({ type: z.string(), permission: z.string().nullable() })))
    .query(() => TEAM_TYPES.map((type) => ({ type, permission: requiredPermission(type) }))),

  list: editorProcedure
    .output(z.array(endpointOutput))
    .query(({ ctx: { services, owner } }) => listEndpoints(services, owner)),

  create: editorProcedure
    .input(createEndpointInput)
    .output(createdEndpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => createEndpoint(services, owner, input)),

  update: editorProcedure
    .input(updateEndpointInput)
    .output(endpointOutput)
    .mutation(({ ctx: { services, owner }, input: { endpointId, ...change } }) =>
      updateEndpoint(services, owner, endpointId, change),
    ),

  pause: editorProcedure
    .input(endpointInput)
    .output(endpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => pauseEndpoint(services, owner, input.endpointId)),

  resume: editorProcedure
    .input(endpointInput)
    .output(endpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => resumeEndpoint(services, owner, input.endpointId)),

  rotateSecret: editorProcedure
    .input(rotateSecretInput)
    .output(createdEndpointOutput)
    .mutation(({ ctx: { services, owner }, input: { endpointId, overlapHours } }) =>
      rotateSecret(services, owner, endpointId, overlapHours),
    ),

  delete: editorProcedure
    .input(endpointInput)
    .output(success)
    .mutation(async ({ ctx: { services, owner }, input }) => {
      await deleteEndpoint(services, owner, input.endpointId);
      return SUCCESS;
    }),

  sendTest: editorProcedure
    .input(endpointInput)
    .output(z.object({ deliveryId: z.string() }))
    .mutation(async ({ ctx: { services, owner }, input }) => ({
      deliveryId: await sendTestEvent(services, owner, input.endpointId),
    })),

  deliveries: editorProcedure
    .input(listDeliveriesInput)
    .output(deliveriesOutput)
    .query(({ ctx: { services, owner }, input }) => listDeliveries(services.db, owner, input)),

  replay: editorProcedure
    .input(replayInput)
    .output(success)
    .mutation(async ({ ctx: { services, owner }, input: { endpointId, deliveryId } }) => {
      await replayDelivery(services, owner, endpointId, deliveryId);
      return SUCCESS;
    }),

  replayFailed: editorProcedure
    .input(replayFailedInput)
    .output(z.object({ replayed: z.int() }))
    .mutation(async ({ ctx: { services, owner }, input: { endpointId, since } }) => ({
      replayed: await replayFailed(services, owner, endpointId, new Date(since)),
    })),
});
