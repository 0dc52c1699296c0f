import { query, type QueryRunner } from '../../db/query.ts';
import { HAS_NO_POSITION, IS_SNAPSHOT_VALID } from './candidates.ts';

/** The age in seconds of the oldest event that waits for its position; 0 if none waits. */
export type UnnumberedAge = {
  /** Committed, and to be numbered within milliseconds. */
  readonly new: number;
  /** Of the waiting list: without a valid MAC, or of before a restore. */
  readonly pending: number;
};

const age = (at: string): string => `greatest(0, coalesce(extract(epoch from now() - ${at}), 0))::float8`;

/**
 * Reads one event of each kind by an index, like the numbering itself (`candidates.ts`), and takes no lock, so that it
 * answers also if the numbering stands still. Without a valid snapshot, new events are those after the last numbered one.
 */
const unnumberedAge = query<UnnumberedAge>(
  'audit_event_find_unnumbered_age',
  `with head as materialized (
     select snapshot, coalesce(${IS_SNAPSHOT_VALID}, false) as is_valid from (select) one left join audit_head h on true
   )
   select
     ${age(`least(
       (select e.occurred_at from audit_event e
        where e.xid = any(array(select pg_snapshot_xip(snapshot) from head where is_valid)) and ${HAS_NO_POSITION}
        order by e.xid, e.id limit 1),
       (select e.occurred_at from audit_event e
        where e.xid >= (select pg_snapshot_xmax(snapshot) from head where is_valid) and ${HAS_NO_POSITION}
        order by e.xid limit 1),
       (select e.occurred_at from audit_event e
        where not (select is_valid from head) and ${HAS_NO_POSITION}
          and e.id > coalesce((select event_id from audit_link order by sequence desc limit 1), '')
        order by e.id limit 1))`)} as new,
     ${age(`(select e.occurred_at from audit_pending p join audit_event e on e.id = p.event_id
             order by p.event_id limit 1)`)} as pending`,
  { rows: 'many' },
);

/** Reads for how long the numbering of events stands still, for metrics. */
export async function readUnnumberedAge(db: QueryRunner): Promise<UnnumberedAge> {
  const [found] = await db.query(unnumberedAge, []);
  return found ?? { new: 0, pending: 0 };
}
