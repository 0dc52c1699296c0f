import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Encryption } from '../../crypto/encryption.ts';

const PURPOSE = 'event-cursor';

/** A position in the order of events. The hash tells it from the same position after a restore of an older state. */
export type FeedPosition = { readonly sequence: number; readonly hash: string };

const HASH_BYTES = 8;

/**
 * Encodes a position: one block of AES, because the number of all events is nobody's business but the operator's. A
 * forged cursor decrypts to a hash that no event has.
 */
export function encodeCursor(encryption: Encryption, { sequence, hash }: FeedPosition): string {
  const [key] = encryption.keysFor(PURPOSE);
  if (key === undefined) throw new Error('A cursor needs a key.');
  const block = Buffer.alloc(16);
  block.writeBigUInt64BE(BigInt(sequence));
  block.write(hash.slice(0, 2 * HASH_BYTES), HASH_BYTES, 'hex');
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
}

/** Returns the positions that a cursor can mean: one for each of SECRET_KEYS, of which one is right. */
export function decodeCursor(encryption: Encryption, cursor: string): FeedPosition[] {
  const block = Buffer.from(cursor, 'base64url');
  if (block.length !== 16 || block.toString('base64url') !== cursor) return [];
  return encryption.keysFor(PURPOSE).flatMap((key) => {
    const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    const plain = Buffer.concat([decipher.update(block), decipher.final()]);
    const sequence = plain.readBigUInt64BE();
    if (sequence > BigInt(Number.MAX_SAFE_INTEGER)) return [];
    return [{ sequence: Number(sequence), hash: plain.toString('hex', HASH_BYTES) }];
  });
}
