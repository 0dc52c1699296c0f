import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import { WebhookDelivery, type WebhookEndpoint } from '../../entities/index.ts';
import { record } from '../../events/record.ts';
import { ProblemError } from '../../errors.ts';
import { TEST_TYPE } from '../../webhooks/payload.ts';
import { wakeEndpoints } from '../../webhooks/queue.ts';
import { endpointFields } from '../../transactions/disable-webhooks.ts';
import { withEndpoint, type Owner } from './owner.ts';

const WAITING_TESTS_MAX = 5;

/** Sends a test event, once. @returns the id of its delivery */
export const sendTestEvent = ({ db }: Services, owner: Owner, endpointId: string): Promise<string> =>
  withEndpoint(db, owner, endpointId, async (tx, endpoint) => {
    requireActive(endpoint);
    const waiting = { endpoint: endpointId, eventId: null, state: 'waiting' as const };
    if ((await tx.count(WebhookDelivery, waiting)) >= WAITING_TESTS_MAX)
      throw new ProblemError('webhook_inactive', 'Test events are waiting already.');
    const delivery = tx.create(WebhookDelivery, { ...waiting, event: TEST_TYPE, dueAt: new Date(0) });
    record(tx, 'webhook_endpoint.tested', endpointFields(endpoint));
    await tx.flush();
    await wakeEndpoints(tx, [endpointId]);
    return delivery.id;
  });

const REPLAYED = `set state = 'waiting', attempts = 0, due_at = now(), reason = null`;

/** Sends a delivery again, with the same `webhook-id`. @throws webhook_delivery_not_found (404) */
export const replayDelivery = ({ db }: Services, owner: Owner, endpointId: string, deliveryId: string): Promise<void> =>
  withEndpoint(db, owner, endpointId, async (tx, endpoint) => {
    requireActive(endpoint);
    const found = await tx.count(WebhookDelivery, { id: deliveryId, endpoint: endpointId });
    if (found === 0) throw new ProblemError('webhook_delivery_not_found');
    // One that waits or is being sent needs no replay.
    await replay(tx, endpoint, `id = ? and state in ('delivered', 'failed', 'skipped')`, [deliveryId]);
  });

/** Sends everything again that failed since a time. @returns the number of deliveries */
export const replayFailed = ({ db }: Services, owner: Owner, endpointId: string, since: Date): Promise<number> =>
  withEndpoint(db, owner, endpointId, async (tx, endpoint) => {
    requireActive(endpoint);
    return replay(tx, endpoint, `created_at >= ? and state = 'failed'`, [since]);
  });

async function replay(
  tx: EntityManager,
  endpoint: WebhookEndpoint,
  which: string,
  values: readonly unknown[],
): Promise<number> {
  const rows = await tx.execute<object[]>(
    `update webhook_delivery ${REPLAYED} where endpoint_id = ? and ${which} returning 1`,
    [endpoint.id, ...values],
  );
  if (rows.length > 0) {
    record(tx, 'webhook_endpoint.replayed', { ...endpointFields(endpoint), number: rows.length });
    await wakeEndpoints(tx, [endpoint.id]);
  }
  return rows.length;
}

/** @throws webhook_inactive (409) */
function requireActive({ pausedAt, disabledAt }: WebhookEndpoint): void {
  if (pausedAt || disabledAt) throw new ProblemError('webhook_inactive');
}
