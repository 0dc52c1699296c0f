import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../record.ts';
import { insertCheckpoint, takeChain, type ChainServices } from './append.ts';

type RetentionServices = ChainServices & { readonly config: { readonly auditDays: number } };

/** So that a deletion stays within the bound of a statement. Every batch of the chain, which is smaller, ends in a checkpoint. */
const STRETCH_MAX = 5000;
const STRETCHES_MAX = 100;
const PAUSE_MINUTES = 60;

/**
 * Deletes the events that are older than AUDIT_DAYS, in whole stretches of the chain: the checkpoint at the
 * end of one stays, signed as the root that what is left is verified from. @returns how many were deleted
 */
export async function trimEvents(services: RetentionServices): Promise<number> {
  if (!(await isDue(services))) return 0;
  let deleted = 0;
  for (let i = 0; i < STRETCHES_MAX; i += 1) {
    const stretch = await services.db.em().transactional((tx) => trimStretch(tx, services));
    if (stretch === 0) break;
    deleted += stretch;
  }
  return deleted;
}

/** Not every minute: a cut is an event too. */
async function isDue({ db }: ChainServices): Promise<boolean> {
  const rows = await db
    .em()
    .execute<unknown[]>(
      `select 1 from audit_checkpoint where is_root and created_at > now() - make_interval(mins => ?)`,
      [PAUSE_MINUTES],
    );
  return rows.length === 0;
}

async function trimStretch(tx: EntityManager, services: RetentionServices): Promise<number> {
  if (!(await takeChain(tx))) return 0;
  const [cut] = await tx.execute<{ sequence: string; hash: string }[]>(
    `select sequence, encode(hash, 'hex') as hash from audit_checkpoint
     where not is_root and created_at < now() - make_interval(days => ?)
       and sequence < (select min(sequence) from audit_link) + ?
     order by sequence desc limit 1`,
    [services.config.auditDays, STRETCH_MAX],
  );
  if (cut === undefined) return 0;
  const { sequence, hash } = cut;
  await tx.execute(`select set_config('roster.retention', 'on', true)`);
  const deleted = await tx.execute<unknown[]>(
    `with cut as (delete from audit_link where sequence <= ? returning event_id)
     delete from audit_event where id in (select event_id from cut) returning id`,
    [sequence],
  );
  await tx.execute('delete from audit_checkpoint where sequence <= ?', [sequence]);
  await insertCheckpoint(tx, services, { sequence: Number(sequence), hash }, true);
  await tx.execute(`select set_config('roster.retention', '', true)`);
  record(tx, 'audit_log.pruned', { number: deleted.length });
  return deleted.length;
}
