import type { EntityManager } from '@mikro-orm/postgresql';
import type { JobHelpers } from 'graphile-worker';
import type { Services } from '../app-services.ts';
import { deleteDeliveries } from '../transactions/disable-webhooks.ts';
import { lockRows } from '../transactions/locks.ts';
import { transaction } from '../transactions/transaction.ts';
import { enqueue, type Jobs } from './enqueue.ts';

/** Maximum number of transactions of one job, so that emails do not wait for it. */
const STEPS_MAX = 10;

/**
 * Removes an endpoint, or all of a team: nobody sees them and they get nothing from the end of this transaction on.
 * Their deliveries follow by the job `removeEndpoint`, so that this transaction is short however many there are. A
 * removed endpoint belongs to no team, so that the team can be deleted.
 */
export async function removeEndpoints(
  tx: EntityManager,
  which: { readonly id: string } | { readonly teamId: string },
): Promise<void> {
  const [column, value] = 'id' in which ? ['id', which.id] : ['team_id', which.teamId];
  await lockRows(tx, 'webhook_endpoint', `select id from webhook_endpoint where ${column} = ?`, [value]);
  const rows = await tx.execute<{ id: string }[]>(
    `update webhook_endpoint set deleted_at = now(), disabled_at = coalesce(disabled_at, now()), team_id = null, account_id = null
     where ${column} = ? and deleted_at is null returning id`,
    [value],
  );
  for (const { id } of rows) await enqueueRest(tx, id);
}

const enqueueRest = (tx: EntityManager, endpointId: string): Promise<void> =>
  enqueue(tx, 'removeEndpoint', { endpointId }, `remove:${endpointId}`);

/** Deletes the deliveries of a removed endpoint in steps, and the endpoint after the last of them. */
export async function removeEndpoint(
  { db }: Services,
  { endpointId }: Jobs['removeEndpoint'],
  { abortSignal }: Pick<JobHelpers, 'abortSignal'>,
): Promise<void> {
  for (let steps = 1; ; steps += 1) {
    const isLast = steps === STEPS_MAX || abortSignal?.aborted === true;
    const isDone = await transaction(db, async (tx) => {
      if ((await deleteDeliveries(tx, endpointId)) > 0) {
        if (isLast) await enqueueRest(tx, endpointId);
        return false;
      }
      await tx.execute('delete from webhook_endpoint where id = ? and deleted_at is not null', [endpointId]);
      return true;
    });
    if (isDone || isLast) return;
  }
}
