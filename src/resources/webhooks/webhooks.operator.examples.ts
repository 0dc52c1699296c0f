import { DELIVERY_ID, ENDPOINT_ID } from './webhooks.operator.schema.ts';

const endpoint = {
  endpointId: ENDPOINT_ID,
  url: 'https://example.com/roster',
  types: ['account.created', 'team.created'],
  signature: 'hmac',
  publicKey: null,
  status: 'active',
  disabledReason: null,
  failingSince: null,
  previousSecretExpiresAt: null,
  responsibleAccountId: null,
  responsibleUserId: null,
  createdAt: '2026-11-21T09:30:00.000Z',
};

const delivery = {
  deliveryId: DELIVERY_ID,
  webhookId: 'evt_0cn7t0b7u5smd9ck2rg1f9vhae',
  type: 'team.created',
  state: 'delivered',
  reason: null,
  attempts: [{ at: '2026-11-21T09:30:00.412Z', status: 204, durationMs: 38, error: null, answer: '' }],
  nextAttemptAt: null,
  createdAt: '2026-11-21T09:30:00.127Z',
};

const changed = { url: endpoint.url, types: endpoint.types };

/** Examples of the operations, by the kind of their response. */
export const EXAMPLES = {
  list: { answer: { endpoints: [endpoint] } },
  one: { answer: endpoint },
  updated: { body: changed, answer: endpoint },
  // Shortened, so that secret scanners ignore it.
  created: { body: { ...changed, signature: 'hmac' }, answer: { endpoint, secret: 'whsec_…' } },
  rotated: { body: { overlapHours: 24 }, answer: { endpoint, secret: 'whsec_…' } },
  deliveries: { answer: { deliveries: [delivery], nextCursor: null } },
  tested: { answer: { deliveryId: DELIVERY_ID } },
  replayed: { body: { since: '2026-11-21T09:30:00Z' }, answer: { replayed: 3 } },
  done: { answer: { success: true } },
} as const;
