import type { Encryption } from '../../crypto/encryption.ts';
import { IS_SNAPSHOT_VALID } from './candidates.ts';
import type { StoredCheckpoint } from './checkpoints.ts';
import { faultAt, type Fault } from './faults.ts';
import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import { createAcceptance } from './links.ts';
import type { Sql } from './sql.ts';

const PAGE = 2000;
const FAULTS_MAX = 20;

/**
 * `isFindable`: the worker finds it with its next run, or it waits. `isExpired`: retention has removed its position, and
 * drops the partition of its month. Its key may no longer be in SECRET_KEYS.
 */
type UnlinkedRow = CanonicalRow & { readonly isFindable: boolean; readonly isExpired: boolean };

/**
 * Counts the events without a position, and finds those that never get one: the worker rejects them, or their link
 * or their transaction id was altered.
 */
export async function checkUnlinked(tx: Sql, encryption: Encryption, last: StoredCheckpoint | undefined) {
  const isAccepted = createAcceptance(encryption, last);
  const faults = await findMissing(tx);
  let count = faults.length;
  for (let after = ''; ;) {
    const [page] = await tx.execute<{ last: string | null; size: number; unlinked: string[] | null }[]>(
      `with page as (select id from audit_event where id > ? order by id limit ?)
       select max(id) as last, count(*)::int as size,
         array_agg(id order by id) filter (where not exists (select from audit_link l where l.event_id = id)) as unlinked
       from page`,
      [after, PAGE],
    );
    const ids = page?.unlinked ?? [];
    for (const row of ids.length === 0 ? [] : await readUnlinked(tx, ids)) {
      if (row.isExpired && !row.isFindable) continue;
      count += 1;
      const kind = !isAccepted(row) ? 'event_forged' : row.isFindable ? null : 'event_unchained';
      if (kind !== null && faults.length < FAULTS_MAX) faults.push(faultAt(kind, null, row.id));
    }
    if (page === undefined || page.size < PAGE || page.last === null) return { count, faults };
    after = page.last;
  }
}

/** Not later than the last run of retention, as the end of the chain signs it. */
const IS_EXPIRED = `coalesce(e.id < h.pruned_before and e.occurred_at < coalesce(h.root_at,
  (select max(created_at) from audit_checkpoint where is_root)), false)`;

const readUnlinked = (tx: Sql, ids: readonly string[]): Promise<UnlinkedRow[]> =>
  tx.execute<UnlinkedRow[]>(
    `select ${CANONICAL}, exists (select from audit_pending p where p.event_id = e.id)
       or coalesce(not pg_visible_in_snapshot(e.xid, h.snapshot) or not ${IS_SNAPSHOT_VALID}, h.id is null) as "isFindable",
       ${IS_EXPIRED} as "isExpired"
     from audit_event e left join audit_head h on true where e.id = any(string_to_array(?, ' ')) order by e.id`,
    [ids.join(' ')],
  );

/** Finds events of the waiting list that were deleted. */
async function findMissing(tx: Sql): Promise<Fault[]> {
  const rows = await tx.execute<{ id: string }[]>(
    `select event_id as id from audit_pending p
     where not exists (select from audit_event e where e.id = p.event_id) order by event_id limit ?`,
    [FAULTS_MAX],
  );
  return rows.map(({ id }) => faultAt('event_missing', null, id));
}
