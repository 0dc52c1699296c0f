import type pg from 'pg';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { createMissingMonths, type RunSql } from '../../src/db/event-partitions.ts';
import { firstIdAt, newId } from '../../src/entities/index.ts';
import { CANONICAL, type CanonicalRow } from '../../src/events/chain/event-columns.ts';
import {
  oldCheckpointKeys,
  GENESIS,
  nextPosition,
  signOldCheckpoint,
  type ChainPosition,
} from '../../src/events/chain/hash-chain.ts';
import { createSql, type Sql } from '../../src/events/chain/sql.ts';
import { SECRET_KEYS } from '../servers.ts';

const MONTHS = 12;
const PAGE = 2000;

/** The first instant of a month, so many months after this one. */
export const monthStart = (months: number, now = new Date()): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months));

/** Makes partitions of the months before this one in an empty audit log, as if the service had run for a year. */
export async function partitionPastMonths(client: pg.Client): Promise<void> {
  const run: RunSql = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows;
  await run('alter table audit_event detach partition audit_event_first');
  const end = firstIdAt('evt', monthStart(-MONTHS));
  await run(`alter table audit_event attach partition audit_event_first for values from (minvalue) to ('${end}')`);
  for (let months = -MONTHS; months <= 0; months += 1)
    for (const sql of await createMissingMonths(run, monthStart(months))) await run(sql);
}

/**
 * Chains the events of the first month, which retention verifies before it deletes them, and signs the end, which the
 * service extends. Hashes of later events are not checked by either.
 */
export async function chainFirstMonth(client: pg.Client): Promise<void> {
  const sql = createSql(client);
  const end = firstIdAt('evt', monthStart(1 - MONTHS));
  let position: ChainPosition = GENESIS;
  await client.query('analyze audit_event, audit_link');
  for (;;) {
    const rows = await sql.execute<CanonicalRow[]>(
      `select ${CANONICAL} from audit_link l join audit_event e on e.id = l.event_id
       where l.sequence > ? and l.sequence <= ? and e.id < ? order by l.sequence`,
      [position.sequence, position.sequence + PAGE, end],
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    const hashes = rows.map((row) => (position = nextPosition(position, row)).hash);
    await sql.execute(
      `update audit_link l set hash = decode(x.hash, 'hex')
       from unnest(?::text[], ?::text[]) x (event_id, hash) where l.event_id = x.event_id`,
      [rows.map(({ id }) => id), hashes],
    );
    await sign(sql, position, last.occurred_at);
  }
  const [link] = await sql.execute<{ sequence: string; hash: string }[]>(
    `select sequence, encode(hash, 'hex') as hash from audit_link order by sequence desc limit 1`,
  );
  if (link === undefined) throw new Error('There are no events.');
  await sign(sql, { sequence: Number(link.sequence), hash: link.hash }, new Date().toISOString());
}

/** Inserts a checkpoint of the time at which the service would have done so. */
async function sign(sql: Sql, position: ChainPosition, createdAt: string): Promise<void> {
  const [key] = oldCheckpointKeys(createEncryption([SECRET_KEYS]));
  if (key === undefined) throw new Error('There is no key.');
  const startedAt = monthStart(-MONTHS).toISOString();
  const checkpoint = { ...position, isRoot: false, createdAt, startedAt, unsignedUntil: startedAt };
  await sql.execute(
    `insert into audit_checkpoint (id, created_at, sequence, hash, is_root, started_at, unsigned_until, signature)
     values (?, ?::timestamptz, ?, decode(?, 'hex'), false, ?::timestamptz, ?::timestamptz, decode(?, 'hex'))`,
    [
      newId('chk'),
      createdAt,
      position.sequence,
      position.hash,
      startedAt,
      startedAt,
      signOldCheckpoint(key, checkpoint),
    ],
  );
}
