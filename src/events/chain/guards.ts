import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';

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

export type GuardFault = {
  readonly kind: 'trigger_missing' | 'trigger_disabled' | 'trigger_changed';
  readonly trigger: string;
};

type GuardRow = {
  readonly table: string;
  readonly isPartition: boolean;
  readonly name: string;
  readonly enabled: string | null;
  readonly body: string | null;
  readonly function: string | null;
};

/** Returns what is wrong with the triggers of the audit log. */
export async function checkGuards(tx: EntityManager): Promise<GuardFault[]> {
  const rows = await tx.execute<GuardRow[]>(
    `select g.relname as "table", g.oid <> g.parent as "isPartition", p.relname || '_append_only' as name,
       t.tgenabled as enabled, f.prosrc as body, f.proname as function
     from (${GUARDED}) g join pg_class p on p.oid = g.parent
     left join pg_trigger t on t.tgrelid = g.oid and t.tgname = p.relname || '_append_only' and not t.tgisinternal
     left join pg_proc f on f.oid = t.tgfoid
     order by g.relname`,
  );
  return rows.flatMap(({ table, isPartition, name, enabled, body, function: runs }): GuardFault[] => {
    const trigger = isPartition ? `${name} of ${table}` : name;
    if (enabled === null) return [{ kind: 'trigger_missing', trigger }];
    if (enabled !== 'O' && enabled !== 'A') return [{ kind: 'trigger_disabled', trigger }];
    const isAsCreated = runs === APPEND_ONLY && digest(body ?? '') === BODIES[APPEND_ONLY];
    return isAsCreated ? [] : [{ kind: 'trigger_changed', trigger }];
  });
}

const digest = (body: string) => createHash('sha256').update(body.replace(/\s+/g, ' ').trim()).digest('hex');
