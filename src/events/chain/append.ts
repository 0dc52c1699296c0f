import type { EntityManager } from '@mikro-orm/postgresql';
import {
  CANONICAL,
  CHECKPOINT_KEYS,
  nextPlace,
  signCheckpoint,
  START,
  type CanonicalRow,
  type Place,
} from './hash-chain.ts';
import type { Sealer } from '../../crypto/encryption.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import type { Database } from '../../db/database.ts';
import { newId } from '../../entities/index.ts';
import type { Log } from '../../telemetry/log.ts';

/** What the chain works with. */
export type ChainServices = { readonly db: Database; readonly sealer: Sealer };

const BATCH_MAX = 1000;
/** A run ends after so many batches; the next minute goes on. */
const BATCHES_MAX = 50;

/**
 * Links the events that are not in the chain yet, and signs how far it goes. Away from the requests, which
 * would have to wait for each other to know the hash before theirs. @returns how many were linked
 */
export async function chainEvents(services: ChainServices, log: Log): Promise<number> {
  let linked = 0;
  for (let i = 0; i < BATCHES_MAX; i += 1) {
    const batch = await services.db.em().transactional((tx) => chainBatch(tx, services));
    if (batch === null) break;
    linked += batch.count;
    // Of the last one; what is in the log tells whether the end of the chain was cut off later.
    if (batch.count < BATCH_MAX || i === BATCHES_MAX - 1) {
      log.info({ sequence: batch.end.sequence, hash: batch.end.hash }, 'audit checkpoint');
      break;
    }
  }
  return linked;
}

async function chainBatch(tx: EntityManager, services: ChainServices): Promise<{ count: number; end: Place } | null> {
  if (!(await takeChain(tx))) return null;
  const rows = await tx.execute<CanonicalRow[]>(
    `select ${CANONICAL} from audit_pending p join audit_event e on e.id = p.event_id order by p.event_id limit ?`,
    [BATCH_MAX],
  );
  if (rows.length === 0) return null;

  let place = await endOfChain(tx);
  const links = rows.map((row) => {
    place = nextPlace(place, row);
    return { ...place, event_id: row.id };
  });
  await tx.execute(
    `with linked as (
       insert into audit_link (sequence, event_id, hash)
       select sequence, event_id, decode(hash, 'hex')
       from jsonb_to_recordset(?::jsonb) as l (sequence bigint, event_id text, hash text)
       returning event_id)
     delete from audit_pending where event_id in (select event_id from linked)`,
    [JSON.stringify(links)],
  );
  await insertCheckpoint(tx, services, place, false);
  return { count: rows.length, end: place };
}

/** Whether this transaction alone may now change the chain. */
export async function takeChain(tx: EntityManager): Promise<boolean> {
  const [row] = await tx.execute<{ taken: boolean }[]>('select pg_try_advisory_xact_lock(?) as taken', [
    ADVISORY_LOCKS.auditChain,
  ]);
  return row?.taken === true;
}

type PlaceRow = { sequence: string; hash: string };

async function endOfChain(tx: EntityManager): Promise<Place> {
  const [row] = await tx.execute<PlaceRow[]>(
    `select sequence, encode(hash, 'hex') as hash from (
       (select sequence, hash from audit_link order by sequence desc limit 1)
       union all (select sequence, hash from audit_checkpoint where is_root)
     ) place order by sequence desc limit 1`,
  );
  return row === undefined ? START : { sequence: Number(row.sequence), hash: row.hash };
}

export async function insertCheckpoint(
  tx: EntityManager,
  { sealer }: ChainServices,
  { sequence, hash }: Place,
  isRoot: boolean,
): Promise<void> {
  const [key] = sealer.keysFor(CHECKPOINT_KEYS);
  if (key === undefined) throw new Error('A checkpoint needs a key.');
  const createdAt = new Date().toISOString();
  const signature = signCheckpoint(key, { sequence, hash, isRoot, createdAt });
  await tx.execute(
    `insert into audit_checkpoint (id, created_at, sequence, hash, is_root, signature)
     values (?, ?::timestamptz, ?, decode(?, 'hex'), ?, decode(?, 'hex'))`,
    [newId('chk'), createdAt, sequence, hash, isRoot, signature],
  );
}
