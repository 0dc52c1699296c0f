import { serialize, type EventRow } from '../events/serialize.ts';

/** The type of the event that an owner of an endpoint sends to test it. */
export const TEST_TYPE = 'webhook.test';

/**
 * Returns the body of a webhook (Standard Webhooks, section "Payload"). It depends only on the event, whose row never
 * changes, so every attempt sends the same bytes. It has no IP addresses and request ids.
 */
export function createBody(row: EventRow, audience: 'team' | 'operator'): string {
  const { id, type, occurredAt, actor, teamId, accountId, target, data: details, count } = serialize(row, audience);
  const { address: _address, ...actorIds } = actor;
  return JSON.stringify({
    type,
    timestamp: occurredAt,
    data: { id, teamId, accountId, actor: actorIds, target, details, count },
  });
}

/** Returns the body of a test event. */
export const createTestBody = (endpointId: string, at: Date): string =>
  JSON.stringify({ type: TEST_TYPE, timestamp: at.toISOString(), data: { endpointId } });
