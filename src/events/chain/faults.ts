/** The faults that `audit verify` reports, with their explanations. */
export const FAULTS = {
  event_changed: 'was changed',
  event_missing: 'was deleted',
  event_unchained: 'has no position and never gets one: its link was deleted, or its transaction id was changed',
  event_forged: 'has no valid MAC: this service did not write it, or its key is no longer in SECRET_KEYS',
  link_missing: 'no longer has a link',
  checkpoint_differs: 'differs from the signed or known checkpoint',
  checkpoint_not_signed: 'is the end of the chain or the newest checkpoint, and none of SECRET_KEYS has signed it',
  checkpoint_missing: 'and all others are not covered by any checkpoint',
  root_not_signed: 'is the beginning of the chain, which its end and its newest checkpoint do not both sign',
  root_differs:
    'is the beginning of the chain that its end signs; its newest checkpoint, or the known one, has another',
  end_not_signed: 'comes after the signed end',
  end_missing: 'and all events after it were cut off',
  chain_restarted: 'is where the chain was restarted, after accounts and events that it should cover',
  trigger_missing: 'is missing',
  trigger_disabled: 'is disabled',
  trigger_changed: 'was replaced',
  trigger_bypassed:
    'is passed by connections: reset session_replication_role and roster.retention of database and roles',
  table_changed: 'is not of Roster, and can hide what is written to the audit log or read from it',
  path_shadowed: 'is found before what PostgreSQL or Roster defines, and can hide what is done or read',
} as const;

export type FaultKind = keyof typeof FAULTS;

export type Fault = {
  readonly kind: FaultKind;
  readonly sequence: number | null;
  readonly eventId: string | null;
  /** The name of the faulty trigger, or of what acts on a table of the log. */
  readonly trigger?: string;
};

/** What is wrong in the database itself, with its name. */
export type GuardFault = {
  readonly kind:
    | 'trigger_missing'
    | 'trigger_disabled'
    | 'trigger_changed'
    | 'trigger_bypassed'
    | 'table_changed'
    | 'path_shadowed';
  readonly trigger: string;
};

export const faultAt = (kind: FaultKind, sequence: number | null, eventId: string | null = null): Fault => ({
  kind,
  sequence,
  eventId,
});

/** Describes a fault in one line. */
export function describeFault({ kind, sequence, eventId, trigger }: Fault): string {
  const subject =
    trigger !== undefined
      ? `${kind === 'table_changed' || kind === 'path_shadowed' ? '' : 'trigger '}${trigger}`
      : ['event', sequence, eventId].filter((part) => part !== null).join(' ');
  return `${subject} ${FAULTS[kind]} (${kind})`;
}
