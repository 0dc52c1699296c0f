import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  CANONICAL,
  CHECKPOINT_KEYS,
  isSigned,
  nextPlace,
  START,
  type CanonicalRow,
  type Checkpoint,
  type Place,
} from '../../access/audit-chain.ts';
import type { Services } from '../../rpc/context.ts';

const PAGE = 2000;

/** What is wrong at the first place where something is. */
export type Fault = {
  readonly kind:
    | 'event_changed'
    | 'event_missing'
    | 'event_unchained'
    | 'link_missing'
    | 'checkpoint_differs'
    | 'checkpoint_not_signed'
    | 'end_not_signed'
    | 'end_missing';
  readonly sequence: number | null;
  readonly eventId: string | null;
};

export type Verification = {
  readonly fault: Fault | null;
  /** How many events were compared with the chain, and how many wait for their place in it. */
  readonly events: number;
  readonly pending: number;
  /** How far the chain goes. */
  readonly end: Place;
};

/**
 * Computes the chain again from its events, all as of one moment, and compares it with what is stored.
 * @param known a place that it is known to have had, from the log: what was cut off behind it is missed then
 */
export async function verifyAudit({ db, sealer }: Services, known?: Place): Promise<Verification> {
  const keys = sealer.keysFor(CHECKPOINT_KEYS);
  return db.em().transactional(
    async (tx) => {
      const checkpoints = await checkpointsOf(tx);
      const forged = checkpoints.find(({ signature, ...checkpoint }) => !isSigned(keys, checkpoint, signature));
      const root = checkpoints.findLast(({ isRoot }) => isRoot) ?? START;
      const chain = await follow(tx, root, new Map(checkpoints.map(({ sequence, hash }) => [sequence, hash])), known);
      const last = checkpoints.at(-1) ?? START;
      const fault =
        (forged && faultAt('checkpoint_not_signed', forged.sequence)) ??
        chain.fault ??
        (last.sequence < chain.end.sequence ? faultAt('end_not_signed', last.sequence + 1) : null) ??
        (Math.max(last.sequence, known?.sequence ?? 0) > chain.end.sequence
          ? faultAt('end_missing', chain.end.sequence + 1)
          : null) ??
        (await unchained(tx));
      const [row] = await tx.execute<{ pending: string }[]>('select count(*) as pending from audit_pending');
      return { fault, events: chain.events, pending: Number(row?.pending ?? 0), end: chain.end };
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}

const faultAt = (kind: Fault['kind'], sequence: number | null, eventId: string | null = null): Fault => ({
  kind,
  sequence,
  eventId,
});

type Signed = Checkpoint & { readonly signature: string };

async function checkpointsOf(tx: EntityManager): Promise<Signed[]> {
  const rows = await tx.execute<(Omit<Signed, 'sequence'> & { sequence: string })[]>(
    `select sequence, encode(hash, 'hex') as hash, is_root as "isRoot", encode(signature, 'hex') as signature,
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
     from audit_checkpoint order by sequence`,
  );
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
}

type LinkRow = CanonicalRow & { sequence: string; hash: string; event_id: string };

/** Goes from a root to the end of the chain, or to the first link that is not as it should be. */
async function follow(
  tx: EntityManager,
  root: Place,
  signed: ReadonlyMap<number, string>,
  known: Place | undefined,
): Promise<{ fault: Fault | null; events: number; end: Place }> {
  let place: Place = { sequence: root.sequence, hash: root.hash };
  const faulty = (kind: Fault['kind'], sequence: number, eventId: string | null = null) => ({
    fault: faultAt(kind, sequence, eventId),
    events: place.sequence - root.sequence,
    end: place,
  });
  // From the very first, so that links before the root are not overlooked.
  for (let after = -1; ;) {
    const rows = await tx.execute<LinkRow[]>(
      `select l.sequence, encode(l.hash, 'hex') as hash, l.event_id, ${CANONICAL}
       from audit_link l left join audit_event e on e.id = l.event_id
       where l.sequence > ? order by l.sequence limit ?`,
      [after, PAGE],
    );
    for (const row of rows) {
      const expected = place.sequence + 1;
      if (Number(row.sequence) !== expected) return faulty('link_missing', expected);
      if (row.id === null) return faulty('event_missing', expected, row.event_id);
      const next = nextPlace(place, row);
      if (next.hash !== row.hash) return faulty('event_changed', expected, row.event_id);
      const checkpoint = signed.get(expected);
      if ((checkpoint ?? next.hash) !== next.hash) return faulty('checkpoint_differs', expected);
      if (known?.sequence === expected && known.hash !== next.hash) return faulty('checkpoint_differs', expected);
      place = next;
    }
    if (rows.length < PAGE) return { fault: null, events: place.sequence - root.sequence, end: place };
    after = place.sequence;
  }
}

/** An event that has no place in the chain and does not wait for one: it was put there past the service. */
async function unchained(tx: EntityManager): Promise<Fault | null> {
  for (let after = ''; ;) {
    const [page] = await tx.execute<{ last: string | null; size: number; stray: string | null }[]>(
      `with page as (select id from audit_event where id > ? order by id limit ?)
       select max(id) as last, count(*)::int as size, min(id) filter (
         where not exists (select from audit_link l where l.event_id = id)
           and not exists (select from audit_pending p where p.event_id = id)) as stray
       from page`,
      [after, PAGE],
    );
    if (page?.stray) return faultAt('event_unchained', null, page.stray);
    if (page === undefined || page.size < PAGE || page.last === null) break;
    after = page.last;
  }
  const [lost] = await tx.execute<{ event_id: string }[]>(
    `select event_id from audit_pending p where not exists (select from audit_event e where e.id = p.event_id) limit 1`,
  );
  return lost === undefined ? null : faultAt('event_missing', null, lost.event_id);
}
