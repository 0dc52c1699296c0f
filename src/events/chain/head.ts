import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Encryption } from '../../crypto/encryption.ts';
import type { ChainPosition } from './hash-chain.ts';

const PURPOSE = 'audit-head';

/** The signed end of the chain. It moves with every batch; checkpoints are signed at most once a minute. */
export type StoredHead = ChainPosition & { readonly signature: string };

const mac = (key: KeyObject, { sequence, hash }: ChainPosition): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([sequence, hash]))
    .digest();

/** Signs the end of the chain with the first of SECRET_KEYS. @returns the signature in hex */
export function signHead(encryption: Encryption, end: ChainPosition): string {
  const [key] = encryption.keysFor(PURPOSE);
  if (key === undefined) throw new Error('The end of the chain needs a key.');
  return mac(key, end).toString('hex');
}

/** Returns which of SECRET_KEYS signed the end of the chain, counted from 0, or -1. */
export function findHeadSigner(encryption: Encryption, head: StoredHead): number {
  const given = Buffer.from(head.signature, 'hex');
  return encryption.keysFor(PURPOSE).findIndex((key) => {
    const expected = mac(key, head);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

type HeadRow = { readonly sequence: string | null; readonly hash: string | null; readonly signature: string | null };

/** Selects the columns of a `HeadRow` from `audit_head`. */
export const HEAD_COLUMNS = `sequence, encode(hash, 'hex') as hash, encode(signature, 'hex') as signature`;

/** Converts a row; null before the first batch, or if the row was deleted. */
export function toHead(row: HeadRow | undefined): StoredHead | null {
  if (row === undefined || row.sequence === null) return null;
  return { sequence: Number(row.sequence), hash: row.hash ?? '', signature: row.signature ?? '' };
}
