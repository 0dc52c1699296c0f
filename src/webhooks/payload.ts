import { toDelivered, type DeliveredRow } from '../events/feed/read.ts';

/** The type of the event that an owner of an endpoint sends to test it. */
export const TEST_TYPE = 'webhook.test';

/**
 * Returns the body of a webhook (Standard Webhooks, section "Payload"): the event as feeds show it, with its time as
 * `timestamp` too. Its parts were stored once, when the event got its position, so every attempt of a version sends the
 * same bytes, until the data is erased. It has no IP addresses.
 */
export function createBody(row: DeliveredRow, audience: 'team' | 'operator'): string {
  const { type, data, ...event } = toDelivered(row, { kind: audience });
  return JSON.stringify({ type, timestamp: event.occurredAt, data, ...event });
}

/** Returns the body of a test event. */
export const createTestBody = (endpointId: string, at: Date): string =>
  JSON.stringify({ type: TEST_TYPE, timestamp: at.toISOString(), data: { endpointId } });
