import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { APPEND_ONLY_TRIGGER } from '../../db/event-partitions.ts';

/** SHA-256 of the bodies of the trigger functions, as the migration creates them. */
const BODIES = {
  audit_append_only: '5035d2aada62f2e756af17ec039777acd2258cb9b2fbb4d4f03ee6775e8dd5c1',
} as const;

/** The function of all triggers that prevent changes of rows. */
const APPEND_ONLY = 'audit_append_only';

/** The tables with such a trigger: a partition needs its own, because that of its parent ignores statements on it. */
const GUARDED = `select t.oid, coalesce(i.inhparent, t.oid) as parent, t.relname
  from pg_class t left join pg_inherits i on i.inhrelid = t.oid
  where t.oid in ('audit_event'::regclass, 'audit_link'::regclass, 'audit_checkpoint'::regclass)
    or i.inhparent = 'audit_event'::regclass`;

/** `tgtype` of a trigger before update, delete or truncate, for each statement. */
const BEFORE_CHANGES = 2 | 8 | 16 | 32;

/** A condition, columns and arguments limit a trigger; settings of its function can pretend that retention deletes. */
const IS_AS_CREATED = `t.tgtype = ${BEFORE_CHANGES} and t.tgqual is null and t.tgattr::text = '' and t.tgnargs = 0
  and f.proconfig is null`;

/** Settings that let a connection pass the triggers, on this one or as the default of roles that can write. */
const BYPASSES = `select current_setting('session_replication_role') = 'replica'
    or coalesce(current_setting('roster.retention', true), '') = 'on'
    or exists (
      select from pg_db_role_setting s, unnest(s.setconfig) setting
      where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
        and lower(setting) in ('session_replication_role=replica', 'roster.retention=on')
        and (s.setrole = 0 or has_table_privilege(s.setrole, 'audit_event', 'insert'))
    ) as "isBypassed"`;

export type GuardFault = {
  readonly kind: 'trigger_missing' | 'trigger_disabled' | 'trigger_changed' | 'trigger_bypassed';
  readonly trigger: string;
};

type GuardRow = {
  readonly table: string;
  readonly isPartition: boolean;
  readonly name: string;
  readonly enabled: string | null;
  readonly body: string | null;
  readonly function: string | null;
  readonly isAsCreated: boolean | null;
};

/** Returns what is wrong with the triggers of the audit log. */
export async function checkGuards(tx: EntityManager): Promise<GuardFault[]> {
  const rows = await tx.execute<GuardRow[]>(
    `select g.relname as "table", g.oid <> g.parent as "isPartition", p.relname || '_append_only' as name,
       t.tgenabled as enabled, f.prosrc as body, f.proname as function,
       ${IS_AS_CREATED} as "isAsCreated"
     from (${GUARDED}) g join pg_class p on p.oid = g.parent
     left join pg_trigger t on t.tgrelid = g.oid and t.tgname = p.relname || '_append_only' and not t.tgisinternal
     left join pg_proc f on f.oid = t.tgfoid
     order by g.relname`,
  );
  const [settings] = await tx.execute<{ isBypassed: boolean }[]>(BYPASSES);
  const bypassed: GuardFault[] =
    settings?.isBypassed === true ? [{ kind: 'trigger_bypassed', trigger: APPEND_ONLY_TRIGGER }] : [];
  const faults = rows.flatMap((row): GuardFault[] => {
    const { table, isPartition, name, enabled, body, function: runs } = row;
    const trigger = isPartition ? `${name} of ${table}` : name;
    if (enabled === null) return [{ kind: 'trigger_missing', trigger }];
    if (enabled !== 'O' && enabled !== 'A') return [{ kind: 'trigger_disabled', trigger }];
    const isAsCreated = row.isAsCreated === true && runs === APPEND_ONLY && digest(body ?? '') === BODIES[APPEND_ONLY];
    return isAsCreated ? [] : [{ kind: 'trigger_changed', trigger }];
  });
  return [...faults, ...bypassed];
}

const digest = (body: string) => createHash('sha256').update(body.replace(/\s+/g, ' ').trim()).digest('hex');
