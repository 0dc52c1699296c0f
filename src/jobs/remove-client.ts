import type { JobHelpers } from 'graphile-worker';
import { command } from '../db/query.ts';
import type { Services } from '../service/services.ts';
import { runAsStored, storedActor } from '../events/actor.ts';
import { lockOne } from '../transactions/locks.ts';
import { lockRows } from '../transactions/lock-order.ts';
import { recordDeletedGrants } from '../transactions/revocation.ts';
import type { Change } from '../transactions/steps.ts';
import { enqueue, type Jobs } from './enqueue.ts';
import { planByIndexes, workInSteps } from './steps.ts';

/** Maximum number of grants that are deleted in one transaction, with their tokens and API keys. */
const GRANTS_MAX = 100;

/** The part of locked clients that fits into one transaction. */
type ClientRemoval = { readonly clientIds: readonly string[]; readonly grantIds: readonly string[] };

const lockGrantsOfClients = lockRows(
  'oauth_grant',
  'oauth_grant_lock_of_clients',
  `select id from oauth_grant
   where id = any(array(select id from oauth_grant where client_id = any(string_to_array($1, ' ')) limit ${GRANTS_MAX}))`,
);

/** Locks the grants that `removeClients` deletes. Separate from it, so that callers can lock other grants as well. */
export async function lockClientGrants(tx: Change, clientIds: readonly string[]): Promise<ClientRemoval> {
  await planByIndexes(tx);
  const [grants] = await tx.run([[lockGrantsOfClients, [clientIds.join(' ')]]]);
  return { clientIds, grantIds: grants.map(({ id }) => id) };
}

const deleteGrants = command<never>(
  'oauth_grant_delete_many',
  `delete from oauth_grant where id = any(string_to_array($1, ' '))`,
);

// With the last grants, because a statement would read the families of all grants to find those without one.
const deleteFamilies = command<never>(
  'oauth_token_family_delete_of_clients',
  `delete from oauth_token_family where id = any(array(
     select id from oauth_token_family
     where client_id = any(string_to_array($1, ' ')) and grant_id is null limit ${GRANTS_MAX}))`,
);

const markDeleted = command<{ id: string }>(
  'oauth_client_update_deleted',
  `update oauth_client c set deleted_at = coalesce(deleted_at, now()), account_id = null
   where id = any(string_to_array($1, ' ')) and (exists (select from oauth_grant g where g.client_id = c.id)
     or exists (select from oauth_token_family f where f.client_id = c.id))
   returning id`,
);

const deleteClients = command<never>(
  'oauth_client_delete_many',
  `delete from oauth_client where id = any(string_to_array($1, ' '))`,
);

/**
 * Deletes clients, and records the end of their grants and API keys. Clients with too many grants for one transaction
 * lose all access with it: they are marked as deleted.
 * @returns those, whose rest has to be deleted by the job `removeClient`
 */
export async function removeClients(tx: Change, { clientIds, grantIds }: ClientRemoval): Promise<string[]> {
  const clients = clientIds.join(' ');
  await recordDeletedGrants(tx, { id: grantIds }, 'client deleted');
  tx.later([deleteGrants, [grantIds.join(' ')]]);
  if (grantIds.length < GRANTS_MAX) tx.later([deleteFamilies, [clients]]);
  const left = (await tx.run([[markDeleted, [clients]]]))[0].map(({ id }) => id);
  tx.later([deleteClients, [clientIds.filter((id) => !left.includes(id)).join(' ')]]);
  return left;
}

/** Queues the rest of the removal of deleted clients, in the transaction that deletes them. */
export async function enqueueRemoval(tx: Change, clientIds: readonly string[]): Promise<void> {
  const actor = storedActor();
  for (const clientId of clientIds) await enqueue(tx, 'removeClient', { clientId, actor }, `remove:${clientId}`);
}

/** Deletes the grants of a deleted client in steps, and the client with the last of them. */
export const removeClient = (
  { db, audit }: Services,
  { clientId, actor }: Jobs['removeClient'],
  helpers: Pick<JobHelpers, 'abortSignal'>,
): Promise<void> =>
  runAsStored(actor, audit, async () => {
    await workInSteps(helpers, db, async (tx, isLast) => {
      if ((await lockOne(tx, 'oauth_client', clientId)) === null) return true;
      const left = await removeClients(tx, await lockClientGrants(tx, [clientId]));
      if (isLast) await enqueueRemoval(tx, left);
      return left.length === 0;
    });
  });
