import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Encryption } from '../../crypto/encryption.ts';
import type { ChainPosition } from './hash-chain.ts';
import { findRootSigner, ROOT_COLUMNS, signWithRoot, toRoot, type ChainRoot, type RootRow } from './root.ts';
import type { Sql } from './sql.ts';

/** What signed the end in versions that did not sign the beginning with it. */
const OLD_PURPOSE = 'audit-head';

/** The signed end of the chain. It moves with every batch; checkpoints are signed at most once a minute. */
export type StoredHead = ChainPosition & { readonly root: ChainRoot | null; readonly signature: string };

const oldMac = (key: KeyObject, { sequence, hash }: ChainPosition): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([sequence, hash]))
    .digest();

/** Returns which of SECRET_KEYS signed the end of the chain, counted from 0, or -1. */
export function findHeadSigner(encryption: Encryption, { sequence, hash, root, signature }: StoredHead): number {
  if (root !== null) return findRootSigner(encryption, 'head', [sequence, hash], { root, signature });
  const given = Buffer.from(signature, 'hex');
  return encryption.keysFor(OLD_PURPOSE).findIndex((key) => {
    const expected = oldMac(key, { sequence, hash });
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Sets the columns of the signed end. Its parameters are `headValues`. */
export const SET_HEAD = `sequence = ?, hash = decode(?, 'hex'), signature = decode(?, 'hex'),
  root_sequence = ?, root_hash = decode(?, 'hex'), root_at = ?::timestamptz, pruned_before = ?`;

/** Signs the end of the chain with its beginning. */
export const headValues = (encryption: Encryption, { sequence, hash }: ChainPosition, root: ChainRoot) => [
  sequence,
  hash,
  signWithRoot(encryption, 'head', [sequence, hash], root),
  root.sequence,
  root.hash,
  root.at,
  root.prunedBefore,
];

/** Stores another beginning in the signed end. */
export const updateHead = (sql: Sql, encryption: Encryption, end: ChainPosition, root: ChainRoot): Promise<object[]> =>
  sql.execute(`update audit_head set ${SET_HEAD} where id = 1`, headValues(encryption, end, root));

type HeadRow = RootRow & {
  readonly sequence: string | null;
  readonly hash: string | null;
  readonly signature: string | null;
};

/** Selects the columns of a `HeadRow` from `audit_head`. */
export const HEAD_COLUMNS = `sequence, encode(hash, 'hex') as hash, encode(signature, 'hex') as signature,
  ${ROOT_COLUMNS}`;

/** Converts a row; null before the first batch, or if the row was deleted. */
export function toHead(row: HeadRow | undefined): StoredHead | null {
  if (row === undefined || row.sequence === null) return null;
  const { sequence, hash, signature } = row;
  return { sequence: Number(sequence), hash: hash ?? '', signature: signature ?? '', root: toRoot(row) };
}
