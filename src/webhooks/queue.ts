import { command } from '../db/query.ts';
import type { Sql } from '../events/chain/sql.ts';

const wakeText = (ids: string) =>
  `insert into webhook_queue (endpoint_id, next_at, is_failing)
   select e.id, now(), e.failing_since is not null from webhook_endpoint e
   where e.id in (select jsonb_array_elements_text(${ids}::jsonb))
     and exists (select from webhook_delivery d where d.endpoint_id = e.id and d.state = 'waiting')
   order by e.id
   on conflict (endpoint_id) do update
   set next_at = least(webhook_queue.next_at, excluded.next_at), is_failing = excluded.is_failing`;

const wake = command<never>('webhook_endpoint_upsert_wake', wakeText('$1'));

/**
 * Lets the next round look at those of the endpoints that have something waiting. Called after the change that makes it
 * due, in the same transaction. A round that looks at the same time waits for nothing and misses nothing: it either
 * sees the change, or what it writes is overwritten.
 */
export const wakeEndpoints = (tx: Sql, endpointIds: readonly string[]): Promise<object[]> =>
  tx.execute(wakeText('?'), [JSON.stringify(endpointIds)]);

/** Wakes endpoints like `wakeEndpoints`, by a named statement. */
export const wakeEndpointsStep = (endpointIds: readonly string[]) => [wake, [JSON.stringify(endpointIds)]] as const;

/** Makes deliveries of stopped processes due again; each costs an attempt. */
export async function recoverStopped(tx: Sql): Promise<void> {
  const rows = await tx.execute<{ endpoint_id: string }[]>(
    `update webhook_delivery set state = 'waiting', due_at = now()
     where id in (select id from webhook_delivery where state = 'sending' and due_at < now() for update skip locked)
     returning endpoint_id`,
  );
  if (rows.length > 0) await wakeEndpoints(tx, [...new Set(rows.map((row) => row.endpoint_id))]);
}

/** Wakes endpoints that have something waiting and no time to look at it, as an older version leaves them. */
export async function wakeForgotten(tx: Sql): Promise<void> {
  const rows = await tx.execute<{ id: string }[]>(
    `select e.id from webhook_endpoint e left join webhook_queue q on q.endpoint_id = e.id
     where q.next_at is null and e.paused_at is null and e.disabled_at is null
       and exists (select from webhook_delivery d where d.endpoint_id = e.id and d.state = 'waiting')
       and not exists (select from webhook_delivery d where d.endpoint_id = e.id and d.state = 'sending')`,
  );
  if (rows.length > 0)
    await wakeEndpoints(
      tx,
      rows.map(({ id }) => id),
    );
}
