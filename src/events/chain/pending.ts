import type { EntityManager } from '@mikro-orm/postgresql';
import type { Encryption } from '../../crypto/encryption.ts';
import { findUnsignedUntil, type StoredCheckpoint } from './checkpoints.ts';
import { eventKeys, isEventSigned } from './event-mac.ts';
import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import { faultAt, type Fault } from './faults.ts';

const PAGE = 2000;
const FAULTS_MAX = 20;

type PendingRow = CanonicalRow & { event_id: string };

/** Counts the events that are not chained yet, and finds those that the worker rejects. */
export async function checkPending(tx: EntityManager, encryption: Encryption, last: StoredCheckpoint | undefined) {
  const keys = eventKeys(encryption);
  const isUnsignedAllowed = Date.now() < Date.parse(findUnsignedUntil(last));
  const faults: Fault[] = [];
  let count = 0;
  for (let after = ''; ;) {
    const rows = await tx.execute<PendingRow[]>(
      `select p.event_id, ${CANONICAL} from audit_pending p left join audit_event e on e.id = p.event_id
       where p.event_id > ? order by p.event_id limit ?`,
      [after, PAGE],
    );
    for (const row of rows) {
      const fault = pendingFault(keys, row, isUnsignedAllowed);
      if (fault !== null && faults.length < FAULTS_MAX) faults.push(fault);
    }
    count += rows.length;
    after = rows.at(-1)?.event_id ?? after;
    if (rows.length < PAGE) return { count, faults };
  }
}

function pendingFault(keys: readonly Buffer[], row: PendingRow, isUnsignedAllowed: boolean): Fault | null {
  if (row.id === null) return faultAt('event_missing', null, row.event_id);
  const isAuthentic = row.mac === null ? isUnsignedAllowed : isEventSigned(keys, row);
  return isAuthentic ? null : faultAt('event_forged', null, row.event_id);
}

/** Finds the first event that is neither chained nor pending: it was inserted with the triggers off. */
export async function findUnchained(tx: EntityManager): Promise<Fault[]> {
  for (let after = ''; ;) {
    const [page] = await tx.execute<{ last: string | null; size: number; stray: string | null }[]>(
      `with page as (select id from audit_event where id > ? order by id limit ?)
       select max(id) as last, count(*)::int as size, min(id) filter (
         where not exists (select from audit_link l where l.event_id = id)
           and not exists (select from audit_pending p where p.event_id = id)) as stray
       from page`,
      [after, PAGE],
    );
    if (page?.stray) return [faultAt('event_unchained', null, page.stray)];
    if (page === undefined || page.size < PAGE || page.last === null) return [];
    after = page.last;
  }
}
