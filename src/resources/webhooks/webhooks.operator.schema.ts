import { z } from 'zod';
import { DELIVERY_STATES } from '../../entities/index.ts';
import { cursor } from '../../procedures/cursors.ts';
import { instant, resourceId, text } from '../../procedures/fields.ts';
import { SIGNATURE_KINDS } from '../../crypto/webhook-secret.ts';
import { INSTALLATION_TYPES } from '../../webhooks/types.ts';
import { deliveriesOutput, endpointOutput, OVERLAP_HOURS_MAX, URL_LENGTH_MAX } from './webhooks.schema.ts';

export const ENDPOINT_ID = 'whe_0cn7u8m1e4gqf97b0tsl6kd2pj';
export const DELIVERY_ID = 'whd_0cn7u9t5k3fqh82d1vsm7le4rk';

const endpointId = resourceId.meta({ description: 'The id of an endpoint.', example: ENDPOINT_ID });
const deliveryId = resourceId.meta({ description: 'The id of a delivery.', example: DELIVERY_ID });
const url = text(1, URL_LENGTH_MAX).meta({ description: 'Where the events are sent to.' });
const types = z
  .array(z.enum(INSTALLATION_TYPES))
  .max(INSTALLATION_TYPES.length)
  .meta({ description: 'The names of the events. None for all.' });

export const createInput = z.object({
  url,
  types: types.default([]),
  signature: z.enum(SIGNATURE_KINDS).default('hmac').meta({ description: 'With a shared secret, or a key pair.' }),
});
export const updateInput = z.object({ endpointId, url: url.optional(), types: types.optional() });
export const endpointInput = z.object({ endpointId });
export const rotateInput = z.object({
  endpointId,
  overlapHours: z
    .int()
    .min(0)
    .max(OVERLAP_HOURS_MAX)
    .default(24)
    .meta({ description: 'How long the present secret also signs.' }),
});
export const deliveriesInput = z.object({
  endpointId,
  state: z.enum(DELIVERY_STATES).optional().meta({ description: 'Only deliveries in this state.', example: 'failed' }),
  cursor: cursor.optional().meta({ description: '`nextCursor` of the previous page.', example: 'q2hV0m…' }),
  limit: z.int().min(1).max(50).default(20).meta({ description: 'The most deliveries of a page.', example: 20 }),
});
export const replayInput = z.object({ endpointId, deliveryId });
export const replayFailedInput = z.object({
  endpointId,
  since: instant.meta({
    description: 'Everything that was created since then and failed.',
    example: '2026-11-21T09:30:00Z',
  }),
});

const endpoint = endpointOutput.meta({ id: 'WebhookEndpoint', description: 'An endpoint of the installation.' });

export const endpointAnswer = endpoint;
export const endpointsAnswer = z
  .object({ endpoints: z.array(endpoint).describe('The endpoints.') })
  .meta({ id: 'WebhookEndpoints', description: 'The endpoints of the installation, the oldest first.' });
export const createdAnswer = z
  .object({
    endpoint,
    secret: z
      .string()
      .nullable()
      .meta({ description: 'It is returned once. Null for `ed25519`, where `publicKey` verifies.' }),
  })
  .meta({ id: 'CreatedWebhookEndpoint', description: 'An endpoint with its secret.' });
export const deliveriesAnswer = deliveriesOutput.meta({
  id: 'WebhookDeliveries',
  description: 'Deliveries with their attempts, the latest first.',
});
export const testAnswer = z
  .object({ deliveryId: z.string().describe('The id of the delivery.') })
  .meta({ id: 'WebhookTest', description: 'The delivery of a test event.' });
export const replayedAnswer = z
  .object({ replayed: z.int().describe('How many.') })
  .meta({ id: 'WebhookReplay', description: 'How many deliveries are sent again.' });
