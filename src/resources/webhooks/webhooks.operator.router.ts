import type { ProblemCode } from '../../problems/catalogue.ts';
import { cursorsOf } from '../../procedures/cursors.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { operatorKeyProcedure } from '../../procedures/procedures.ts';
import type { Example } from '../../procedures/meta.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { replayDelivery, replayFailed, sendTestEvent } from './deliveries.service.ts';
import {
  createEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  resumeEndpoint,
  rotateSecret,
  updateEndpoint,
} from './endpoints.service.ts';
import { EXAMPLES } from './webhooks.operator.examples.ts';
import {
  createdAnswer,
  createInput,
  deliveriesAnswer,
  deliveriesInput,
  endpointAnswer,
  endpointInput,
  endpointsAnswer,
  replayedAnswer,
  replayFailedInput,
  replayInput,
  rotateInput,
  testAnswer,
  updateInput,
} from './webhooks.operator.schema.ts';
import { listDeliveries, listEndpoints } from './webhooks.queries.ts';

const WEBHOOKS = '/operator/v1/webhooks';
const ENDPOINT = `${WEBHOOKS}/{endpointId}` as const;
const UNKNOWN: readonly ProblemCode[] = ['webhook_endpoint_not_found'];

const secretOf = (answer: { readonly endpoint: { readonly endpointId: string } }): string => answer.endpoint.endpointId;

/** An operation on one endpoint. */
const onEndpoint = (
  operationId: string,
  route: Parameters<typeof endpoint>[1],
  summary: string,
  returns: string,
  example: Example,
  errors: readonly ProblemCode[] = [],
) => endpoint(operationId, route, { summary, returns, example, errors: [...UNKNOWN, ...errors] });

const procedure = operatorKeyProcedure('webhooks:write');

