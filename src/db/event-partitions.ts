import { firstIdAt } from '../entities/base.ts';

/** What runs SQL: a connection, or an entity manager by `execute`. */
export type RunSql = <Row extends object>(sql: string) => Promise<readonly Row[]>;

/** A month of audit events, whose ids begin with their time. */
export type Partition = { readonly name: string; readonly from: string; readonly to: string };

/** So many months exist ahead, so that housekeeping can fail for long before events go to `audit_event_other`. */
const MONTHS_AHEAD = 3;

const startOfMonth = (at: Date, months: number) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months));

const firstEventAt = (at: Date) => firstIdAt('evt', at);

function monthOf(at: Date, offset: number): Partition {
  const from = startOfMonth(at, offset);
  const name = `audit_event_${from.toISOString().slice(0, 7).replace('-', '_')}`;
  return { name, from: firstEventAt(from), to: firstEventAt(startOfMonth(at, offset + 1)) };
}

/** Returns the end of the partition that keeps the events from before there were partitions. */
export const endOfFirstPartition = (now: Date): string => firstEventAt(startOfMonth(now, 1));

/** Names the trigger that a partition needs, because those of the parent ignore statements on a partition. */
export const APPEND_ONLY_TRIGGER = 'audit_event_append_only';

/** Creates the trigger that prevents changes of a partition. */
export const createTrigger = (table: string): string =>
  `create trigger "${APPEND_ONLY_TRIGGER}" before update or delete or truncate on "${table}" for each statement execute function "audit_append_only"()`;

const createPartition = ({ name, from, to }: Partition): readonly string[] => [
  // Attached, because creating it as a partition would lock out inserts.
  `create table "${name}" (like "audit_event" including defaults including constraints)`,
  createTrigger(name),
  `alter table "audit_event" attach partition "${name}" for values from ('${from}') to ('${to}')`,
];

const PARTITIONS = `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass('audit_event')
  order by c.relname`;

/** Lists the partitions of whole months. The first one and `audit_event_other` have no such bounds. */
export async function listMonths(run: RunSql): Promise<Partition[]> {
  const rows = await run<{ name: string; bound: string }>(PARTITIONS);
  return rows.flatMap(({ name, bound }) => {
    const [, from, to] = /^FOR VALUES FROM \('(\w+)'\) TO \('(\w+)'\)$/.exec(bound) ?? [];
    return from === undefined || to === undefined ? [] : [{ name, from, to }];
  });
}

/** Returns the statements that create the partitions of this and the next months that are missing. */
export async function createMissingMonths(run: RunSql, now = new Date()): Promise<string[]> {
  const rows = await run<{ name: string; bound: string }>(PARTITIONS);
  if (rows.length === 0) return []; // before the migration
  const [, end = ''] = rows.map(({ bound }) => /FROM \(MINVALUE\) TO \('(\w+)'\)/.exec(bound)).find(Boolean) ?? [];
  const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, i) => monthOf(now, i));
  return months
    .filter(({ name, from }) => from >= end && !rows.some((row) => row.name === name))
    .flatMap(createPartition);
}
