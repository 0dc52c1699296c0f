import type { Encryption } from '../../crypto/encryption.ts';
import type { Log } from '../../telemetry/log.ts';
import { MINUTE_MS } from '../../time.ts';
import type { Candidate } from './candidates.ts';
import { findUnsignedUntil, insertCheckpoint, type ChainServices, type StoredCheckpoint } from './checkpoints.ts';
import type { CanonicalRow } from './event-columns.ts';
import { eventKeys, isEventSigned } from './event-mac.ts';
import { nextPosition, type ChainPosition } from './hash-chain.ts';
import { headValues, SET_HEAD } from './head.ts';
import type { ChainRoot } from './root.ts';
import { writePayloads } from '../feed/payloads.ts';
import type { PayloadServices } from '../feed/sources.ts';
import type { Sql } from './sql.ts';

/** A checkpoint is signed at the latest after so many events, so that retention finds short ranges. */
const UNSIGNED_MAX = 2000;

/** The start of a chain that is older than the column that stores it. */
const UNKNOWN_START = '1970-01-01T00:00:00.000Z';

/** Returns whether an event gets a position: this service wrote it, or a version without MACs just before an upgrade. */
export function createAcceptance(encryption: Encryption, last: StoredCheckpoint | undefined) {
  const isUnsignedAllowed = Date.now() < Date.parse(findUnsignedUntil(last));
  const keys = eventKeys(encryption);
  return (row: CanonicalRow): boolean => (row.mac === null ? isUnsignedAllowed : isEventSigned(keys, row));
}

type Links = {
  readonly start: ChainPosition;
  readonly root: ChainRoot;
  readonly accepted: readonly Candidate[];
  readonly rejected: readonly string[];
  readonly source: 'new' | 'pending';
};

/** Appends events to the chain and signs its end. @returns the end */
export async function writeLinks(
  sql: Sql,
  services: PayloadServices,
  { start, root, accepted, rejected, source }: Links,
): Promise<ChainPosition> {
  if (rejected.length > 0 && source === 'new') {
    await sql.execute('insert into audit_pending select unnest(?::text[]) on conflict do nothing', [rejected]);
  }
  if (accepted.length === 0) return start;
  let end = start;
  const hashes = accepted.map((row) => (end = nextPosition(end, row)).hash);
  const ids = accepted.map(({ id }) => id);
  if (source === 'pending') await sql.execute('delete from audit_pending where event_id = any(?::text[])', [ids]);
  await sql.execute(
    `with linked as (
       insert into audit_link (sequence, event_id, hash)
       select ?::bigint + position, event_id, decode(hash, 'hex')
       from unnest(?::text[], ?::text[]) with ordinality as l (event_id, hash, position))
     update audit_head set ${SET_HEAD} where id = 1`,
    [start.sequence, ids, hashes, ...headValues(services.encryption, end, root)],
  );
  await writePayloads(sql, services, accepted, start.sequence);
  return end;
}

/** Returns whether the newest checkpoint is a minute old, or too many events ago. */
export const isCheckpointDue = (last: StoredCheckpoint | undefined, end: ChainPosition): boolean =>
  last === undefined ||
  end.sequence - last.sequence >= UNSIGNED_MAX ||
  Date.now() - Date.parse(last.createdAt) >= MINUTE_MS;

/** Signs a checkpoint at the end of the chain, and logs it. */
export async function signCheckpointAt(
  sql: Sql,
  { encryption }: ChainServices,
  log: Log,
  { sequence, hash }: ChainPosition,
  { checkpoint, root }: { readonly checkpoint: StoredCheckpoint | undefined; readonly root: ChainRoot },
): Promise<void> {
  const startedAt = checkpoint === undefined ? new Date().toISOString() : (checkpoint.startedAt ?? UNKNOWN_START);
  const unsignedUntil = findUnsignedUntil(checkpoint);
  await insertCheckpoint(sql, encryption, { sequence, hash, isRoot: false, startedAt, unsignedUntil }, root);
  // Compare it with `roster audit verify --known`: it reveals whether the end of the chain was cut off later.
  log.info({ sequence, hash, root: root.sequence }, 'audit checkpoint');
}
