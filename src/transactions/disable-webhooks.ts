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
    await tx.execute(
      `update webhook_delivery set state = 'failed', reason = 'The endpoint was disabled.'
       where endpoint_id = ? and state = 'waiting'`,
      [endpoint.id],
    );
    record(tx, 'webhook_endpoint.disabled', {
      ...endpointFields(endpoint),
      accountId: endpoint.account?.id ?? null,
      reason,
    });
  }
  return endpoints;
}

const NAME_LENGTH_MAX = 255;

/** Returns what every event of an endpoint says. Its name is the host alone: the rest of a URL can contain a secret. */
export const endpointFields = ({ id, team, url }: WebhookEndpoint) => ({
  endpointId: id,
  teamId: team?.id ?? null,
  name: new URL(url).host.slice(0, NAME_LENGTH_MAX),
});
