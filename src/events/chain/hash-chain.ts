import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Encryption } from '../../crypto/encryption.ts';

/** A position in the chain. Sequences are numbers: at a million events a second they last for 285 years. */
export type ChainPosition = { readonly sequence: number; readonly hash: string };

/** The position before the first event. */
export const GENESIS: ChainPosition = { sequence: 0, hash: '00'.repeat(32) };

/** Selects all columns of an event as text, in a format that does not depend on settings. */
export const CANONICAL = `e.id, to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at,
  e.event, e.actor_kind, e.actor_id, e.credential_id, e.client_id, e.team_id, e.account_id, e.target_id,
  e.address, e.request_id, e.details::text as details, e.count::text as count,
  encode(e.mac, 'hex') as mac`;

export type CanonicalRow = Readonly<
  Record<'id' | 'occurred_at' | 'event' | 'actor_kind' | 'details' | 'count', string> &
    Record<
      | 'actor_id'
      | 'credential_id'
      | 'client_id'
      | 'team_id'
      | 'account_id'
      | 'target_id'
      | 'address'
      | 'request_id'
      | 'mac',
      string | null
    >
>;

/** Returns the position of the next event: the SHA-256 of the previous hash and of all columns of the event. */
export function nextPosition(before: ChainPosition, row: CanonicalRow): ChainPosition {
  const sequence = before.sequence + 1;
  const text = JSON.stringify([
    sequence,
    row.id,
    row.occurred_at,
    row.event,
    row.actor_kind,
    row.actor_id,
    row.credential_id,
    row.client_id,
    row.team_id,
    row.account_id,
    row.target_id,
    row.address,
    row.request_id,
    row.details,
    row.count,
    // Events from before the introduction of MACs keep their hash.
    ...(row.mac === null ? [] : [row.mac]),
  ]);
  const hash = createHash('sha256').update(Buffer.from(before.hash, 'hex')).update(text).digest('hex');
  return { sequence, hash };
}

const PURPOSE = 'audit-checkpoint';

/** Returns the keys that checkpoints are signed with; the first one signs. */
export const checkpointKeys = (encryption: Encryption): readonly Buffer[] => encryption.keysFor(PURPOSE);

/** A position where the chain once ended. A root is a checkpoint whose predecessors were pruned. */
export type Checkpoint = ChainPosition & {
  readonly isRoot: boolean;
  readonly createdAt: string;
  /** The start of the chain and the end of the period in which events without a MAC are chained. Null in old checkpoints. */
  readonly startedAt: string | null;
  readonly unsignedUntil: string | null;
};

/** Returns the signature of a checkpoint in hex. It takes `SECRET_KEYS`, which are not in the database. */
export const signCheckpoint = (key: Buffer, checkpoint: Checkpoint): string => {
  const { sequence, hash, isRoot, createdAt, startedAt, unsignedUntil } = checkpoint;
  const chain = startedAt === null ? [] : [startedAt, unsignedUntil];
  return createHmac('sha256', key)
    .update(JSON.stringify([sequence, hash, isRoot, createdAt, ...chain]))
    .digest('hex');
};

/** Returns the index of the key that signed a checkpoint, or -1. */
export const findSigner = (keys: readonly Buffer[], checkpoint: Checkpoint, signature: string): number =>
  keys.findIndex((key) => {
    const expected = Buffer.from(signCheckpoint(key, checkpoint), 'hex');
    const given = Buffer.from(signature, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
