import { z } from 'zod';
import { DELIVERY_STATES, type WebhookEndpoint } from '../../entities/index.ts';
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
  cursor: resourceId.optional(),
  limit: z.int().min(1).max(50).default(20),
});
export const replayInput = z.object({ endpointId, deliveryId: resourceId });
export const replayFailedInput = z.object({ endpointId, since: instant });

export const endpointOutput = z.object({
  endpointId: z.string(),
  url: z.string(),
  /** Empty for all events. */
  types: z.array(z.string()),
  signature: z.enum(SIGNATURE_KINDS),
  /** `whpk_…` of an endpoint with `ed25519`. */
  publicKey: z.string().nullable(),
  status: z.enum(['active', 'failing', 'paused', 'disabled']),
  disabledReason: z.string().nullable(),
  failingSince: timestamp.nullable(),
  /** Until when the secret before the rotation also signs. */
  previousSecretExpiresAt: timestamp.nullable(),
  responsibleUserId: z.string().nullable(),
  createdAt: timestamp,
});
/** `secret` is shown only once, and null for `ed25519`, where the public key verifies. */
export const createdEndpointOutput = z.object({ endpoint: endpointOutput, secret: z.string().nullable() });

const attemptOutput = z.object({
  at: timestamp,
  status: z.int().nullable(),
  durationMs: z.int(),
  error: z.string().nullable(),
  answer: z.string().nullable(),
});
const deliveryOutput = z.object({
  deliveryId: z.string(),
  /** The header `webhook-id`. */
  webhookId: z.string(),
  type: z.string(),
  state: z.enum(DELIVERY_STATES),
  reason: z.string().nullable(),
  attempts: z.array(attemptOutput),
  /** Null unless it waits. */
  nextAttemptAt: timestamp.nullable(),
  createdAt: timestamp,
});
export const deliveriesOutput = z.object({ deliveries: z.array(deliveryOutput), nextCursor: z.string().nullable() });
export type DeliveryPage = z.infer<typeof deliveriesOutput>;

/** Converts an endpoint for its owner. @param publicKey null for a shared secret */
export function presentEndpoint(endpoint: WebhookEndpoint, publicKey: string | null): z.infer<typeof endpointOutput> {
  const { id, url: address, pausedAt, disabledAt, disabledReason, failingSince, previousExpiresAt, account } = endpoint;
  const isRotating = previousExpiresAt ? previousExpiresAt.getTime() > Date.now() : false;
  return {
    endpointId: id,
    url: address,
    types: [...endpoint.types],
    signature: publicKey === null ? 'hmac' : 'ed25519',
    publicKey,
    status: disabledAt ? 'disabled' : pausedAt ? 'paused' : failingSince ? 'failing' : 'active',
    disabledReason: disabledReason ?? null,
    failingSince: failingSince?.toISOString() ?? null,
    previousSecretExpiresAt: isRotating ? (previousExpiresAt?.toISOString() ?? null) : null,
    responsibleUserId: account?.id ?? null,
    createdAt: endpoint.createdAt.toISOString(),
  };
}

/** A type of events, and the permission that the responsible member needs to get it. */
export const eventTypeOutput = z.object({ type: z.enum(INSTALLATION_TYPES), permission: z.string().nullable() });
