import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { WebhookEndpoint } from '../entities/index.ts';
import { record } from '../events/record.ts';
import { lockMany } from './locks.ts';

/** Why an endpoint was disabled. `gone`: it answered 410. `failing`: it did not succeed for days. */
export type DisableReason = 'gone' | 'failing' | 'member_left' | 'operator';

/** Disables the endpoints that match, until someone resumes them. What waits for them fails, and can be replayed. */
export async function disableEndpoints(
  tx: EntityManager,
  where: FilterQuery<WebhookEndpoint>,
  reason: DisableReason,
): Promise<WebhookEndpoint[]> {
  const endpoints = await lockMany(tx, 'webhook_endpoint', { $and: [where, { disabledAt: null }] });
  for (const endpoint of endpoints) {
    await tx.nativeUpdate(WebhookEndpoint, { id: endpoint.id }, { disabledAt: new Date(), disabledReason: reason });
    await changeDeliveries(tx, endpoint.id, `state = 'waiting'`, FAIL);
    record(tx, 'webhook_endpoint.disabled', {
      ...endpointFields(endpoint),
      accountId: endpoint.account?.id ?? null,
      reason,
    });
  }
  return endpoints;
}

/** Bounds one statement. An endpoint can have any number of deliveries, each with ten attempts. */
const BATCH_MAX = 2000;

const FAIL = `update webhook_delivery d set state = 'failed', reason = 'The endpoint was disabled.' from chosen
  where d.id = chosen.id and d.state = 'waiting' returning 1`;
const REMOVE = 'delete from webhook_delivery d using chosen where d.id = chosen.id returning 1';

/** Deletes the deliveries of an endpoint that is being deleted, which a cascade would do in one statement. */
export const removeDeliveries = (tx: EntityManager, endpointId: string): Promise<void> =>
  changeDeliveries(tx, endpointId, 'true', REMOVE);

async function changeDeliveries(tx: EntityManager, endpointId: string, which: string, change: string): Promise<void> {
  for (let changed = 1; changed > 0;) {
    const rows = await tx.execute<object[]>(
      `with chosen as (select id from webhook_delivery where endpoint_id = ? and ${which} limit ${BATCH_MAX}) ${change}`,
      [endpointId],
    );
    changed = rows.length;
  }
}

const NAME_LENGTH_MAX = 255;

/** Returns what every event of an endpoint says. Its name is the host alone: the rest of a URL can contain a secret. */
export const endpointFields = ({ id, team, url }: WebhookEndpoint) => ({
  endpointId: id,
  teamId: team?.id ?? null,
  name: new URL(url).host.slice(0, NAME_LENGTH_MAX),
});
