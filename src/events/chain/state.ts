import type { Encryption } from '../../crypto/encryption.ts';
import { IS_SNAPSHOT_VALID } from './candidates.ts';
import { CHECKPOINT_COLUMNS, findSignerIndex, toCheckpoint, type StoredCheckpoint } from './checkpoints.ts';
import { GENESIS, type ChainPosition } from './hash-chain.ts';
import { findHeadSigner, HEAD_COLUMNS, toHead, type StoredHead } from './head.ts';
import { isSameRoot } from './root.ts';
import type { Sql } from './sql.ts';

/** The chain as the worker finds it. */
export type ChainState = {
  /** The signed end; null before the first batch of this version. */
  readonly head: StoredHead | null;
  readonly checkpoint: StoredCheckpoint | undefined;
  /** The last link. */
  readonly link: ChainPosition | null;
  /** Whether new events can be found by the stored snapshot. */
  readonly isSnapshotValid: boolean;
  /** The snapshot of this look, as text. */
  readonly snapshot: string;
};

type Row = {
  readonly head: Parameters<typeof toHead>[0] | null;
  readonly checkpoint: Parameters<typeof toCheckpoint>[0] | null;
  readonly link: { readonly sequence: string; readonly hash: string } | null;
  readonly valid: boolean | null;
  readonly snapshot: string;
};

/** Reads the state in one statement. */
export async function readState(sql: Sql): Promise<ChainState> {
  const [row] = await sql.execute<Row[]>(
    `select
       (select row_to_json(x) from (select ${HEAD_COLUMNS} from audit_head where id = 1) x) as head,
       (select row_to_json(x) from (select ${CHECKPOINT_COLUMNS} from audit_checkpoint order by sequence desc limit 1) x)
         as checkpoint,
       (select row_to_json(x) from (
         select sequence, encode(hash, 'hex') as hash from audit_link order by sequence desc limit 1) x) as link,
       (select ${IS_SNAPSHOT_VALID} from audit_head h where h.id = 1) as valid,
       pg_current_snapshot()::text as snapshot`,
  );
  if (row === undefined) throw new Error('PostgreSQL returned no state of the audit chain.');
  const { link } = row;
  return {
    head: toHead(row.head ?? undefined),
    checkpoint: row.checkpoint === null ? undefined : toCheckpoint(row.checkpoint),
    link: link === null ? null : { sequence: Number(link.sequence), hash: link.hash },
    isSnapshotValid: row.valid === true,
    snapshot: row.snapshot,
  };
}

/** Returns where the chain ends, according to what was signed last. */
export const signedEnd = ({ head, checkpoint }: Pick<ChainState, 'head' | 'checkpoint'>): ChainPosition =>
  head !== null && head.sequence >= (checkpoint?.sequence ?? 0) ? head : (checkpoint ?? GENESIS);

/** Whether a version wrote the chain that did not sign its beginning. This one signs it once (`sign-old-root.ts`). */
export const isRootUnsigned = ({ head, checkpoint }: Pick<ChainState, 'head' | 'checkpoint'>): boolean =>
  (head !== null || checkpoint !== undefined) && (head?.root ?? null) === null && (checkpoint?.root ?? null) === null;

/**
 * Returns what is wrong with the beginning of the chain, or null: its end and its newest checkpoint have to agree.
 * @param isSigned whether a signed one was seen, after which none without is accepted
 */
export function findRootProblem(
  { head, checkpoint }: Pick<ChainState, 'head' | 'checkpoint'>,
  isSigned: boolean,
): 'root_not_signed' | 'root_differs' | null {
  if (head === null && checkpoint === undefined) return null;
  if (isRootUnsigned({ head, checkpoint })) return isSigned ? 'root_not_signed' : null;
  const [ofHead, ofCheckpoint] = [head?.root ?? null, checkpoint?.root ?? null];
  if (ofHead === null || ofCheckpoint === null) return 'root_not_signed';
  return isSameRoot(ofHead, ofCheckpoint) ? null : 'root_differs';
}

/**
 * Returns why the chain must not be extended, or null. Anyone with write access to the database can compute links,
 * so only a signed end is extended.
 * @param known where this process ended the chain; it reveals a chain that was restarted or put back
 */
export function findEndProblem(
  encryption: Encryption,
  { head, checkpoint, link }: Omit<ChainState, 'isSnapshotValid' | 'snapshot'>,
  known: ChainPosition | undefined,
): string | null {
  if (checkpoint === undefined && link !== null) return 'checkpoints_missing';
  const end = signedEnd({ head, checkpoint });
  if ((known?.sequence ?? 0) > end.sequence) return end.sequence === 0 ? 'chain_restarted' : 'end_missing';
  if (checkpoint !== undefined && findSignerIndex(encryption, checkpoint) === -1) return 'checkpoint_not_signed';
  if (head !== null && findHeadSigner(encryption, head) === -1) return 'end_not_signed';
  const rootProblem = findRootProblem({ head, checkpoint }, known !== undefined);
  if (rootProblem !== null) return rootProblem;
  const isEmpty = link === null && (head?.root?.sequence === end.sequence || checkpoint?.isRoot === true);
  if ((link?.sequence ?? 0) < end.sequence && !isEmpty) return 'end_missing';
  const actual = link ?? checkpoint ?? GENESIS;
  return actual.sequence === end.sequence && actual.hash === end.hash ? null : 'end_differs';
}
