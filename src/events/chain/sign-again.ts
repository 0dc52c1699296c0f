import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../db/database.ts';
import { withRests } from '../../db/turns/rest.ts';
import { allowDeletion, endDeletion } from './allow-deletion.ts';
import { findSignerIndex, insertCheckpoint, readCheckpoints, tryLockChain, type ChainServices } from './checkpoints.ts';
import { findEndProblem, readState } from './state.ts';

const BATCH_MAX = 200;
/** A run ends after this many batches; the next one continues. */
const BATCHES_MAX = 25;

/** The sequence up to which this process has looked; nothing is left to sign if it is infinite. */
const signedUpTo = new WeakMap<Database, number>();

/**
 * Signs the checkpoints of versions that did not sign the beginning of the chain again, together with it, so that none of
 * their signatures is left with which somebody could present a part of the chain as one of such a version. Those that
 * none of SECRET_KEYS has signed stay as they are: they prove nothing.
 */
export const signOldCheckpoints = (services: ChainServices): Promise<void> =>
  withRests(async (rest) => {
    for (let i = 0; i < BATCHES_MAX && signedUpTo.get(services.db) !== Infinity; i += 1) {
      const last = await services.db.transact(({ em }) => signBatch(em, services, signedUpTo.get(services.db) ?? -1));
      if (last === 'later') return;
      signedUpTo.set(services.db, last);
      await rest();
    }
  });

/** @returns the sequence up to which nothing is left, or `later` if the chain cannot be written now */
async function signBatch(tx: EntityManager, { encryption }: ChainServices, after: number): Promise<number | 'later'> {
  if (!(await tryLockChain(tx))) return 'later';
  const state = await readState(tx);
  const root = state.head?.root ?? null;
  if (root === null || findEndProblem(encryption, state, undefined) !== null) return 'later';
  const old = await readCheckpoints(tx, `sequence > ? and root_sequence is null order by sequence limit ${BATCH_MAX}`, [
    after,
  ]);
  const genuine = old.filter((checkpoint) => findSignerIndex(encryption, checkpoint) >= 0);
  await allowDeletion(tx);
  for (const checkpoint of genuine) {
    await tx.execute('delete from audit_checkpoint where sequence = ?', [checkpoint.sequence]);
    await insertCheckpoint(tx, encryption, checkpoint, root);
  }
  await endDeletion(tx);
  return old.length < BATCH_MAX ? Infinity : (old.at(-1)?.sequence ?? Infinity);
}
