import type { EntityManager } from '@mikro-orm/postgresql';
import { lockRows } from './locks.ts';
import { recordDeletedGrants } from './revocation.ts';

/** Maximum number of grants that are deleted in one transaction, with their tokens and API keys. */
const GRANTS_MAX = 500;

/** The part of locked clients that fits into one transaction. */
export type ClientRemoval = { readonly clientIds: readonly string[]; readonly grantIds: readonly string[] };

/** Locks the grants that `removeClients` deletes. Separate from it, so that callers can lock other grants as well. */
export async function lockClientGrants(tx: EntityManager, clientIds: readonly string[]): Promise<ClientRemoval> {
  const grants = await lockRows<{ id: string }>(
    tx,
    'oauth_grant',
    `select id from oauth_grant
     where id = any(array(select id from oauth_grant where client_id = any(string_to_array(?, ' ')) limit ${GRANTS_MAX}))`,
    [clientIds.join(' ')],
  );
  return { clientIds, grantIds: grants.map(({ id }) => id) };
}

/**
 * Deletes clients, and records the end of their grants and API keys. Clients with too many grants for one transaction
 * lose all access with it: they are marked as deleted.
 * @returns those, whose rest has to be deleted by the job `removeClient`
 */
export async function removeClients(tx: EntityManager, { clientIds, grantIds }: ClientRemoval): Promise<string[]> {
  const [grants, clients] = [grantIds.join(' '), clientIds.join(' ')];
  await recordDeletedGrants(tx, { id: grantIds }, 'client deleted');
  await tx.execute(`delete from oauth_grant where id = any(string_to_array(?, ' '))`, [grants]);
  await tx.execute(
    `delete from oauth_token_family where id = any(array(
       select id from oauth_token_family
       where client_id = any(string_to_array(?, ' ')) and grant_id is null limit ${GRANTS_MAX}))`,
    [clients],
  );
  const left = await tx.execute<{ id: string }[]>(
    `update oauth_client c set deleted_at = coalesce(deleted_at, now()), account_id = null
     where id = any(string_to_array(?, ' ')) and (exists (select from oauth_grant g where g.client_id = c.id)
       or exists (select from oauth_token_family f where f.client_id = c.id))
     returning id`,
    [clients],
  );
  const leftIds = left.map(({ id }) => id);
  const gone = clientIds.filter((id) => !leftIds.includes(id));
  await tx.execute(`delete from oauth_client where id = any(string_to_array(?, ' '))`, [gone.join(' ')]);
  return leftIds;
}
