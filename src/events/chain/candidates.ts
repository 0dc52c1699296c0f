import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import type { Sql } from './sql.ts';

/** Events without a position. `xid` is null in those of versions that did not store it. */
export type Candidate = CanonicalRow & { readonly xid: string | null };

/** Whether the stored snapshot belongs to this server and to its past. After a restore it says nothing. */
export const IS_SNAPSHOT_VALID = `(h.server = (select system_identifier::text from pg_control_system())
  and pg_snapshot_xmax(h.snapshot) <= pg_snapshot_xmax(pg_current_snapshot()))`;

export const HAS_NO_POSITION = `not exists (select from audit_link l where l.event_id = e.id)
  and not exists (select from audit_pending p where p.event_id = e.id)`;

/** Whether retention has removed the position of an event, whose partition is dropped later. */
export const IS_PRUNED = `coalesce(e.id < (select pruned_before from audit_head where id = 1), false)`;

const CANDIDATE = `select ${CANONICAL}, e.xid::text as xid from audit_event e`;

/**
 * Reads events that were committed since the stored snapshot, in the order in which their transactions began to write.
 * Those of transactions that were open then come first. Neither depends on how long another transaction stays open.
 * @param after the `xid` of the last event of the page before
 */
export const readNew = (sql: Sql, after: string | null, limit: number): Promise<Candidate[]> =>
  sql.execute<Candidate[]>(
    `with head as materialized (select snapshot from audit_head where id = 1)
     select * from (
       (${CANDIDATE} where e.xid = any(array(select pg_snapshot_xip(snapshot) from head)) and ${HAS_NO_POSITION}
        order by e.xid, e.id limit ?)
       union all
       (${CANDIDATE}
        where e.xid >= greatest((select pg_snapshot_xmax(snapshot) from head), ?::text::xid8)
          and e.xid < pg_snapshot_xmax(pg_current_snapshot()) and ${HAS_NO_POSITION}
        order by e.xid, e.id limit ?)) found
     order by xid::xid8, id limit ?`,
    [limit, after, limit, limit],
  );

/** Reads events of the waiting list. @param after the id of the last event of the page before */
export const readPending = (sql: Sql, after: string | null, limit: number): Promise<Candidate[]> =>
  sql.execute<Candidate[]>(
    `select ${CANONICAL}, e.xid::text as xid from audit_pending p join audit_event e on e.id = p.event_id
     where p.event_id > ? order by p.event_id limit ?`,
    [after ?? '', limit],
  );

const PAGE = 10_000;

/** Moves the stored snapshot forward to one in which every event was looked for. */
export const storeSnapshot = (sql: Sql, snapshot: string): Promise<object[]> =>
  sql.execute(
    `insert into audit_head (id, snapshot, server)
     select 1, ?::text::pg_snapshot, system_identifier::text from pg_control_system()
     on conflict (id) do update set snapshot = excluded.snapshot, server = excluded.server`,
    [snapshot],
  );

/**
 * Puts every event without a position on the waiting list. For a database whose snapshot is not valid, such as a
 * restored one.
 */
export async function listUnnumbered(sql: Sql): Promise<void> {
  const [now] = await sql.execute<{ snapshot: string }[]>('select pg_current_snapshot()::text as snapshot');
  for (let after = ''; ;) {
    const [page] = await sql.execute<{ last: string | null; size: number }[]>(
      `with page as (select id from audit_event where id > ? order by id limit ?),
         listed as (insert into audit_pending select id from page e where ${HAS_NO_POSITION}
           and not ${IS_PRUNED})
       select max(id) as last, count(*)::int as size from page`,
      [after, PAGE],
    );
    if (page === undefined || page.last === null) break;
    after = page.last;
    if (page.size < PAGE) break;
  }
  if (now !== undefined) await storeSnapshot(sql, now.snapshot);
}
