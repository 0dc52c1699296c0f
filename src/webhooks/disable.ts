import type { FilterQuery } from '@mikro-orm/core';
import { command } from '../db/query.ts';
import type { WebhookEndpoint } from '../entities/index.ts';
import { lockMany } from '../transactions/locks.ts';
import type { Change } from '../transactions/steps.ts';

/** Why an endpoint was disabled. `gone`: it answered 410. `failing`: it did not succeed for days. */
export type DisableReason = 'gone' | 'failing' | 'member_left' | 'operator';

/** Disables the endpoints that match, until someone resumes them. What waits for them fails, and can be replayed. */
export async function disableEndpoints(
  tx: Change,
  where: FilterQuery<WebhookEndpoint>,
  reason: DisableReason,
): Promise<WebhookEndpoint[]> {
  const endpoints = await lockMany(tx, 'webhook_endpoint', { $and: [where, { disabledAt: null }] });
  const rows = endpoints.map(({ id, team, account, url }) => ({
    id,
    url,
    team_id: team?.id ?? null,
    account_id: account?.id ?? null,
  }));
  await disableLocked(tx, rows, reason);
  return endpoints;
}

const disableEndpoint = command<never>(
  'webhook_endpoint_update_disabled',
  'update webhook_endpoint set disabled_at = now(), disabled_reason = $2 where id = $1',
);

export type EndedEndpoint = { id: string; team_id: string | null; account_id: string | null; url: string };

/** Disables locked endpoints like `disableEndpoints`. */
export async function disableLocked(
  change: Change,
  endpoints: readonly EndedEndpoint[],
  reason: DisableReason,
): Promise<void> {
  for (const { id, url, team_id: teamId, account_id: accountId } of endpoints) {
    change.later([disableEndpoint, [id, reason]]);
    for (let isLeft = true; isLeft;) isLeft = (await change.run([[failDeliveries, [id]]]))[0].length > 0;
    change.record('webhook_endpoint.disabled', {
      ...endpointFields({ id, url, team: teamId === null ? null : { id: teamId } }),
      accountId,
      reason,
    });
  }
}

/** Bounds one statement. An endpoint can have any number of deliveries. */
const FAILED_MAX = 2000;

// In the order of an index, so that PostgreSQL does not look for the first ones in the rows of other endpoints.
const failDeliveries = command<object>(
  'webhook_delivery_update_failed',
  `with chosen as (
     select id from webhook_delivery where endpoint_id = $1 and state = 'waiting' order by due_at limit ${FAILED_MAX})
   update webhook_delivery d set state = 'failed', reason = 'The endpoint was disabled.' from chosen
   where d.id = chosen.id and d.state = 'waiting' returning 1 as changed`,
);

const NAME_LENGTH_MAX = 255;

type Named = Pick<WebhookEndpoint, 'id' | 'url'> & { readonly team?: { readonly id: string } | null | undefined };

/** Returns what every event of an endpoint says. Its name is the host alone: the rest of a URL can contain a secret. */
export const endpointFields = ({ id, team, url }: Named) => ({
  endpointId: id,
  teamId: team?.id ?? null,
  name: new URL(url).host.slice(0, NAME_LENGTH_MAX),
});
