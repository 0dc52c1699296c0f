import { z } from 'zod';
import { requirePermission } from '../../auth/permissions.ts';
import type { ActiveMembership, Principal } from '../../auth/principal.ts';
import { SCOPES, type Scope } from '../../entities/index.ts';
import { EVENTS } from '../../events/catalogue.ts';
import type { Services } from '../../service/services.ts';
import { ProblemError } from '../../problems/error.ts';
import { cursorsOf } from '../../procedures/cursors.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { requireOperator, sessionOrAppProcedure } from '../../procedures/procedures.ts';
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
import { canSee, type Held, type Owner } from './owner.ts';
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
 * which `teamId: null` counts. Also open to first-party tokens, for teams alone. Not open to API keys, because an endpoint
 * outlives them.
 */
const editorProcedure = (scope: Scope) =>
  sessionOrAppProcedure(scope)
    .input(z.object({ teamId: resourceId.nullable() }))
    .use(async ({ ctx, input: { teamId }, next }) => next({ ctx: await findOwner(ctx, teamId) }));

/** The webhook endpoints of a team, or of the installation, and their deliveries. */
export const webhooksConsoleRouter = router({
  types: editorProcedure('teams:read')
    .output(z.array(eventTypeOutput))
    .query(({ ctx: { held } }) =>
      held === null
        ? INSTALLATION_TYPES.map((type) => ({ type, permission: null, isAvailable: true }))
        : TEAM_TYPES.map((type) => ({
            type,
            permission: requiredPermission(type),
            isAvailable: canSee(held, type),
          })),
    ),

  list: editorProcedure('teams:read')
    .output(z.array(endpointOutput))
    .query(({ ctx: { services, owner } }) => listEndpoints(services, owner)),

  create: editorProcedure('teams:write')
    .meta({ effect: 'widens' })
    .input(createEndpointInput)
    .output(createdEndpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => createEndpoint(services, owner, input)),

  update: editorProcedure('teams:write')
    .meta({ effect: 'widens' })
    .input(updateEndpointInput)
    .output(endpointOutput)
    .mutation(({ ctx: { services, owner }, input: { endpointId, ...change } }) =>
      updateEndpoint(services, owner, endpointId, change),
    ),

  pause: editorProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(endpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => pauseEndpoint(services, owner, input.endpointId)),

  resume: editorProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(endpointOutput)
    .mutation(({ ctx: { services, owner }, input }) => resumeEndpoint(services, owner, input.endpointId)),

  rotateSecret: editorProcedure('teams:write')
    .meta({ effect: 'widens' })
    .input(rotateSecretInput)
    .output(createdEndpointOutput)
    .mutation(({ ctx: { services, owner }, input: { endpointId, overlapHours } }) =>
      rotateSecret(services, owner, endpointId, overlapHours),
    ),

  delete: editorProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(success)
    .mutation(async ({ ctx: { services, owner }, input }) => {
      await deleteEndpoint(services, owner, input.endpointId);
      return SUCCESS;
    }),

  sendTest: editorProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(z.object({ deliveryId: z.string() }))
    .mutation(async ({ ctx: { services, owner }, input }) => ({
      deliveryId: await sendTestEvent(services.db, owner, input.endpointId),
    })),

  deliveries: editorProcedure('teams:read')
    .input(listDeliveriesInput)
    .output(deliveriesOutput)
    .query(({ ctx, input }) => listDeliveries(ctx.services.db, cursorsOf(ctx), ctx.owner, ctx.held, input)),

  replay: editorProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(replayInput)
    .output(success)
    .mutation(async ({ ctx: { services, owner }, input: { endpointId, deliveryId } }) => {
      await replayDelivery(services.db, owner, endpointId, deliveryId);
      return SUCCESS;
    }),

  replayFailed: editorProcedure('teams:write')
    .meta({ effect: 'none' })
    .input(replayFailedInput)
    .output(z.object({ replayed: z.int() }))
    .mutation(async ({ ctx: { services, owner }, input: { endpointId, since } }) => ({
      replayed: await replayFailed(services.db, owner, endpointId, new Date(since)),
    })),
});

type Caller = {
  readonly services: Services;
  readonly principal: Principal;
  readonly findMembership: (teamId: string) => Promise<ActiveMembership | null>;
};

type Found = { readonly owner: Owner; readonly held: Held };

async function findOwner({ services, principal, findMembership }: Caller, teamId: string | null): Promise<Found> {
  const isApplication = principal.kind !== 'session';
  if (teamId === null) {
    // The operator's area is never an application's.
    if (isApplication) throw new ProblemError('route_not_found');
    await requireOperator(services.db, principal.accountId);
    return { owner: { operator: principal }, held: null };
  }
  if (isApplication) requireScopesOfEvents(principal);
  const membership = await findMembership(teamId);
  if (membership === null) throw new ProblemError('team_not_found');
  requirePermission(membership.permissions, 'edit_team_settings');
  const owner = { teamId, accountId: membership.accountId, credential: principal };
  return { owner, held: membership.permissions };
}

const SCOPES_OF_EVENTS = SCOPES.filter((scope) => TEAM_TYPES.some((type) => EVENTS[type].scope === scope));

/** Requires the scopes of all that endpoints of a team can get, whichever types one has. @throws scope_missing (403) */
function requireScopesOfEvents({ scopes }: Principal): void {
  const missing = SCOPES_OF_EVENTS.find((scope) => !scopes.includes(scope));
  if (missing !== undefined)
    throw new ProblemError('scope_missing', `Events of a team need the scope ${missing}.`, { scope: missing });
}
