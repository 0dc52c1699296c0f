import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { command, type Command } from '../db/query.ts';
import type { WebhookEndpoint } from '../entities/index.ts';
import type { EndedEndpoint } from './lock-steps.ts';
import { lockMany } from './locks.ts';
import { joinSteps, type Change } from './steps.ts';

/** Why an endpoint was disabled. `gone`: it answered 410. `failing`: it did not succeed for days. */
export type DisableReason = 'gone' | 'failing' | 'member_left' | 'operator';

/** Disables the endpoints that match, until someone resumes them. What waits for them fails, and can be replayed. */
export async function disableEndpoints(
  tx: EntityManager,
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
  await joinSteps(tx, (change) => disableLocked(change, rows, reason));
  return endpoints;
}

const disableEndpoint = command<never>(
  'disable_endpoint',
  'update webhook_endpoint set disabled_at = now(), disabled_reason = $2 where id = $1',
);

/** Disables locked endpoints like `disableEndpoints`. */
export async function disableLocked(
  change: Change,
  endpoints: readonly EndedEndpoint[],
  reason: DisableReason,
): Promise<void> {
  for (const { id, url, team_id: teamId, account_id: accountId } of endpoints) {
    change.later([disableEndpoint, [id, reason]]);
    await changeDeliveries(change, failDeliveries, id);
    change.record('webhook_endpoint.disabled', {
      ...endpointFields({ id, url, team: teamId === null ? null : { id: teamId } }),
      accountId,
      reason,
    });
  }
}

/** Bounds one statement. An endpoint can have any number of deliveries, each with ten attempts. */
const BATCH_MAX = 2000;

const changeBatch = (name: string, which: string, change: string) =>
  command<object>(
    name,
    `with chosen as (select id from webhook_delivery where endpoint_id = $1 and ${which} limit ${BATCH_MAX}) ${change}`,
  );

const failDeliveries = changeBatch(
  'fail_deliveries',
  `state = 'waiting'`,
  `update webhook_delivery d set state = 'failed', reason = 'The endpoint was disabled.' from chosen
   where d.id = chosen.id and d.state = 'waiting' returning 1 as changed`,
);

const deleteBatch = changeBatch(
  'delete_deliveries',
  'true',
  'delete from webhook_delivery d using chosen where d.id = chosen.id returning 1 as changed',
);

/** Deletes the next deliveries of a removed endpoint, with their attempts. @returns how many; 0 if none were left */
export async function deleteDeliveries(tx: EntityManager, endpointId: string): Promise<number> {
  let deleted = 0;
  await joinSteps(tx, async ({ run }) => {
    const [rows] = await run([[deleteBatch, [endpointId]]]);
    deleted = rows.length;
  });
  return deleted;
}

async function changeDeliveries({ run }: Change, batch: Command<object>, endpointId: string): Promise<void> {
  for (let changed = 1; changed > 0;) {
    const [rows] = await run([[batch, [endpointId]]]);
    changed = rows.length;
  }
}

const NAME_LENGTH_MAX = 255;

type Named = Pick<WebhookEndpoint, 'id' | 'url'> & { readonly team?: { readonly id: string } | null | undefined };

/** Returns what every event of an endpoint says. Its name is the host alone: the rest of a URL can contain a secret. */
export const endpointFields = ({ id, team, url }: Named) => ({
  endpointId: id,
  teamId: team?.id ?? null,
  name: new URL(url).host.slice(0, NAME_LENGTH_MAX),
});
