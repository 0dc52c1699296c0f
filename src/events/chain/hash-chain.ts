import { createHash, createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Encryption } from '../../crypto/encryption.ts';
import { COLUMNS, type CanonicalRow } from './event-columns.ts';

/** A position in the chain. Sequences are numbers: at a million events a second they last for 285 years. */
export type ChainPosition = { readonly sequence: number; readonly hash: string };

/** The position before the first event. */
export const GENESIS: ChainPosition = { sequence: 0, hash: '00'.repeat(32) };

/** Returns the position of the next event: the SHA-256 of the previous hash and of all columns of the event. */
export function nextPosition(before: ChainPosition, row: CanonicalRow): ChainPosition {
  const sequence = before.sequence + 1;
  const text = JSON.stringify([
    sequence,
    ...COLUMNS.map((column) => row[column]),
    // Events from before the introduction of MACs keep their hash.
    ...(row.mac === null ? [] : [row.mac]),
  ]);
  const hash = createHash('sha256').update(Buffer.from(before.hash, 'hex')).update(text).digest('hex');
  return { sequence, hash };
}

/** What signed checkpoints in versions that did not sign the beginning of the chain with them. */
const OLD_PURPOSE = 'audit-checkpoint';

/** Returns the keys that those versions signed checkpoints with; the first one signed. */
export const oldCheckpointKeys = (encryption: Encryption): readonly KeyObject[] => encryption.keysFor(OLD_PURPOSE);

/** A position where the chain once ended. A root is one whose predecessors were pruned. */
export type Checkpoint = ChainPosition & {
  readonly isRoot: boolean;
  readonly createdAt: string;
  /** The start of the chain and the end of the period in which events without a MAC are chained. Null in old checkpoints. */
  readonly startedAt: string | null;
  readonly unsignedUntil: string | null;
};

/** Returns the signature of a checkpoint without the beginning of the chain, in hex. */
export const signOldCheckpoint = (key: KeyObject, checkpoint: Checkpoint): string => {
  const { sequence, hash, isRoot, createdAt, startedAt, unsignedUntil } = checkpoint;
  const chain = startedAt === null ? [] : [startedAt, unsignedUntil];
  return createHmac('sha256', key)
    .update(JSON.stringify([sequence, hash, isRoot, createdAt, ...chain]))
    .digest('hex');
};

/** Returns the index of the key that signed a checkpoint without the beginning of the chain, or -1. */
export const findOldSigner = (keys: readonly KeyObject[], checkpoint: Checkpoint, signature: string): number =>
  keys.findIndex((key) => {
    const expected = Buffer.from(signOldCheckpoint(key, checkpoint), 'hex');
    const given = Buffer.from(signature, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
