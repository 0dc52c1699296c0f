import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';

/** SHA-256 of the bodies of the trigger functions, as the migration creates them. */
const BODIES = {
  audit_append_only: '5035d2aada62f2e756af17ec039777acd2258cb9b2fbb4d4f03ee6775e8dd5c1',
} as const;

/** The triggers that prevent changes of rows. */
const TRIGGERS: Readonly<Record<string, keyof typeof BODIES>> = {
  audit_event_append_only: 'audit_append_only',
  audit_link_append_only: 'audit_append_only',
  audit_checkpoint_append_only: 'audit_append_only',
};

export type GuardFault = {
  readonly kind: 'trigger_missing' | 'trigger_disabled' | 'trigger_changed';
  readonly trigger: string;
};

/** Returns what is wrong with the triggers of the audit log. */
export async function checkGuards(tx: EntityManager): Promise<GuardFault[]> {
  const rows = await tx.execute<{ name: string; enabled: string; body: string; function: string }[]>(
    `select t.tgname as name, t.tgenabled as enabled, p.prosrc as body, p.proname as function
     from pg_trigger t join pg_proc p on p.oid = t.tgfoid
     where t.tgrelid in ('audit_event'::regclass, 'audit_link'::regclass, 'audit_checkpoint'::regclass)
       and not t.tgisinternal`,
  );
  return Object.entries(TRIGGERS).flatMap(([trigger, expected]): GuardFault[] => {
    const row = rows.find(({ name }) => name === trigger);
    if (row === undefined) return [{ kind: 'trigger_missing', trigger }];
    if (row.enabled !== 'O' && row.enabled !== 'A') return [{ kind: 'trigger_disabled', trigger }];
    const isAsCreated = row.function === expected && digest(row.body) === BODIES[expected];
    return isAsCreated ? [] : [{ kind: 'trigger_changed', trigger }];
  });
}

const digest = (body: string) => createHash('sha256').update(body.replace(/\s+/g, ' ').trim()).digest('hex');
