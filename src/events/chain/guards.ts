import { createHash } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import { APPEND_ONLY_TRIGGER } from '../../db/event-partitions.ts';
import type { GuardFault } from './faults.ts';
import { checkDefaultPaths } from './search-path.ts';
import type { Sql } from './sql.ts';

/** SHA-256 of the bodies of the trigger functions, as the migration creates them. */
const BODIES = {
  audit_append_only: '6f942619e4c878525d727eefc197b4fa582b3963cec15439342cdd945df99394',
} as const;

/** The function of all triggers that prevent changes of rows. */
const APPEND_ONLY = 'audit_append_only';

/** The tables with such a trigger: a partition needs its own, because that of its parent ignores statements on it. */
const GUARDED = `with recursive tree as (
    select oid, oid as parent from pg_class
    where oid in ('audit_event'::regclass, 'audit_link'::regclass, 'audit_checkpoint'::regclass)
    union select i.inhrelid, t.parent from pg_inherits i join tree t on t.oid = i.inhparent)
  select t.oid, t.parent, c.relname from tree t join pg_class c on c.oid = t.oid`;

/** `tgtype` of a trigger before update, delete or truncate, for each statement. */
const BEFORE_CHANGES = 2 | 8 | 16 | 32;

/** A condition, columns and arguments limit a trigger; settings of its function can pretend that retention deletes. */
const IS_AS_CREATED = `t.tgtype = ${BEFORE_CHANGES} and t.tgqual is null and t.tgattr::text = '' and t.tgnargs = 0
  and f.proconfig is null`;

/** Settings that let a connection pass the triggers, on this one or as the default of roles that can write. */
const BYPASSES = `select current_setting('session_replication_role') = 'replica'
    or coalesce(current_setting('roster.retention', true), '') <> ''
    or exists (
      select from pg_db_role_setting s, unnest(s.setconfig) setting
      where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
        and (lower(setting) = 'session_replication_role=replica' or lower(setting) like 'roster.retention=_%')
        and (s.setrole = 0 or has_table_privilege(s.setrole, 'audit_event', 'insert'))
    ) as "isBypassed"`;

/** What is written to or read from a table of the audit log runs through these, none of which Roster creates. */
const CHANGES = `with guarded as (${GUARDED}), log as (
    select g.oid, p.relname || '_append_only' as guard from guarded g join pg_class p on p.oid = g.parent
    union all select oid, null from pg_class where oid in ('audit_head'::regclass, 'audit_pending'::regclass))
  select 'trigger ' || t.tgname || ' of ' || t.tgrelid::regclass as name
    from pg_trigger t join log on log.oid = t.tgrelid where t.tgname is distinct from log.guard
  union all select 'rule ' || r.rulename || ' of ' || r.ev_class::regclass
    from pg_rewrite r join log on log.oid = r.ev_class
  union all select 'row-level security of ' || c.oid::regclass
    from pg_class c join log on log.oid = c.oid where c.relrowsecurity or c.relforcerowsecurity
  union all select 'what the rows of ' || c.oid::regclass || ' are kept in'
    from pg_class c join log on log.oid = c.oid where c.relkind not in ('r', 'p')
  order by name`;

/**
 * What runs in the transactions of other tables of the service, none of which Roster creates: it can delete the event
 * of its change in the same transaction. A foreign key brings the triggers and policies of the table that has it.
 */
const COMPANIONS = `with recursive own as (
    select c.oid, c.relnamespace from pg_class c
    where c.relnamespace = to_regnamespace('graphile_worker')
      or c.relnamespace = (select relnamespace from pg_class where oid = 'audit_event'::regclass)
        and c.relname in (select json_array_elements_text(?::json)) and c.relname not like 'audit\\_%'
    union select c.oid, o.relnamespace from pg_inherits i
      join own o on o.oid = i.inhparent join pg_class c on c.oid = i.inhrelid),
  log as (select oid from (${GUARDED}) guarded
    union select oid from pg_class where oid in ('audit_head'::regclass, 'audit_pending'::regclass))
  select 'trigger ' || t.tgname || ' of ' || t.tgrelid::regclass as name
    from pg_trigger t join own on own.oid = t.tgrelid join pg_proc f on f.oid = t.tgfoid
    where not (t.tgisinternal and f.pronamespace = 'pg_catalog'::regnamespace)
  union all select 'rule ' || r.rulename || ' of ' || r.ev_class::regclass
    from pg_rewrite r join own on own.oid = r.ev_class
    where r.ev_type <> '1' or own.relnamespace <> to_regnamespace('graphile_worker')
  union all select pg_describe_object(d.refclassid, d.refobjid, 0) || ' in a constraint, default or index of '
      || coalesce(k.conrelid, a.adrelid, i.indrelid)::regclass
    from pg_depend d
    left join pg_constraint k on d.classid = 'pg_constraint'::regclass and k.oid = d.objid
    left join pg_attrdef a on d.classid = 'pg_attrdef'::regclass and a.oid = d.objid
    left join pg_index i on d.classid = 'pg_class'::regclass and i.indexrelid = d.objid
    where d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass)
      and coalesce(k.conrelid, a.adrelid, i.indrelid) in (select oid from own union all select oid from log)
  union all select 'policy ' || p.polname || ' of ' || p.polrelid::regclass
    from pg_policy p join own on own.oid = p.polrelid
  union all select 'foreign key ' || k.conname || ' of ' || k.conrelid::regclass
    from pg_constraint k join own on own.oid = k.confrelid
    where k.contype = 'f' and k.conrelid not in (select oid from own)
  union all select 'cast from ' || k.castsource::regtype || ' to ' || k.casttarget::regtype
    from pg_cast k join pg_proc f on f.oid = k.castfunc
    join pg_type s on s.oid = k.castsource join pg_type t on t.oid = k.casttarget
    where f.pronamespace <> 'pg_catalog'::regnamespace
      and s.typnamespace = 'pg_catalog'::regnamespace and t.typnamespace = 'pg_catalog'::regnamespace
  union all select 'event trigger ' || evtname from pg_event_trigger where evtevent = 'login'
  order by name`;

type GuardRow = {
  readonly table: string;
  readonly isPartition: boolean;
  readonly name: string;
  readonly enabled: string | null;
  readonly body: string | null;
  readonly function: string | null;
  readonly isAsCreated: boolean | null;
};

/** Returns what is wrong with the triggers of the audit log, and what else acts on the tables of the service. */
export async function checkGuards(tx: Sql, orm: MikroORM): Promise<GuardFault[]> {
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
  const tables = [...orm.getMetadata()].map(({ tableName }) => tableName);
  const changes = [
    ...(await tx.execute<{ name: string }[]>(CHANGES)),
    ...(await tx.execute<{ name: string }[]>(COMPANIONS, [JSON.stringify(tables)])),
  ];
  return [
    ...faults,
    ...bypassed,
    ...(await checkDefaultPaths(tx)),
    ...changes.map(({ name }): GuardFault => ({ kind: 'table_changed', trigger: name })),
  ];
}

const digest = (body: string) => createHash('sha256').update(body.replace(/\s+/g, ' ').trim()).digest('hex');
