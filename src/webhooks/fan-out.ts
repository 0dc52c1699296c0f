import type { Pool } from 'pg';
import { newId } from '../entities/index.ts';
import { inTransaction, type Sql } from '../events/chain/sql.ts';
import { wakeEndpoints } from './queue.ts';
import { knownNames } from '../events/catalogue.ts';
import { STOP_INTERVAL } from '../events/newer-version.ts';
import { INSTALLATION_TYPES, TEAM_TYPES } from './types.ts';

const BATCH_MAX = 500;

type Pair = { readonly endpoint_id: string; readonly event_id: string; readonly event: string };

/**
 * Creates a delivery of each numbered event for each endpoint that subscribes to it, and moves the cursor in the same
 * transaction. Of several processes one does it.
 * @returns whether there can be more
 */
export const fanOut = (pool: Pool): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const [cursor] = await tx.execute<{ sequence: string; not_before: string | null }[]>(
      'select sequence::text, not_before::text from webhook_cursor where id = 1 for update skip locked',
    );
    if (cursor === undefined) return false;
    const [batch] = await tx.execute<{ last: string | null; size: number }[]>(BATCH, [
      cursor.sequence,
      BATCH_MAX,
      JSON.stringify(knownNames()),
    ]);
    if (batch === undefined || batch.last === null) return false;
    const pairs = await tx.execute<Pair[]>(SUBSCRIPTIONS, [
      JSON.stringify(TEAM_TYPES),
      JSON.stringify(INSTALLATION_TYPES),
      cursor.sequence,
      batch.last,
      cursor.not_before,
    ]);
    if (pairs.length > 0) {
      await insertDeliveries(tx, pairs);
      await wakeEndpoints(tx, [...new Set(pairs.map((pair) => pair.endpoint_id))]);
    }
    await tx.execute('update webhook_cursor set sequence = ?::bigint where id = 1', [batch.last]);
    return batch.size === BATCH_MAX;
  });

/** The next events, up to the first one of a type that only a newer version knows, which delivers it. */
const BATCH = `
  with batch as (
    select l.sequence, e.event, e.occurred_at
    from (select sequence, event_id from audit_link where sequence > ?::bigint order by sequence limit ?) l
    left join audit_event e on e.id = l.event_id
  ), stop as (
    select min(sequence) as sequence from batch
    where occurred_at > now() - interval '${STOP_INTERVAL}'
      and event not in (select jsonb_array_elements_text(?::jsonb))
  )
  select max(batch.sequence)::text as last, count(*)::int as size
  from batch cross join stop where stop.sequence is null or batch.sequence < stop.sequence`;

/** Endpoints and the events that they get. A disabled endpoint gets none; a paused one gets them later. */
const SUBSCRIPTIONS = `
  with team_type as (select jsonb_array_elements_text(?::jsonb) as name),
    installation_type as (select jsonb_array_elements_text(?::jsonb) as name)
  select w.id as endpoint_id, e.id as event_id, e.event
  from audit_link l
  join audit_event e on e.id = l.event_id
  join webhook_endpoint w on (w.team_id is null and e.event in (select name from installation_type))
    or (w.team_id = e.team_id and e.event in (select name from team_type))
  where l.sequence > ?::bigint and l.sequence <= ?::bigint and e.occurred_at >= coalesce(?::timestamptz, '-infinity')
    and w.disabled_at is null and (cardinality(w.types) = 0 or e.event = any(w.types))
  order by l.sequence, w.id`;

const insertDeliveries = (tx: Sql, pairs: readonly Pair[]) =>
  tx.execute(
    `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at)
     select id, now(), endpoint_id, event_id, event, 'waiting', now()
     from jsonb_to_recordset(?::jsonb) as d (id text, endpoint_id text, event_id text, event text)
     on conflict do nothing`,
    [JSON.stringify(pairs.map((pair) => ({ id: newId('whd'), ...pair })))],
  );
