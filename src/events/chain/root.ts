import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Encryption } from '../../crypto/encryption.ts';
import { GENESIS, type ChainPosition } from './hash-chain.ts';

const PURPOSE = 'audit-root';

/**
 * The beginning of the chain: the position up to which retention has deleted it. The signed end and the newest
 * checkpoint both contain it, so that nobody with the database alone can declare a later position the beginning.
 */
export type ChainRoot = ChainPosition & {
  /** Events with smaller ids can have lost their positions. */
  readonly prunedBefore: string | null;
  /** When retention last moved it. */
  readonly at: string;
};

/** Returns the beginning of a chain of which nothing was deleted. */
export const newRoot = (): ChainRoot => ({ ...GENESIS, prunedBefore: null, at: new Date().toISOString() });

export const isSameRoot = (one: ChainRoot, other: ChainRoot): boolean =>
  JSON.stringify(toValues(one)) === JSON.stringify(toValues(other));

const toValues = ({ sequence, hash, prunedBefore, at }: ChainRoot) => [sequence, hash, prunedBefore, at];

type Signed = 'head' | 'checkpoint';

/** Signs values together with the beginning of the chain, by the first of SECRET_KEYS. @returns the signature in hex */
export function signWithRoot(
  encryption: Encryption,
  kind: Signed,
  values: readonly unknown[],
  root: ChainRoot,
): string {
  const [key] = encryption.keysFor(PURPOSE);
  if (key === undefined) throw new Error('The audit chain needs a key.');
  return createHmac('sha256', key)
    .update(toText(kind, values, root))
    .digest('hex');
}

/** Returns which of SECRET_KEYS signed values with the beginning of the chain, counted from 0, or -1. */
export function findRootSigner(
  encryption: Encryption,
  kind: Signed,
  values: readonly unknown[],
  { root, signature }: { readonly root: ChainRoot; readonly signature: string },
): number {
  const given = Buffer.from(signature, 'hex');
  return encryption.keysFor(PURPOSE).findIndex((key) => {
    const expected = createHmac('sha256', key)
      .update(toText(kind, values, root))
      .digest();
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const toText = (kind: Signed, values: readonly unknown[], root: ChainRoot): string =>
  JSON.stringify([kind, ...values, ...toValues(root)]);

export const instant = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Selects the columns of a `RootRow` from `audit_head` or `audit_checkpoint`. */
export const ROOT_COLUMNS = `root_sequence as "rootSequence", encode(root_hash, 'hex') as "rootHash",
  ${instant('root_at')} as "rootAt", pruned_before as "prunedBefore"`;

export type RootRow = {
  readonly rootSequence: string | number | null;
  readonly rootHash: string | null;
  readonly rootAt: string | null;
  readonly prunedBefore: string | null;
};

/** Converts a row; null if a version wrote it that did not sign the beginning. */
export const toRoot = ({ rootSequence, rootHash, rootAt, prunedBefore }: RootRow): ChainRoot | null =>
  rootSequence === null
    ? null
    : { sequence: Number(rootSequence), hash: rootHash ?? '', prunedBefore, at: rootAt ?? '' };
