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
} from './hash-chain.ts';
import type { ChainServices } from './append.ts';

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
export async function verifyAudit({ db, sealer }: ChainServices, known?: Place): Promise<Verification> {
  const keys = sealer.keysFor(CHECKPOINT_KEYS);
  return db.em().transactional(
    async (tx) => {
      const [root] = await checkpoints(tx, 'is_root order by sequence desc limit 1', []);
      const [last] = await checkpoints(tx, 'true order by sequence desc limit 1', []);
      const chain = await follow(tx, keys, root, known);
      const fault = chain.fault ?? endFault(chain.end, last ?? START, known) ?? (await unchained(tx));
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

/** The chain ends where it was signed last, and not before a place that is known. */
function endFault(end: Place, last: Place, known: Place | undefined): Fault | null {
  if (last.sequence < end.sequence) return faultAt('end_not_signed', last.sequence + 1);
  const expected = Math.max(last.sequence, known?.sequence ?? 0);
  return expected > end.sequence ? faultAt('end_missing', end.sequence + 1) : null;
}

type Signed = Checkpoint & { readonly signature: string };

async function checkpoints(tx: EntityManager, where: string, values: readonly number[]): Promise<Signed[]> {
  const rows = await tx.execute<(Omit<Signed, 'sequence'> & { sequence: string })[]>(
    `select sequence, encode(hash, 'hex') as hash, is_root as "isRoot", encode(signature, 'hex') as signature,
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
     from audit_checkpoint where ${where}`,
    [...values],
  );
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
}

type LinkRow = CanonicalRow & { sequence: string; hash: string; event_id: string };
type Followed = { readonly fault: Fault | null; readonly events: number; readonly end: Place };

/** Goes from a root to the end of the chain, or to the first link or checkpoint that is not as it should be. */
async function follow(
  tx: EntityManager,
  keys: readonly Buffer[],
  root: Signed | undefined,
  known: Place | undefined,
): Promise<Followed> {
  const start = root ?? START;
  let place: Place = { sequence: start.sequence, hash: start.hash };
  const until = (fault: Fault | null): Followed => ({
    fault,
    events: place.sequence - start.sequence,
    end: place,
  });
  if (root !== undefined && !isSignedBy(keys, root)) return until(faultAt('checkpoint_not_signed', root.sequence));
  // From the very first, so that links before the root are not overlooked.
  for (let after = -1; ;) {
    const rows = await tx.execute<LinkRow[]>(
      `select l.sequence, encode(l.hash, 'hex') as hash, l.event_id, ${CANONICAL}
       from audit_link l left join audit_event e on e.id = l.event_id
       where l.sequence > ? order by l.sequence limit ?`,
      [after, PAGE],
    );
    const end = Number(rows.at(-1)?.sequence ?? after);
    const signed = await checkpoints(tx, 'sequence > ? and sequence <= ? order by sequence', [place.sequence, end]);
    const forged = signed.find((checkpoint) => !isSignedBy(keys, checkpoint));
    const hashes = new Map(signed.map(({ sequence, hash }) => [sequence, hash]));
    for (const row of rows) {
      const next = nextOf(place, row, hashes, known);
      if ('kind' in next) return until(next);
      place = next;
      if (place.sequence === forged?.sequence) return until(faultAt('checkpoint_not_signed', forged.sequence));
    }
    if (rows.length < PAGE) return until(null);
    after = place.sequence;
  }
}

const isSignedBy = (keys: readonly Buffer[], { signature, ...checkpoint }: Signed): boolean =>
  isSigned(keys, checkpoint, signature);

/** The place of a link, or what is wrong with it. */
function nextOf(
  before: Place,
  row: LinkRow,
  signed: ReadonlyMap<number, string>,
  known: Place | undefined,
): Place | Fault {
  const expected = before.sequence + 1;
  if (Number(row.sequence) !== expected) return faultAt('link_missing', expected);
  if (row.id === null) return faultAt('event_missing', expected, row.event_id);
  const next = nextPlace(before, row);
  if (next.hash !== row.hash) return faultAt('event_changed', expected, row.event_id);
  const isAsSigned = (signed.get(expected) ?? next.hash) === next.hash;
  const isAsKnown = known?.sequence !== expected || known.hash === next.hash;
  return isAsSigned && isAsKnown ? next : faultAt('checkpoint_differs', expected);
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
