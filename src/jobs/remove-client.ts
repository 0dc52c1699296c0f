import type { EntityManager } from '@mikro-orm/postgresql';
import type { JobHelpers } from 'graphile-worker';
import type { Services } from '../app-services.ts';
import { currentActor, runAs } from '../events/actor.ts';
import { lockOne } from '../transactions/locks.ts';
import { lockClientGrants, removeClients } from '../transactions/remove-clients.ts';
import { transaction } from '../transactions/transaction.ts';
import { enqueue, type Jobs } from './enqueue.ts';

/** Maximum number of transactions of one job, so that emails do not wait for it. */
const STEPS_MAX = 10;

/** Queues the rest of the removal of deleted clients, in the transaction that deletes them. */
export async function enqueueRemoval(tx: EntityManager, clientIds: readonly string[]): Promise<void> {
  const { actorKind, actorId, credentialId, address, requestId } = currentActor();
  const actor = { actorKind, actorId, credentialId, address, requestId };
  for (const clientId of clientIds) await enqueue(tx, 'removeClient', { clientId, actor }, `remove:${clientId}`);
}

/** Deletes the grants of a deleted client in steps, and the client with the last of them. */
export const removeClient = (
  { db, audit }: Services,
  { clientId, actor }: Jobs['removeClient'],
  helpers: Pick<JobHelpers, 'abortSignal'>,
): Promise<void> =>
  runAs({ ...actor, audit }, async () => {
    for (let steps = 1; ; steps += 1) {
      const isLast = steps === STEPS_MAX || helpers.abortSignal?.aborted === true;
      const isDone = await transaction(db, async (tx) => {
        if ((await lockOne(tx, 'oauth_client', clientId)) === null) return true;
        const left = await removeClients(tx, await lockClientGrants(tx, [clientId]));
        if (isLast) await enqueueRemoval(tx, left);
        return left.length === 0;
      });
      if (isDone || isLast) return;
    }
  });
