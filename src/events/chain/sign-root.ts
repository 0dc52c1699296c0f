import type { EntityManager } from '@mikro-orm/postgresql';
import type { Encryption } from '../../crypto/encryption.ts';
import type { Log } from '../../telemetry/log.ts';
import { createRecorder } from '../record.ts';
import { allowDeletion, endDeletion } from './allow-deletion.ts';
import {
  findSignerIndex,
  insertCheckpoint,
  readCheckpoints,
  tryLockChain,
  type ChainServices,
  type StoredCheckpoint,
} from './checkpoints.ts';
import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import { GENESIS, nextPosition, type ChainPosition } from './hash-chain.ts';
import { updateHead } from './head.ts';
import { newRoot, type ChainRoot } from './root.ts';
import { BUILT_IN_FIRST, type Sql } from './sql.ts';
import { findEndProblem, isRootUnsigned, readState, signedEnd } from './state.ts';

/** The event of the upgrade to signed beginnings. A log that contains it is never accepted with an unsigned one. */
export const ROOT_SIGNED = 'audit_log.root_signed';

/** Signs the end of the chain and its newest checkpoint again, with another beginning. */
export async function signRoot(
  tx: EntityManager,
  encryption: Encryption,
  { end, checkpoint }: { readonly end: ChainPosition; readonly checkpoint: StoredCheckpoint },
  root: ChainRoot,
): Promise<void> {
  await allowDeletion(tx);
  await tx.execute('delete from audit_checkpoint where sequence = ?', [checkpoint.sequence]);
  await endDeletion(tx);
  await insertCheckpoint(tx, encryption, checkpoint, root);
  await updateHead(tx, encryption, end, root);
}

/**
 * Signs the beginning of a chain whose version did not, once, and records it. Versions before cannot extend the chain
 * then. @returns whether it is signed
 */
export async function signOldRoot({ db, encryption }: ChainServices, log: Log): Promise<boolean> {
  return db.transact(async (open) => {
    const { em: tx } = open;
    await tx.execute(BUILT_IN_FIRST);
    if (!(await tryLockChain(tx))) return true; // by another process
    const state = await readState(tx);
    const { checkpoint } = state;
    if (!isRootUnsigned(state)) return true;
    if (checkpoint === undefined || findEndProblem(encryption, state, undefined) !== null) return false;
    if (await wasRootSigned(tx)) return false;
    const position = await findOldRoot(tx, encryption, state.link);
    if (position === null) {
      log.error({}, 'the beginning of the audit chain cannot be signed; put back the keys that were in SECRET_KEYS');
      return false;
    }
    const root = { ...newRoot(), ...position, prunedBefore: await prunedBefore(tx) };
    await signRoot(tx, encryption, { end: signedEnd(state), checkpoint }, root);
    createRecorder(open)(ROOT_SIGNED, { number: root.sequence });
    log.info({ sequence: root.sequence, hash: root.hash }, 'the beginning of the audit chain is signed from now on');
    return true;
  });
}

/**
 * Returns what retention of such a version left as the beginning: its checkpoint, which says in its signature that it is a
 * root, or else the start of the log. Null if none of SECRET_KEYS has signed that.
 */
export async function readOldRoot(tx: Sql, encryption: Encryption): Promise<ChainPosition | null> {
  const [stored] = await readCheckpoints(tx, 'is_root order by sequence desc limit 1');
  if (stored === undefined) return GENESIS;
  return findSignerIndex(encryption, stored) === -1 ? null : { sequence: stored.sequence, hash: stored.hash };
}

/** Returns the position before the first link, or null if it is not signed, or the link does not follow from it. */
async function findOldRoot(
  tx: EntityManager,
  encryption: Encryption,
  last: ChainPosition | null,
): Promise<ChainPosition | null> {
  const root = await readOldRoot(tx, encryption);
  if (last === null || root === null) return root;
  const [first] = await tx.execute<(CanonicalRow & { sequence: string; hash: string })[]>(
    `select l.sequence, encode(l.hash, 'hex') as hash, ${CANONICAL}
     from audit_link l join audit_event e on e.id = l.event_id order by l.sequence limit 1`,
  );
  if (first === undefined) return null;
  const next = nextPosition(root, first);
  return next.sequence === Number(first.sequence) && next.hash === first.hash ? root : null;
}

/** Whether an event after the last link says that the beginning of the chain was signed: then its end was cut off. */
export async function wasRootSigned(tx: Sql): Promise<boolean> {
  const [found] = await tx.execute<object[]>(
    `select 1 from audit_event where event = ? and id > coalesce(
       (select event_id from audit_link order by sequence desc limit 1), '') limit 1`,
    [ROOT_SIGNED],
  );
  return found !== undefined;
}

async function prunedBefore(tx: EntityManager): Promise<string | null> {
  const [head] = await tx.execute<{ prunedBefore: string | null }[]>(
    'select pruned_before as "prunedBefore" from audit_head where id = 1',
  );
  return head?.prunedBefore ?? null;
}
