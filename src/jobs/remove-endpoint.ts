import type { JobHelpers } from 'graphile-worker';
import { command } from '../db/query.ts';
import type { Services } from '../service/services.ts';
import { lockRows } from '../transactions/lock-order.ts';
import type { Change } from '../transactions/steps.ts';
import { enqueue, type Jobs } from './enqueue.ts';
import { workInSteps } from './steps.ts';

type Which = { readonly id: string } | { readonly teamId: string };

const removeBy = (column: 'id' | 'team_id') => ({
  lock: lockRows(
    'webhook_endpoint',
    `webhook_endpoint_lock_by_${column}`,
    `select id from webhook_endpoint where ${column} = $1`,
  ),
  remove: command<{ id: string }>(
    `webhook_endpoint_update_deleted_by_${column}`,
    `update webhook_endpoint set deleted_at = now(), disabled_at = coalesce(disabled_at, now()), team_id = null, account_id = null
     where ${column} = $1 and deleted_at is null returning id`,
  ),
});
const [byId, byTeam] = [removeBy('id'), removeBy('team_id')];

/**
 * Removes an endpoint, or all of a team: nobody sees them and they get nothing from the end of this transaction on.
 * Their deliveries follow by the job `removeEndpoint`, so that this transaction is short however many there are. A
 * removed endpoint belongs to no team, so that the team can be deleted.
 */
export async function removeEndpoints(tx: Change, which: Which): Promise<void> {
  const [statements, value] = 'id' in which ? [byId, which.id] : [byTeam, which.teamId];
  const [, removed] = await tx.run([
    [statements.lock, [value]],
    [statements.remove, [value]],
  ]);
  for (const { id } of removed) await enqueueRest(tx, id);
}

const enqueueRest = (tx: Change, endpointId: string): Promise<void> =>
  enqueue(tx, 'removeEndpoint', { endpointId }, `remove:${endpointId}`);

/** Bounds one statement. Each delivery is deleted with ten attempts at most. */
const DELETED_MAX = 100;

// In the order of an index, so that PostgreSQL does not look for the first ones in the rows of other endpoints.
const deleteDeliveries = command<object>(
  'webhook_delivery_delete_of_endpoint',
  `with chosen as (select id from webhook_delivery where endpoint_id = $1 order by id limit ${DELETED_MAX})
   delete from webhook_delivery d using chosen where d.id = chosen.id returning 1 as changed`,
);

const deleteEndpoint = command<never>(
  'webhook_endpoint_delete',
  'delete from webhook_endpoint where id = $1 and deleted_at is not null',
);

/** Deletes the deliveries of a removed endpoint in steps, and the endpoint after the last of them. */
export async function removeEndpoint(
  { db }: Services,
  { endpointId }: Jobs['removeEndpoint'],
  helpers: Pick<JobHelpers, 'abortSignal'>,
): Promise<void> {
  await workInSteps(helpers, db, async (tx, isLast) => {
    if ((await tx.run([[deleteDeliveries, [endpointId]]]))[0].length > 0) {
      if (isLast) await enqueueRest(tx, endpointId);
      return false;
    }
    tx.later([deleteEndpoint, [endpointId]]);
    return true;
  });
}
