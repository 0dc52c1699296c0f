import type { EntityManager } from '@mikro-orm/postgresql';
import type { Log } from '../../telemetry/log.ts';
import { record } from '../record.ts';
import {
  findUnsignedUntil,
  insertCheckpoint,
  newestCheckpoint,
  findSignerIndex,
  tryLockChain,
  type ChainServices,
  type StoredCheckpoint,
} from './checkpoints.ts';
import { eventKeys, isEventSigned } from './event-mac.ts';
import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import { GENESIS, nextPosition, type ChainPosition } from './hash-chain.ts';

const BATCH_MAX = 1000;
/** A run ends after this many batches; the next minute continues. */
const BATCHES_MAX = 50;

/** The start of a chain that is older than the column that stores it. */
const UNKNOWN_START = '1970-01-01T00:00:00.000Z';

type Batch = {
  /** The number of chained events. */
  readonly count: number;
  readonly end: ChainPosition;
  /** Events without a valid MAC. They stay pending, and `audit verify` reports them. */
  readonly rejected: readonly string[];
  /** The id of the last event of the batch. */
  readonly after: string;
  readonly isLast: boolean;
};

/**
 * Chains the pending events and signs the end of the chain. Requests do not do this, because they would have to wait
 * for each other to know the previous hash. @returns the number of chained events
 */
export async function chainEvents(services: ChainServices, log: Log): Promise<number> {
  let chained = 0;
  let after = '';
  for (let i = 0; i < BATCHES_MAX; i += 1) {
    const from = after;
    const batch = await services.db.em().transactional((tx) => chainBatch(tx, services, log, from));
    if (batch === null) break;
    chained += batch.count;
    after = batch.after;
    const [eventId] = batch.rejected;
    if (eventId !== undefined) {
      log.error({ events: batch.rejected.length, eventId }, 'audit events without a valid MAC were not chained');
    }
    if (batch.count > 0) {
      lastEnds.set(services.db, batch.end);
      // Compare it with `roster audit verify --known`: it reveals whether the end of the chain was cut off later.
      if (batch.isLast || i === BATCHES_MAX - 1)
        log.info({ sequence: batch.end.sequence, hash: batch.end.hash }, 'audit checkpoint');
    }
    if (batch.isLast) break;
  }
  return chained;
}

/** The end of the chain that this process wrote last. It reveals a chain that was restarted in the database. */
const lastEnds = new WeakMap<object, ChainPosition>();

async function chainBatch(tx: EntityManager, services: ChainServices, log: Log, after: string): Promise<Batch | null> {
  if (!(await tryLockChain(tx))) return null;
  const last = await newestCheckpoint(tx);
  const problem = await findEndProblem(tx, services, last);
  if (problem !== null) {
    log.error(
      { sequence: last?.sequence ?? 0, problem },
      'the audit chain was not extended; run `roster audit verify`',
    );
    return null;
  }
  // Record a key change, so that the newest checkpoint is signed by the first key before the other keys are removed.
  if (after === '' && last !== undefined && findSignerIndex(services.encryption, last) > 0) {
    record(tx, 'audit_log.key_changed');
    await tx.flush();
  }
  const rows = await tx.execute<CanonicalRow[]>(
    `select ${CANONICAL} from audit_pending p join audit_event e on e.id = p.event_id
     where p.event_id > ? order by p.event_id limit ?`,
    [after, BATCH_MAX],
  );
  const lastRow = rows.at(-1);
  if (lastRow === undefined) return null;

  const period = {
    startedAt: last === undefined ? new Date().toISOString() : (last.startedAt ?? UNKNOWN_START),
    unsignedUntil: findUnsignedUntil(last),
  };
  const isUnsignedAllowed = Date.now() < Date.parse(period.unsignedUntil);
  const keys = eventKeys(services.encryption);
  const isAuthentic = (row: CanonicalRow) => (row.mac === null ? isUnsignedAllowed : isEventSigned(keys, row));
  const authentic = rows.filter(isAuthentic);
  let end: ChainPosition = last ?? GENESIS;
  const links = authentic.map((row) => {
    end = nextPosition(end, row);
    return { ...end, event_id: row.id };
  });
  if (links.length > 0) {
    await insertLinks(tx, links);
    await insertCheckpoint(tx, services.encryption, { ...end, isRoot: false, ...period });
  }
  return {
    count: links.length,
    end: { sequence: end.sequence, hash: end.hash },
    rejected: rows.filter((row) => !authentic.includes(row)).map(({ id }) => id),
    after: lastRow.id,
    isLast: rows.length < BATCH_MAX,
  };
}

/**
 * Returns why the chain must not be extended, or null. Anyone with write access to the
 * database can compute links, so only a signed checkpoint determines the end of the chain.
 */
async function findEndProblem(
  tx: EntityManager,
  { db, encryption }: ChainServices,
  last: StoredCheckpoint | undefined,
): Promise<string | null> {
  const [link] = await tx.execute<{ sequence: string; hash: string }[]>(
    `select sequence, encode(hash, 'hex') as hash from audit_link order by sequence desc limit 1`,
  );
  if (last === undefined) {
    if (link !== undefined) return 'checkpoints_missing';
    return lastEnds.has(db) ? 'chain_restarted' : null;
  }
  if (findSignerIndex(encryption, last) === -1) return 'checkpoint_not_signed';
  const isEnd = last.isRoot ? link === undefined : Number(link?.sequence) === last.sequence && link?.hash === last.hash;
  if (!isEnd) return 'end_differs';
  const known = lastEnds.get(db);
  return known !== undefined && known.sequence > last.sequence ? 'end_missing' : null;
}

const insertLinks = (tx: EntityManager, links: readonly object[]) =>
  tx.execute(
    `with linked as (
       insert into audit_link (sequence, event_id, hash)
       select sequence, event_id, decode(hash, 'hex')
       from jsonb_to_recordset(?::jsonb) as l (sequence bigint, event_id text, hash text)
       returning event_id)
     delete from audit_pending where event_id in (select event_id from linked)`,
    [JSON.stringify(links)],
  );
