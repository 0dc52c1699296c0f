import { z } from 'zod';
import { DELIVERY_STATES, type WebhookEndpoint } from '../../entities/index.ts';
import { openEnum } from '../../open-enum.ts';
import { cursor } from '../../procedures/cursors.ts';
import { instant, resourceId, text, timestamp } from '../../procedures/fields.ts';
import { SIGNATURE_KINDS } from '../../crypto/webhook-secret.ts';
import { INSTALLATION_TYPES } from '../../webhooks/types.ts';

export const URL_LENGTH_MAX = 2000;
export const OVERLAP_HOURS_MAX = 168;

const url = text(1, URL_LENGTH_MAX);
const types = z.array(z.enum(INSTALLATION_TYPES)).max(INSTALLATION_TYPES.length);
const endpointId = resourceId;

/** Without types, an endpoint gets all events. */
export const createEndpointInput = z.object({
  url,
  types: types.default([]),
  signature: z.enum(SIGNATURE_KINDS).default('hmac'),
});
export const updateEndpointInput = z.object({ endpointId, url: url.optional(), types: types.optional() });
export const endpointInput = z.object({ endpointId });
export const rotateSecretInput = z.object({
  endpointId,
  /** How long the present secret also signs; 0 ends it immediately. */
  overlapHours: z.int().min(0).max(OVERLAP_HOURS_MAX).default(24),
});
export const listDeliveriesInput = z.object({
  endpointId,
  state: z.enum(DELIVERY_STATES).optional(),
  cursor: cursor.optional(),
  limit: z.int().min(1).max(50).default(20),
});
export const replayInput = z.object({ endpointId, deliveryId: resourceId });
export const replayFailedInput = z.object({ endpointId, since: instant });

export const endpointOutput = z.object({
  endpointId: z.string().describe('The id of the endpoint.'),
  url: z.string().describe('Where the events are sent to.'),
  types: z.array(z.string()).describe('The names of the events. Empty for all.'),
  signature: z.enum(SIGNATURE_KINDS).describe('With a shared secret, or a key pair.'),
  publicKey: z.string().nullable().describe('`whpk_…` of an endpoint with `ed25519`.'),
  status: openEnum(['active', 'failing', 'paused', 'disabled']).describe(
    '`failing` while deliveries fail; `disabled` by the service. More can be added.',
  ),
  disabledReason: z.string().nullable().describe('Why the service disabled it.'),
  failingSince: timestamp.nullable().describe('When the failures began that no success has ended.'),
  previousSecretExpiresAt: timestamp.nullable().describe('Until when the secret before the rotation also signs.'),
  responsibleAccountId: z
    .string()
    .nullable()
    .describe(
      'The member who last set the URL, types or secret of a team’s endpoint, and whose permissions decide what it gets.',
    ),
  responsibleUserId: z
    .string()
    .nullable()
    .meta({ deprecated: true, description: 'The same as `responsibleAccountId`, its present name.' }),
  createdAt: timestamp.describe('When it was created.'),
});
/** `secret` is shown only once, and null for `ed25519`, where the public key verifies. */
export const createdEndpointOutput = z.object({ endpoint: endpointOutput, secret: z.string().nullable() });

const attemptOutput = z.object({
  at: timestamp.describe('When it was sent.'),
  status: z.int().nullable().describe('The HTTP status of the answer. Null without one.'),
  durationMs: z.int().describe('How long it took, in milliseconds.'),
  error: z.string().nullable().describe('Why there was no answer.'),
  answer: z.string().nullable().describe('The beginning of the answer.'),
});
const deliveryOutput = z.object({
  deliveryId: z.string().describe('The id of the delivery.'),
  webhookId: z.string().describe('The header `webhook-id`.'),
  type: z.string().describe('The name of the event.'),
  state: openEnum(DELIVERY_STATES).describe('How far it has got. More can be added.'),
  reason: z.string().nullable().describe('Why it failed or was skipped.'),
  attempts: z.array(attemptOutput).describe('The attempts, the latest first.'),
  nextAttemptAt: timestamp.nullable().describe('When it is sent next. Null unless it waits.'),
  createdAt: timestamp.describe('When it was created.'),
});
export const deliveriesOutput = z.object({
  deliveries: z.array(deliveryOutput).describe('The deliveries of the page.'),
  nextCursor: z.string().nullable().describe('The cursor of the next page. Null if this is the last one.'),
});
export type DeliveryPage = z.infer<typeof deliveriesOutput>;

/** What is shown of an endpoint. */
export type Shown = Pick<
  WebhookEndpoint,
  'id' | 'url' | 'types' | 'disabledReason' | 'failingSince' | 'previousExpiresAt' | 'isOverlapping' | 'createdAt'
> & {
  readonly account?: { readonly id: string } | null | undefined;
  readonly pausedAt?: unknown;
  readonly disabledAt?: unknown;
};

/** Converts an endpoint for its owner. @param publicKey null for a shared secret */
export function presentEndpoint(endpoint: Shown, publicKey: string | null): z.infer<typeof endpointOutput> {
  const { id, url: address, pausedAt, disabledAt, disabledReason, failingSince, previousExpiresAt, account } = endpoint;
  return {
    endpointId: id,
    url: address,
    types: [...endpoint.types],
    signature: publicKey === null ? 'hmac' : 'ed25519',
    publicKey,
    status: disabledAt ? 'disabled' : pausedAt ? 'paused' : failingSince ? 'failing' : 'active',
    disabledReason: disabledReason ?? null,
    failingSince: failingSince?.toISOString() ?? null,
    previousSecretExpiresAt: endpoint.isOverlapping ? (previousExpiresAt?.toISOString() ?? null) : null,
    responsibleAccountId: account?.id ?? null,
    responsibleUserId: account?.id ?? null,
    createdAt: endpoint.createdAt.toISOString(),
  };
}

/** A type of events, the permission that the responsible member needs to get it, and whether the caller holds it. */
export const eventTypeOutput = z.object({
  type: z.enum(INSTALLATION_TYPES),
  permission: z.string().nullable(),
  isAvailable: z.boolean(),
});