/** The webhook endpoints of the installation and their deliveries. */
export const webhooksOperatorRouter = router({
  listWebhookEndpoints: procedure
    .meta(
      endpoint('listWebhookEndpoints', `GET ${WEBHOOKS}`, {
        summary: 'List the webhook endpoints of the installation',
        returns: 'The endpoints, without their secrets.',
        example: EXAMPLES.list,
      }),
    )
    .output(endpointsAnswer)
    .query(async ({ ctx: { services, operator } }) => ({ endpoints: await listEndpoints(services, { operator }) })),

  createWebhookEndpoint: procedure
    .meta(
      endpoint('createWebhookEndpoint', `POST ${WEBHOOKS}`, {
        summary: 'Create a webhook endpoint of the installation',
        description: 'It gets the events of all teams and accounts from now on.',
        returns: 'The endpoint, with its secret.',
        effect: 'widens',
        status: 201,
        secretOf,
        errors: ['webhook_limit_reached'],
        example: EXAMPLES.created,
      }),
    )
    .input(createInput)
    .output(createdAnswer)
    .mutation(({ ctx: { services, operator }, input }) => createEndpoint(services, { operator }, input)),

  updateWebhookEndpoint: procedure
    .meta(
      onEndpoint(
        'updateWebhookEndpoint',
        `PATCH ${ENDPOINT}`,
        'Change the URL or the events of an endpoint',
        'The endpoint.',
        EXAMPLES.updated,
      ),
    )
    .meta({ effect: 'widens' })
    .input(updateInput)
    .output(endpointAnswer)
    .mutation(({ ctx: { services, operator }, input: { endpointId, ...change } }) =>
      updateEndpoint(services, { operator }, endpointId, change),
    ),

  deleteWebhookEndpoint: procedure
    .meta(
      onEndpoint(
        'deleteWebhookEndpoint',
        `DELETE ${ENDPOINT}`,
        'Delete an endpoint with its deliveries',
        'Nothing but the confirmation.',
        EXAMPLES.done,
      ),
    )
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(success)
    .mutation(async ({ ctx: { services, operator }, input }) => {
      await deleteEndpoint(services, { operator }, input.endpointId);
      return SUCCESS;
    }),

  pauseWebhookEndpoint: procedure
    .meta(
      onEndpoint(
        'pauseWebhookEndpoint',
        `POST ${ENDPOINT}/pause`,
        'Keep events until the endpoint is resumed',
        'The endpoint.',
        EXAMPLES.one,
      ),
    )
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(endpointAnswer)
    .mutation(({ ctx: { services, operator }, input }) => pauseEndpoint(services, { operator }, input.endpointId)),

  resumeWebhookEndpoint: procedure
    .meta(
      onEndpoint(
        'resumeWebhookEndpoint',
        `POST ${ENDPOINT}/resume`,
        'Deliver to a paused or disabled endpoint again',
        'The endpoint.',
        EXAMPLES.one,
      ),
    )
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(endpointAnswer)
    .mutation(({ ctx: { services, operator }, input }) => resumeEndpoint(services, { operator }, input.endpointId)),

  rotateWebhookSecret: procedure
    .meta(
      endpoint('rotateWebhookSecret', `POST ${ENDPOINT}/rotate`, {
        summary: 'Create a new secret for an endpoint',
        description: 'The present secret also signs for `overlapHours`.',
        returns: 'The endpoint, with its new secret.',
        effect: 'widens',
        secretOf,
        errors: UNKNOWN,
        example: EXAMPLES.rotated,
      }),
    )
    .input(rotateInput)
    .output(createdAnswer)
    .mutation(({ ctx: { services, operator }, input }) =>
      rotateSecret(services, { operator }, input.endpointId, input.overlapHours),
    ),

  testWebhookEndpoint: procedure
    .meta(
      onEndpoint(
        'testWebhookEndpoint',
        `POST ${ENDPOINT}/test`,
        'Send a test event, once',
        'The id of its delivery.',
        EXAMPLES.tested,
        ['webhook_inactive'],
      ),
    )
    .meta({ effect: 'none' })
    .input(endpointInput)
    .output(testAnswer)
    .mutation(async ({ ctx: { services, operator }, input }) => ({
      deliveryId: await sendTestEvent(services.db, { operator }, input.endpointId),
    })),

  listWebhookDeliveries: procedure
    .meta(
      onEndpoint(
        'listWebhookDeliveries',
        `GET ${ENDPOINT}/deliveries`,
        'List the deliveries of an endpoint',
        'Deliveries with their attempts, the latest first.',
        EXAMPLES.deliveries,
      ),
    )
    .input(deliveriesInput)
    .output(deliveriesAnswer)
    .query(({ ctx, input }) =>
      listDeliveries(ctx.services.db, cursorsOf(ctx), { operator: ctx.operator }, null, input),
    ),

  replayWebhookDelivery: procedure
    .meta(
      onEndpoint(
        'replayWebhookDelivery',
        `POST ${ENDPOINT}/deliveries/{deliveryId}/replay`,
        'Send a delivery again, with the same `webhook-id`',
        'Nothing but the confirmation.',
        EXAMPLES.done,
        ['webhook_delivery_not_found', 'webhook_inactive'],
      ),
    )
    .meta({ effect: 'none' })
    .input(replayInput)
    .output(success)
    .mutation(async ({ ctx: { services, operator }, input: { endpointId, deliveryId } }) => {
      await replayDelivery(services.db, { operator }, endpointId, deliveryId);
      return SUCCESS;
    }),

  replayFailedWebhooks: procedure
    .meta(
      onEndpoint(
        'replayFailedWebhooks',
        `POST ${ENDPOINT}/replay-failed`,
        'Send everything again that failed since a time',
        'How many deliveries are sent again.',
        EXAMPLES.replayed,
        ['webhook_inactive'],
      ),
    )
    .meta({ effect: 'none' })
    .input(replayFailedInput)
    .output(replayedAnswer)
    .mutation(async ({ ctx: { services, operator }, input: { endpointId, since } }) => ({
      replayed: await replayFailed(services.db, { operator }, endpointId, new Date(since)),
    })),
});
