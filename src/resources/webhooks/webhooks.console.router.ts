import { z } from 'zod';
import { requirePermission } from '../../auth/permissions.ts';
import type { ActiveMembership, Principal } from '../../auth/principal.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';
import type { Services } from '../../app-services.ts';
import { ProblemError } from '../../errors.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { requireOperator, sessionProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { INSTALLATION_TYPES, requiredPermission, TEAM_TYPES } from '../../webhooks/types.ts';
import { replayDelivery, replayFailed, sendTestEvent } from './deliveries.service.ts';
import {
  createEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  resumeEndpoint,
  rotateSecret,
  updateEndpoint,
} from './endpoints.service.ts';
import type { Owner } from './owner.ts';
import { listDeliveries, listEndpoints } from './webhooks.queries.ts';
import {
  createdEndpointOutput,
  createEndpointInput,
  deliveriesOutput,
  endpointInput,
  endpointOutput,
  eventTypeOutput,
  listDeliveriesInput,
  replayFailedInput,
  replayInput,
  rotateSecretInput,
  updateEndpointInput,
} from './webhooks.schema.ts';

/**
 * Requires a session of a member with `edit_team_settings`, or of an operator for the endpoints of the installation, as
 * which `teamId: null` counts. Not open to API keys, because an endpoint outlives them.
 */
const editorProcedure = sessionProcedure
  .input(z.object({ teamId: resourceId.nullable() }))
  .use(async ({ ctx, input: { teamId }, next }) => next({ ctx: { owner: await findOwner(ctx, teamId) } }));

/** As above. The endpoints of the installation get everyone’s data, so an operator needs a recent proof for a change. */
const provenProcedure = editorProcedure.use(async ({ ctx, input, next }) => {
  if (input.teamId === null) await requireRecentProof(ctx.services.db, ctx.principal);
  return next();
});

/** The webhook endpoints of a team, or of the installation, and their deliveries. */
export const webhooksConsoleRouter = router({
  types: editorProcedure
    .output(z.array(eventTypeOutput))
    .query(({ input: { teamId } }) =>
      teamId === null
        ? INSTALLATION_TYPES.map((type) => ({ type, permission: null }))
        : TEAM_TYPES.map((type) => ({ type, permission: requiredPermission(type) })),
    ),

  list: editorProcedure
    .output(z.array(endpointOutput))
    .query(({ ctx: { services, owner } }) => listEndpoints(services, owner)),

  create: provenProcedure
    .input(createEndpointInput)
    .output(createdEndpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => createEndpoint(services, owner, input)),

  update: provenProcedure
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

  rotateSecret: provenProcedure
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

type Caller = {
  readonly services: Services;
  readonly principal: Principal;
  readonly findMembership: (teamId: string) => Promise<ActiveMembership | null>;
};

async function findOwner({ services, principal, findMembership }: Caller, teamId: string | null): Promise<Owner> {
  if (teamId === null) {
    await requireOperator(services.db, principal.accountId);
    return { operator: principal };
  }
  const membership = await findMembership(teamId);
  if (membership === null) throw new ProblemError('team_not_found');
  requirePermission(membership.permissions, 'edit_team_settings');
  return { teamId, accountId: membership.accountId, credential: principal };
}
