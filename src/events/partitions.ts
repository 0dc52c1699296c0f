import type { Database } from '../db/database.ts';
import { createMissingMonths, listMonths, type RunSql } from '../db/event-partitions.ts';
import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';
import { firstIdAt } from '../entities/index.ts';
import { errorSummary, type Log } from '../telemetry/log.ts';
import { allowDeletion } from './chain/allow-deletion.ts';
import { retentionEnd } from './chain/retention.ts';
import { HAS_NO_POSITION, IS_PRUNED } from './chain/candidates.ts';
import { inTransaction, type Sql } from './chain/sql.ts';

type Services = { readonly db: Database; readonly config: { readonly auditDays: number } };

/**
 * Deletes events without a position from the partitions that are never dropped. Retention deletes them with their
 * position, but after a restore they can be what was in a partition of a month before.
 */
const DELETE_PRUNED = (table: string) => `delete from ${table} where id = any(array(
  select id from ${table} e where ${IS_PRUNED} and ${HAS_NO_POSITION} order by id limit ${BATCH_MAX}))`;

const BATCH_MAX = 5000;

/** Waits this long for the lock of the table, while inserts wait behind it. The next run tries again. */
const LOCK_MS = 1000;

// Tables are created in the first schema of the path, which must be that of the log. What is built in is found before it.
const SETTINGS = `select set_config('lock_timeout', ?, true), set_config('search_path', quote_ident(n.nspname), true)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('audit_event')`;

/** Creates the partitions of the next months and drops those that are too old. Failures are logged. */
export async function maintainPartitions({ db, config }: Services, log: Log, now = new Date()): Promise<void> {
  const inPartitions = (work: (sql: Sql) => Promise<void>) =>
    inTransaction(db.pools.writes, async (sql) => {
      await sql.execute(SETTINGS, [String(LOCK_MS)]);
      await sql.execute('select pg_advisory_xact_lock(?)', [ADVISORY_LOCKS.migration]);
      await work(sql);
    }).catch((error: unknown) =>
      log.warn({ reason: errorSummary(error) }, 'audit log partitions not maintained; it will be tried again'),
    );
  await inPartitions(async (sql) => {
    for (const statement of await createMissingMonths(runOn(sql), now)) await sql.execute(statement);
  });
  for (const table of ['audit_event_first', 'audit_event_other'])
    await inPartitions(async (sql) => {
      await allowDeletion(sql);
      await sql.execute(DELETE_PRUNED(table));
    });
  const end = firstIdAt('evt', retentionEnd(config, now));
  const old = (await inTransaction(db.pools.writes, (sql) => listMonths(runOn(sql)))).filter(({ to }) => to <= end);
  for (const { name, from, to } of old) {
    await inPartitions(async (sql) => {
      // What is still in the chain or waits is evidence, also where it could not be verified.
      const [used] = await sql.execute<{ is: boolean }[]>(
        `select exists (select from audit_link where event_id >= ? and event_id < ?)
           or exists (select from audit_pending where event_id >= ? and event_id < ?) as is`,
        [from, to, from, to],
      );
      if (used?.is !== false) return;
      await sql.execute(`drop table "${name}"`);
      log.info({ partition: name }, 'old audit events deleted');
    });
  }
}

const runOn =
  (sql: Sql): RunSql =>
  <Row extends object>(text: string) =>
    sql.execute<Row[]>(text);
